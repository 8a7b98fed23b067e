import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import pino from 'pino';
import { nativeSigner } from '../../../node/keys/native-suite.ts';
import { Intake } from '../../../node/intake/intake.ts';
import { PayloadCipher } from '../../../node/records/payload/payload-cipher.ts';
import { Sealer } from '../../../node/intake/sealing/sealer.ts';
import { RecordCounters } from '../../../node/records/record-counters.ts';
import { Store } from '../../../node/store/store.ts';
import { MAX_BATCH_RECORDS } from '../../../protocol/chain/envelope-rules.ts';
import { nodeId } from '../../../protocol/ids.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { decisionDrafts } from '../drafts.ts';
import { SEED_BYTES } from '../../../protocol/suite/suite.ts';
import type { BenchOptions, Part, Result } from '../part.ts';
import { median } from '../statistics.ts';
import { count, milliseconds } from '../table.ts';

/** Records of one group of a busy intake. */
const GROUP = 256;
const FULL_ROUNDS = 7;
const QUICK_ROUNDS = 1;
/** Resolution of the watch on the event loop, in milliseconds: its own share of what it reports. */
const WATCH_MS = 1;
const NANOSECONDS = 1e6;
/** Lets the watch take its last reading. In milliseconds. */
const SETTLE_MS = 20;

interface Round {
  /** From the last record until the batch is on the disk. */
  readonly seal: number;
  readonly sealStall: number;
  /** All recording. */
  readonly append: number;
  readonly appendStall: number;
}

/** Time to seal the largest batch, and how long it holds up everything else. */
export const sealing: Part = {
  name: 'sealing',
  title: `Sealing a batch of ${count(MAX_BATCH_RECORDS)} leaves`,
  async run(options): Promise<Result> {
    await using store = await Store.open(join(options.home, 'store'));
    const sealed = { resolve: () => {} };
    const signer = nativeSigner(new Uint8Array(randomBytes(SEED_BYTES)));
    await using sealer = await Sealer.open({
      node: nodeId('eu'),
      store,
      signer: () => signer,
      now: Date.now,
      intervalMs: 3_600_000,
      chainStart: async () => timestampOf(0),
      decisionOf: async () => undefined,
      publicKeyOf: () => signer.publicKey,
      besides: () => [],
      onSealed: () => sealed.resolve(),
      onRefused: (refusal) => {
        throw refusal;
      },
      log: pino({ level: 'silent' }),
    });
    await using intake = await Intake.open({
      node: nodeId('eu'),
      store,
      signer: () => signer,
      cipher: new PayloadCipher(new Uint8Array(randomBytes(SEED_BYTES))),
      now: Date.now,
      projections: [],
      counters: new RecordCounters(store, []),
      onCommitted: (group) => sealer.add(group),
    });
    intake.start();
    const rounds = await measure(options, intake, sealed);
    const row = (name: string, of: (round: Round) => number) => {
      const values = rounds.map(of);
      return [name, milliseconds(median(values)), milliseconds(Math.max(...values))];
    };
    return {
      table: [
        ['', 'median', 'worst'],
        row('last record → on the disk', (round) => round.seal),
        row('  longest stall', (round) => round.sealStall),
        row('recording all of them', (round) => round.append),
        row('  longest stall', (round) => round.appendStall),
      ],
      notes: [
        `${rounds.length} rounds on a real store, in groups of ${GROUP}. Every record is walked before the batch is signed. A stall is`,
        'the longest time the event loop came late, less the watch’s own millisecond; other processes’ work counts in it.',
      ],
    };
  },
};

async function measure(
  { quick, signal, say }: BenchOptions,
  intake: Intake,
  sealed: { resolve: () => void },
): Promise<Round[]> {
  const rounds: Round[] = [];
  // The first round is a warm-up.
  for (let i = 0; i <= (quick ? QUICK_ROUNDS : FULL_ROUNDS); i++) {
    signal.throwIfAborted();
    const round = await sealOnce(intake, sealed);
    say(`sealed in ${milliseconds(round.seal)}, stall ${milliseconds(round.sealStall)}`);
    if (i > 0) rounds.push(round);
  }
  return rounds;
}

async function sealOnce(intake: Intake, sealed: { resolve: () => void }): Promise<Round> {
  const group = decisionDrafts(GROUP);
  const append = await watched(async () => {
    for (let made = GROUP; made < MAX_BATCH_RECORDS; made += GROUP) await intake.submitAll(group);
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  sealed.resolve = resolve;
  const seal = await watched(async () => {
    await intake.submitAll(group);
    await promise;
  });
  return { seal: seal.took, sealStall: seal.stall, append: append.took, appendStall: append.stall };
}

/** How long it took, and the longest time that the event loop came late meanwhile. In milliseconds. */
async function watched(work: () => Promise<void>): Promise<{ readonly took: number; readonly stall: number }> {
  const watch = monitorEventLoopDelay({ resolution: WATCH_MS });
  watch.enable();
  await sleep(SETTLE_MS);
  watch.reset();
  const started = performance.now();
  await work();
  const took = performance.now() - started;
  await sleep(SETTLE_MS);
  watch.disable();
  return { took, stall: Math.max(0, watch.max / NANOSECONDS - WATCH_MS) };
}

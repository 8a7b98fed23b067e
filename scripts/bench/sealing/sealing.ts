import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import pino from 'pino';
import { nativeSigner } from '../../../node/keys/native-suite.ts';
import { MAX_BATCH_RECORDS, Sealer } from '../../../node/sealing/sealer.ts';
import { Store } from '../../../node/store/store.ts';
import { nodeId } from '../../../protocol/ids.ts';
import { SEED_BYTES } from '../../../protocol/suite/suite.ts';
import type { BenchOptions, Part, Result } from '../part.ts';
import { median } from '../statistics.ts';
import { count, milliseconds } from '../table.ts';

/** Leaves of one group as a busy intake hands them over. */
const GROUP = 256;
const FULL_ROUNDS = 7;
const QUICK_ROUNDS = 1;
/** Resolution of the watch on the event loop, in milliseconds: its own share of what it reports. */
const WATCH_MS = 1;
const NANOSECONDS = 1e6;
/** Lets the watch take its last reading. In milliseconds. */
const SETTLE_MS = 20;

interface Round {
  /** From the last leaf until the batch is on the disk. */
  readonly seal: number;
  readonly sealStall: number;
  /** All appending, a group a turn of the event loop. */
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
      rosterVersion: () => 1,
      besides: () => [],
      onSealed: () => sealed.resolve(),
      log: pino({ level: 'silent' }),
    });
    const rounds = await measure(options, sealer, sealed);
    const row = (name: string, of: (round: Round) => number) => {
      const values = rounds.map(of);
      return [name, milliseconds(median(values)), milliseconds(Math.max(...values))];
    };
    return {
      table: [
        ['', 'median', 'worst'],
        row('last leaf → on the disk', (round) => round.seal),
        row('  longest stall', (round) => round.sealStall),
        row('appending all leaves', (round) => round.append),
        row('  longest stall', (round) => round.appendStall),
      ],
      notes: [
        `${rounds.length} rounds on a real store. Appending is spread over a batch’s life, ${GROUP} leaves a turn. A stall is`,
        'the longest time the event loop came late, less the watch’s own millisecond; other processes’ work counts in it.',
      ],
    };
  },
};

async function measure(
  { quick, signal, say }: BenchOptions,
  sealer: Sealer,
  sealed: { resolve: () => void },
): Promise<Round[]> {
  const rounds: Round[] = [];
  const groups = Array.from({ length: MAX_BATCH_RECORDS / GROUP }, () =>
    Array.from({ length: GROUP }, () => new Uint8Array(randomBytes(32))),
  );
  // The first round is a warm-up.
  for (let i = 0; i <= (quick ? QUICK_ROUNDS : FULL_ROUNDS); i++) {
    signal.throwIfAborted();
    const round = await sealOnce(sealer, groups, sealed);
    say(`sealed in ${milliseconds(round.seal)}, stall ${milliseconds(round.sealStall)}`);
    if (i > 0) rounds.push(round);
  }
  return rounds;
}

async function sealOnce(
  sealer: Sealer,
  groups: readonly (readonly Uint8Array[])[],
  sealed: { resolve: () => void },
): Promise<Round> {
  const [last] = groups.slice(-1);
  if (last === undefined) throw new RangeError('no leaves');
  const append = await watched(async () => {
    for (const group of groups.slice(0, -1)) {
      sealer.add(group);
      await nextTurn();
    }
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  sealed.resolve = resolve;
  const seal = await watched(async () => {
    sealer.add(last);
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

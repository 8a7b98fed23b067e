import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { Intake } from '../../../node/intake/intake.ts';
import { nativeSigner } from '../../../node/keys/native-suite.ts';
import { PayloadCipher } from '../../../node/records/payload/payload-cipher.ts';
import { RecordCounters } from '../../../node/records/record-counters.ts';
import { Store } from '../../../node/store/store.ts';
import { nodeId } from '../../../protocol/ids.ts';
import { nobleSigner } from '../../../protocol/suite/noble.ts';
import { SEED_BYTES, type Signer } from '../../../protocol/suite/suite.ts';
import { decisionDrafts, roundRobin } from '../drafts.ts';
import type { BenchOptions, Part, Result } from '../part.ts';
import { median } from '../statistics.ts';
import { measurePreparing } from './preparing.ts';
import { count, ratio } from '../table.ts';

/** Callers that each wait for their answer before they submit the next record. */
const CALLERS = 400;
/** Signatures under way at a time where nothing but signing is measured: the thread pool's size. */
const SIGNING_SIDE_BY_SIDE = 4;
const RECORD_BYTES = 820;
const DRAFTS = 200;
/** Alternating rounds, and the length of one way's turn in milliseconds. */
const FULL = { rounds: 5, runMs: 2_000 };
const QUICK = { rounds: 1, runMs: 300 };

interface Way {
  readonly name: string;
  /** Makes records until the time is up; resolves to their number. */
  readonly run: (milliseconds: number) => Promise<number>;
}

/** Records a second through intake alone: in groups, and with a signature and a synced write for each. */
export const intake: Part = {
  name: 'intake',
  title: 'Intake in this process: groups beside one signature a record',
  async run(options): Promise<Result> {
    await using stores = new AsyncDisposableStack();
    const seed = new Uint8Array(randomBytes(SEED_BYTES));
    const native = nativeSigner(seed);
    const open = async (name: string, signer: Signer) => openIntake(join(options.home, name), signer, stores);
    const ways: readonly Way[] = [
      { name: `groups, native, ${CALLERS} callers`, run: await submitting('grouped', native, CALLERS, open) },
      { name: 'one a record, noble', run: await submitting('noble', nobleSigner(seed), 1, open) },
      { name: 'one a record, native', run: await submitting('native', native, 1, open) },
      { name: 'native signatures alone, all threads', run: (milliseconds) => signing(native, milliseconds) },
    ];
    const rates = await measure(ways, options);
    const preparing = await measurePreparing(options);
    return {
      table: [['way', 'records/s', 'groups against it'], ...ways.map((way) => rowOf(way, ways, rates))],
      notes: [
        'The first three are the same intake: canonical record, commitments, encrypted payload, one signature and one',
        'synced write a group. With one caller every record is a group of its own. The last signs texts of a record’s size',
        `${SIGNING_SIDE_BY_SIDE} at a time and stores nothing: no design with a signature a record can be faster here.`,
        '',
        ...preparing,
      ],
    };
  },
};

async function measure(ways: readonly Way[], { quick, say, signal }: BenchOptions): Promise<Map<Way, number[]>> {
  const { rounds, runMs } = quick ? QUICK : FULL;
  const rates = new Map<Way, number[]>(ways.map((way) => [way, []]));
  for (const way of ways) await way.run(runMs / 2);
  for (let round = 0; round < rounds; round++) {
    for (const way of ways) {
      signal.throwIfAborted();
      const started = performance.now();
      const records = await way.run(runMs);
      const rate = (records * 1000) / (performance.now() - started);
      rates.get(way)?.push(rate);
      say(`${way.name}: ${count(rate)}/s`);
    }
  }
  return rates;
}

function rowOf(way: Way, [grouped]: readonly Way[], rates: ReadonlyMap<Way, readonly number[]>): string[] {
  const own = rates.get(way) ?? [];
  const best = grouped === undefined ? [] : (rates.get(grouped) ?? []);
  const paired = median(own.map((rate, round) => (best[round] ?? Number.NaN) / rate));
  return [way.name, count(median(own)), ratio(paired)];
}

async function openIntake(directory: string, signer: Signer, stores: AsyncDisposableStack): Promise<Intake> {
  const store = stores.use(await Store.open(directory));
  const cipher = new PayloadCipher(new Uint8Array(randomBytes(32)));
  const opened = await Intake.open({
    node: nodeId('eu'),
    store,
    signer: () => signer,
    cipher,
    now: Date.now,
    projections: [],
    counters: new RecordCounters(store, []),
    onCommitted: () => {},
  });
  opened.start();
  return stores.use(opened);
}

async function submitting(
  name: string,
  signer: Signer,
  callers: number,
  open: (name: string, signer: Signer) => Promise<Intake>,
): Promise<Way['run']> {
  const opened = await open(name, signer);
  const nextDraft = roundRobin(decisionDrafts(DRAFTS));
  return async (milliseconds) => {
    const end = performance.now() + milliseconds;
    let records = 0;
    const caller = async (): Promise<void> => {
      while (performance.now() < end) {
        await opened.submit(nextDraft());
        records++;
      }
    };
    await Promise.all(Array.from({ length: callers }, caller));
    return records;
  };
}

async function signing(signer: Signer, milliseconds: number): Promise<number> {
  const end = performance.now() + milliseconds;
  const text = new Uint8Array(RECORD_BYTES);
  let signatures = 0;
  const worker = async (): Promise<void> => {
    while (performance.now() < end) {
      await signer.sign(text, 'meridian/group/1');
      signatures++;
    }
  };
  await Promise.all(Array.from({ length: SIGNING_SIDE_BY_SIDE }, worker));
  return signatures;
}

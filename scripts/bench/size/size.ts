import { statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { ClusterClient, member } from '../federation/cluster-client.ts';
import { usedBytes } from '../federation/storage.ts';
import { residentBytes } from '../attacks/resident-memory.ts';
import { pidOf } from '../http/round.ts';
import type { BenchOptions, Part, Result } from '../part.ts';
import { processorTime } from '../processor-time.ts';
import { count } from '../table.ts';
import { until } from '../until.ts';
import type { Sample } from './fill-forms.ts';
import { FoundedNode } from './founded-node.ts';
import { QUESTIONS, timesOf, VERIFY } from './questions.ts';
import { Samples } from './samples.ts';
import { type NamedTimes, type SizeFigures, sizeTable } from './size-table.ts';
import { checkStore } from './store-check.ts';

const FULL_SIZES = [10_000, 1_000_000, 3_000_000];
const LARGE_SIZE = 10_000_000;
const QUICK_SIZES = [1_000, 3_000];
/** Requests of each kind at each size, after others of the kind that are not counted. */
const FULL_ASKED = { warmUp: 200, times: 1_000 };
const QUICK_ASKED = { warmUp: 5, times: 30 };
/**
 * Records from all over the store whose verdict was asked for once, and how often it is asked for again: first some that
 * are not counted, for V8 compiles over thousands of answers what makes them.
 */
const FULL_AGAIN = { records: 1_000, warmUp: 10_000, times: 10_000 };
const QUICK_AGAIN = { records: 20, warmUp: 20, times: 60 };
const AGAIN_CONNECTIONS = [1, 10, 50];
/** Records that are known by their ids at each size. */
const SAMPLES = 2_000;
/** Records between two lines of progress. */
const SLICE_RECORDS = 50_000;
/** Disk that a record takes at most, compaction of the store included. In bytes. */
const DISK_BYTES_A_RECORD = 4_000;
const GIGABYTE = 1_000_000_000;
const PATIENCE_MS = 300_000;
/** Compaction after a fill is over once the node takes less of the processor than this share of a core. */
const IDLE_SHARE = 0.1;
const IDLE_LOOK_MS = 1_000;

/** What a node costs as its store grows: the same questions at each size, of one store that is filled on. */
export const size: Part = {
  name: 'size',
  title: 'At size: one node whose store is filled on, asked the same at each size',
  isApart: true,
  async run(options): Promise<Result> {
    await using founded = await FoundedNode.found(options.home);
    const found: SizeFigures[] = [];
    const cutShort = await measureAll(founded, sizesOf(options), found, options);
    return {
      table: sizeTable(found),
      notes: [
        'Records of one account and 20 sources, in groups of 1,000, given to intake in the node’s process: prepared, signed,',
        'synced, counted, sealed and decided by the local ledger as over HTTP. Each size is measured after the node was stopped and',
        'started again and its store had no more to compact: one request at a time over one connection, about records from all over',
        'the store. Start: until records are accepted. Mapped files are pages of the store that the system takes back when it is short.',
        'Usage costs the same at any size: what it changes by is what else the machine did meanwhile. Again: of a thousand such',
        'records, after ten thousand other such requests, over so many connections with a request under way on each.',
        'Disk: blocks of the store’s files. fsck ran on the stopped node and found it whole; memory: the most that it held of its own.',
        'Aim: p50 at the largest at most 1.2 times that at the smallest; nothing grows but the disk.',
        ...(cutShort === null ? [] : [cutShort]),
      ],
    };
  },
};

/**
 * Adds what was found at each size to `found`. Null, or why the larger ones are missing. Throws where all of them are.
 */
async function measureAll(
  founded: FoundedNode,
  sizes: readonly number[],
  found: SizeFigures[],
  options: BenchOptions,
): Promise<string | null> {
  const { home, say, signal } = options;
  const samples = new Samples();
  for (const records of sizes) {
    const lack = await diskLacking(home, records - (found.at(-1)?.records ?? 0));
    if (lack !== null) {
      const skipped = `SKIPPED: ${count(records)} records: ${lack}.`;
      say(skipped);
      return skipped;
    }
    try {
      const figures = await measure(founded, records, samples, options);
      found.push(figures);
      say(lineOf(figures));
    } catch (error) {
      if (!signal.aborted || found.length === 0) throw error;
      return `INTERRUPTED: ${count(records)} records.`;
    }
  }
  return null;
}

function sizesOf({ quick, large }: BenchOptions): readonly number[] {
  if (quick) return QUICK_SIZES;
  return large ? [...FULL_SIZES, LARGE_SIZE] : FULL_SIZES;
}

/** What the disk is short of for so many more records; null where they fit. */
async function diskLacking(home: string, records: number): Promise<string | null> {
  const { bavail, bsize } = await statfs(home);
  const [needed, free] = [records * DISK_BYTES_A_RECORD, bavail * bsize];
  return free >= needed ? null : `they may take ${gigabytes(needed)} of the disk, of which ${gigabytes(free)} are free`;
}

/** Fills the store up to a size, then starts the node and asks it, then stops it and checks the store. */
async function measure(
  founded: FoundedNode,
  records: number,
  samples: Samples,
  options: BenchOptions,
): Promise<SizeFigures> {
  const filled = await fill(founded, records, samples, options);
  const asked = await ask(founded, samples, options);
  options.say(`${count(records)} records: checking the store`);
  const store = await usedBytes(join(founded.home, 'store'));
  const check = await checkStore(founded.home, options.signal);
  return { records, ...filled, ...asked, bytesARecord: store / check.records, check };
}

/** Resolves once the last record is confirmed and the node has stopped. */
async function fill(
  founded: FoundedNode,
  records: number,
  samples: Samples,
  { say, signal }: BenchOptions,
): Promise<Pick<SizeFigures, 'filledPerSecond' | 'filledAll'>> {
  await using filling = await founded.startFilling();
  using client = new ClusterClient(founded.apiKey);
  const pid = pidOf(filling);
  const before = await processorTime(pid);
  const started = performance.now();
  let { recorded } = await filling.ask({ ask: 'fill', records: 0, samples: 0 });
  const first = recorded;
  while (recorded < records) {
    signal.throwIfAborted();
    const slice = Math.min(SLICE_RECORDS, records - recorded);
    const wanted = Math.max(1, Math.round((SAMPLES * slice) / (records - first)));
    const made = await filling.ask({ ask: 'fill', records: slice, samples: wanted });
    recorded = made.recorded;
    samples.add(recorded, made.samples);
    const perSecond = ((recorded - first) * 1000) / (performance.now() - started);
    say(`${count(recorded)} of ${count(records)} records, ${count(perSecond)}/s`);
  }
  const seconds = (performance.now() - started) / 1000;
  const last = samples.last?.id ?? '';
  await until('the last record is confirmed', PATIENCE_MS, signal, async () => {
    return member(await client.get(`${founded.baseUrl}/v1/status/${last}`), 'status') === 'confirmed';
  });
  const after = await processorTime(pid);
  const made = recorded - first;
  return { filledPerSecond: made / seconds, filledAll: (after.all - before.all) / made };
}

async function ask(
  founded: FoundedNode,
  samples: Samples,
  options: BenchOptions,
): Promise<Pick<SizeFigures, 'startMs' | 'idle' | 'times' | 'busy' | 'again'>> {
  const { quick, say, signal } = options;
  const began = performance.now();
  await using node = await founded.start();
  const startMs = performance.now() - began;
  const pid = pidOf(node);
  await untilIdle(pid, signal);
  const idle = await residentBytes(pid);
  using client = new ClusterClient(founded.apiKey);
  const times: NamedTimes[] = [];
  for (const { name, ask: askOne } of QUESTIONS) {
    say(`asking: ${name}`);
    const about = (sample: Sample) => askOne(client, founded.baseUrl, sample);
    times.push({
      name,
      ...(await timesOf(pid, about, () => samples.pick(), quick ? QUICK_ASKED : FULL_ASKED, signal)),
    });
  }
  const busy = await residentBytes(pid);
  return { startMs, idle, times, busy, again: await verifyAgain(pid, client, founded.baseUrl, samples, options) };
}

/** Verdicts of records that were verified before, with the caches that this left, over so many connections. */
async function verifyAgain(
  pid: number,
  client: ClusterClient,
  baseUrl: string,
  samples: Samples,
  { quick, say, signal }: BenchOptions,
): Promise<readonly NamedTimes[]> {
  const { records, warmUp, times } = quick ? QUICK_AGAIN : FULL_AGAIN;
  const known = Array.from({ length: records }, () => samples.pick());
  const pick = () => known[Math.floor(Math.random() * records)] ?? samples.pick();
  const about = (sample: Sample) => VERIFY.ask(client, baseUrl, sample);
  say(`asking again: ${VERIFY.name}`);
  for (const sample of known) await about(sample);
  for (let i = 0; i < warmUp; i++) await about(pick());
  const found: NamedTimes[] = [];
  for (const connections of AGAIN_CONNECTIONS) {
    const name = `${VERIFY.name} again, ${connections} at a time`;
    found.push({ name, ...(await timesOf(pid, about, pick, { warmUp: 0, times, connections }, signal)) });
  }
  return found;
}

async function untilIdle(pid: number, signal: AbortSignal): Promise<void> {
  let since = performance.now();
  let taken = (await processorTime(pid)).all;
  await until('the node has nothing more to do', PATIENCE_MS, signal, async () => {
    const now = performance.now();
    if (now - since < IDLE_LOOK_MS) return false;
    const { all } = await processorTime(pid);
    const share = (all - taken) / ((now - since) * 1000);
    [since, taken] = [now, all];
    return share < IDLE_SHARE;
  });
}

function lineOf({ records, filledPerSecond, times, again, bytesARecord, check }: SizeFigures): string {
  const p50s = [...times, ...again].map(({ name, p50 }) => `${name} ${p50.toFixed(2)} ms`).join(', ');
  return (
    `${count(records)} records: filled at ${count(filledPerSecond)}/s; p50: ${p50s}; ${count(bytesARecord)} bytes a record; ` +
    `fsck ${check.seconds.toFixed(1)} s`
  );
}

function gigabytes(bytes: number): string {
  return `${(bytes / GIGABYTE).toFixed(1)} GB`;
}

import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Edition } from '../../../node/screening/lists/contract.ts';
import { readEditionEntries } from '../../../node/screening/lists/edition-files.ts';
import { editionDirectory, type IncomingFile, stageEdition } from '../../../node/screening/lists/edition-staging.ts';
import { EditionSearch } from '../../../node/screening/edition-search.ts';
import { packEdition } from '../../../node/screening/pack-edition.ts';
import { packInThread } from '../../../node/screening/packing-thread.ts';
import { nameKey } from '../../../protocol/screening/name-key.ts';
import { recordId } from '../../../protocol/ids.ts';
import { timestampOf } from '../../../protocol/time.ts';
import type { BenchOptions, Part, Result } from '../part.ts';
import { percentile } from '../statistics.ts';
import { count, milliseconds, ratio } from '../table.ts';
import { ENTRIES, madeUpList } from './made-up-list.ts';

const LIST = 'us-ofac-sdn';
const FULL_QUERIES = 20_000;
const QUICK_QUERIES = 2_000;
const FULL_SCANS = 300;
const QUICK_SCANS = 20;
const QUICK_SHARE = 0.1;
const MEBIBYTE = 1 << 20;
const MICROSECONDS = 1_000;
const NANOSECONDS = 1e6;
/** Resolution of the watch on the event loop, in milliseconds: its own share of what it reports. */
const WATCH_MS = 1;
/** Queries between two turns of the event loop, while an edition is being made ready. */
const QUERIES_PER_PAUSE = 20;

interface Took {
  readonly p50: number;
  readonly p99: number;
}

/** Time to hold a name against a list as large as all six, at rest and while the next edition is made ready. */
export const screening: Part = {
  name: 'screening',
  title: `Holding a name against a list of ${count(ENTRIES)} entries`,
  async run(options): Promise<Result> {
    const { quick, signal, say } = options;
    const list = madeUpList(quick ? QUICK_SHARE : 1);
    const edition = await keep(options, list);
    const directoryOf = (): string => editionDirectory(options.home, LIST, edition.fileHash);
    say('the list is on the disk');
    let began = performance.now();
    const packed = await packEdition(readEditionEntries(directoryOf()));
    const alone = performance.now() - began;
    const search = new EditionSearch(edition, packed);
    const queries = queriesOf(list.names, quick ? QUICK_QUERIES : FULL_QUERIES);
    const atRest = timed(queries, (name) => search.byName(nameKey(name)));
    const keys = list.names.map((name) => ` ${nameKey(name)} `);
    const scanned = timed(queries.slice(0, quick ? QUICK_SCANS : FULL_SCANS), (name) => {
      const key = ` ${nameKey(name)} `;
      return keys.filter((candidate) => candidate.includes(key));
    });
    say('now while the next edition is made ready');
    began = performance.now();
    const packing = packInThread({ directoryOf })(edition, signal);
    const busy = await whileRunning(packing, queries, (name) => search.byName(nameKey(name)));
    const inThread = performance.now() - began;
    const row = (name: string, { p50, p99 }: Took) => [name, micros(p50), micros(p99), ratio(scanned.p50 / p50)];
    return {
      table: [
        ['', 'p50', 'p99', 'against a scan'],
        row('a name, at rest', atRest),
        row('a name, while the next edition is made ready', busy),
        row('a plain scan of all keys', scanned),
      ],
      notes: [
        `${count(edition.entryCount)} entries, ${count(list.names.length)} names. Half of the names asked for are listed, a quarter are parts of`,
        'listed ones, a quarter are on no list; each is normalised, searched and given with its matches.',
        `Made ready from its files in ${milliseconds(alone)} on this thread, ${milliseconds(inThread)} in a thread of its own beside the queries; it takes`,
        `${(search.bytes / MEBIBYTE).toFixed(1)} MiB. Meanwhile the event loop came late by ${milliseconds(busy.stall)} at worst, ${count(QUERIES_PER_PAUSE)} queries a turn.`,
      ],
    };
  },
};

async function keep({ home }: BenchOptions, list: { entries: string; aliases: string }): Promise<Edition> {
  const file = (name: string, text: string): IncomingFile => ({
    name,
    async *bytes() {
      yield Buffer.from(text);
    },
  });
  const comments = [file('add.csv', ''), file('sdn_comments.csv', '')];
  const files = [file('sdn.csv', list.entries), file('alt.csv', list.aliases), ...comments];
  const { fileHash, entryCount, nameCount, unmatchedRows, files: kept } = await stageEdition(home, LIST, files);
  return {
    listId: LIST,
    authority: 'This bench',
    title: 'A made-up list',
    fileHash,
    fileDate: null,
    retrievedAt: timestampOf(Date.now()),
    entryCount,
    nameCount,
    unmatchedRows,
    sample: true,
    files: kept,
    attestationId: recordId('att_eu_01KAJ5M0E8Q2V7XN4T9RCB6WDZ'),
  };
}

/** Names as callers ask for them: listed ones, parts of listed ones, and strangers. */
function queriesOf(names: readonly string[], queries: number): readonly string[] {
  const step = Math.max(1, Math.floor(names.length / queries));
  return Array.from({ length: queries }, (_, i) => {
    const name = names[(i * step) % names.length] ?? '';
    const words = name.split(' ');
    if (i % 4 === 2) return words.slice(0, 2).join(' ');
    return i % 4 === 3 ? `${words[0]}X ${words[1]}` : name;
  });
}

function timed(queries: readonly string[], ask: (name: string) => unknown): Took {
  // The first round is a warm-up.
  for (const name of queries.slice(0, queries.length / 10)) ask(name);
  return summed(queries.map((name) => timeOf(() => ask(name))));
}

async function whileRunning(
  work: Promise<unknown>,
  queries: readonly string[],
  ask: (name: string) => unknown,
): Promise<Took & { readonly stall: number }> {
  const watch = monitorEventLoopDelay({ resolution: WATCH_MS });
  watch.enable();
  const state = { isRunning: true };
  const over = work.finally(() => (state.isRunning = false));
  const times: number[] = [];
  for (let i = 0; state.isRunning; i++) {
    times.push(timeOf(() => ask(queries[i % queries.length] ?? '')));
    if (i % QUERIES_PER_PAUSE === 0) await sleep(1);
  }
  await over;
  watch.disable();
  return { ...summed(times), stall: Math.max(0, watch.max / NANOSECONDS - WATCH_MS) };
}

function timeOf(work: () => unknown): number {
  const began = performance.now();
  work();
  return performance.now() - began;
}

function summed(times: readonly number[]): Took {
  return { p50: percentile(times, 0.5), p99: percentile(times, 0.99) };
}

function micros(value: number): string {
  return `${(value * MICROSECONDS).toFixed(1)} µs`;
}

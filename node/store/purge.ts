import { readdir } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Operation } from './operation.ts';

/** Reads that began between two calls of `drained`. */
interface Epoch {
  open: number;
  readonly over: PromiseWithResolvers<void>;
}

/**
 * Knows when the reads that are under way now have all ended. A read pins what the database looked like at its start.
 */
export class ReadEpochs {
  #current = newEpoch();
  readonly #draining = new Set<Epoch>();

  /** At the start of a read; what it returns is given back at its end. */
  enter(): Epoch {
    this.#current.open++;
    return this.#current;
  }

  leave(epoch: Epoch): void {
    epoch.open--;
    if (epoch.open > 0 || epoch === this.#current) return;
    this.#draining.delete(epoch);
    epoch.over.resolve();
  }

  /** Resolves once every read that has begun by now is over. */
  async drained(): Promise<void> {
    if (this.#current.open > 0) {
      this.#draining.add(this.#current);
      this.#current = newEpoch();
    }
    await Promise.all([...this.#draining].map(({ over }) => over.promise));
  }
}

function newEpoch(): Epoch {
  return { open: 0, over: Promise.withResolvers<void>() };
}

/** How long a purge waits for reads that began before it. In milliseconds. */
const READS_MS = 30_000;
/** What one compaction may rewrite, so that keys far apart do not drag all that lies between them along. In bytes. */
const RANGE_BYTES = 32 << 20;
/** Looks for files that a read still held when they were replaced. */
const MAX_LOOKS = 3;

const METHODS = ['approximateSize', 'compactRange', 'getProperty'] as const;
const TABLE_FILE = /^(\d+)\.(?:ldb|sst)$/;
/** One line a table: ` number:size['first' .. 'last']`. */
const LIVE_TABLE = /^ (\d+):/gm;

export interface PurgeTools {
  readonly directory: string;
  readonly level: object;
  readonly reads: ReadEpochs;
  readonly write: (operations: readonly Operation[]) => Promise<void>;
}

interface Compactable {
  approximateSize(first: string, last: string): Promise<number>;
  compactRange(first: string, last: string): Promise<void>;
  getProperty(name: string): string;
}

/** A purge could not be completed now. What it is about is deleted all the same, and another one may succeed. */
export class PurgeError extends Error {
  override readonly name = 'PurgeError';
}

/**
 * Makes sure that no file of the database holds a value that these keys once had and have no more: each was deleted or
 * written again.
 *
 * LevelDB drops an overwritten value only when a compaction meets it together with what overwrote it, and no reader's
 * snapshot lies between the two. So: wait for the readers from before the change; flush what is in memory, which ends
 * the log that has the value; write each row once more as it is, so that its key has an entry above every file it is
 * in; and compact that entry down through all levels. Files that a reader kept open are looked for in the end. An error
 * in LevelDB's background thread passes here in silence: it fails the next write, by which the caller notes that the
 * purge is done.
 */
export async function purge(
  { directory, level, reads, write }: PurgeTools,
  keys: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const [first] = keys;
  if (first === undefined) return;
  const database = requireCompactable(level);
  const again = keys.map((key) => ({ type: 'rewrite', key, rewrite: asItIs }) as const);
  await write(again);
  await drained(reads, signal);
  await database.compactRange(first, first);
  await write(again);
  await compactKeys(database, keys.toSorted(), signal);
  let replaced = await replacedTables(directory, database);
  for (let look = 0; replaced.size > 0 && look < MAX_LOOKS; look++) {
    await drained(reads, signal);
    // Every flush, of nothing too, removes the files that nobody reads any more.
    await database.compactRange(first, first);
    // Tables that were written meanwhile may not be part of the database yet: only those seen at first count.
    replaced = replaced.intersection(await replacedTables(directory, database));
  }
  if (replaced.size > 0) throw new PurgeError('a replaced file is still being read');
}

function asItIs(value: Uint8Array): Uint8Array {
  return value;
}

/** Compacts what lies around these sorted keys: all between neighbours, or each half apart where that is much. */
async function compactKeys(database: Compactable, keys: readonly string[], signal: AbortSignal): Promise<void> {
  const [first, last] = [keys[0], keys.at(-1)];
  if (first === undefined || last === undefined) return;
  if (signal.aborted) throw new PurgeError('the purge was given up');
  if (keys.length === 1 || (await database.approximateSize(first, last)) <= RANGE_BYTES) {
    return database.compactRange(first, last);
  }
  const half = keys.length >> 1;
  await compactKeys(database, keys.slice(0, half), signal);
  await compactKeys(database, keys.slice(half), signal);
}

async function drained(reads: ReadEpochs, signal: AbortSignal): Promise<void> {
  const over = new AbortController();
  const giveUp = AbortSignal.any([signal, over.signal]);
  const late = sleep(READS_MS, 'late' as const, { signal: giveUp, ref: false }).catch(() => 'late' as const);
  const outcome = await Promise.race([reads.drained(), late]);
  over.abort();
  if (outcome === 'late') throw new PurgeError('reads from before are not over');
}

/** Tables in the directory that are no part of the database any more, or not yet. */
async function replacedTables(directory: string, database: Compactable): Promise<Set<number>> {
  const names = await readdir(directory);
  const live = new Set([...database.getProperty('leveldb.sstables').matchAll(LIVE_TABLE)].map(([, at]) => Number(at)));
  const tables = names.map((name) => TABLE_FILE.exec(name)?.[1]).filter((number) => number !== undefined);
  return new Set(tables.map(Number)).difference(live);
}

/** On Node the database is LevelDB itself, which has more to it than the interface that browsers share. */
function requireCompactable(level: object): Compactable {
  if (isCompactable(level)) return level;
  throw new PurgeError('the database cannot be compacted');
}

function isCompactable(level: object): level is Compactable {
  return METHODS.every((name) => typeof Reflect.get(level, name) === 'function');
}

import { mkdir, readdir, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { Level } from 'level';
import { TimeSlices } from '../concurrency/time-slices.ts';
import { changesOf, type CommitGate, openGate, type Operation, type RowChange } from './operation.ts';
import { purge, ReadEpochs } from './purge.ts';

interface Waiting {
  readonly operations: readonly Operation[];
  resolve(): void;
  reject(error: unknown): void;
}

/**
 * One write at a time: what arrives while one is being synced becomes the next one together, under one sync. So when a
 * write fails, no later one can have been acknowledged on top of it.
 */
class WriteQueue {
  readonly #apply: (operations: readonly Operation[]) => Promise<void>;
  #waiting: Waiting[] = [];
  #running: Promise<void> | undefined;

  /** `apply` writes atomically. */
  constructor(apply: (operations: readonly Operation[]) => Promise<void>) {
    this.#apply = apply;
  }

  write(operations: readonly Operation[]): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#waiting.push({ operations, resolve, reject });
    this.#running ??= this.#run();
    return promise;
  }

  /** Resolves when nothing is under way. */
  async idle(): Promise<void> {
    await this.#running;
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      const together = this.#waiting;
      this.#waiting = [];
      try {
        await this.#apply(together.flatMap(({ operations }) => operations));
        for (const { resolve } of together) resolve();
      } catch (error) {
        for (const { reject } of together) reject(error);
      }
    }
    this.#running = undefined;
  }
}

/** Folders of the stores that this process has open, and the files that lock them, by device and number. */
const open = new Set<string>();

/** Gives the place back when the store is closed. */
interface Hold {
  /** Once the database is open, and its lock file there. */
  lock(): Promise<void>;
  release(): void;
}

/**
 * Claims a folder for one store of this process; undefined where one has it, under whatever name. LevelDB must not be
 * asked: it opens the lock file before it refuses and closes it again, and with that, by the rules of POSIX locks, the
 * lock that this process holds on the file is gone, so that another process could come in.
 */
export async function holdHere(directory: string): Promise<Hold | undefined> {
  const file = join(directory, 'LOCK');
  const [folder, lock] = [await identityOf(directory), await identityOf(file)];
  if ([folder, lock].some((identity) => identity !== undefined && open.has(identity))) return undefined;
  const held = new Set<string>();
  const take = (identity: string | undefined) => {
    if (identity === undefined) return;
    held.add(identity);
    open.add(identity);
  };
  take(folder);
  take(lock);
  return {
    lock: async () => take(await identityOf(file)),
    release() {
      for (const identity of held) open.delete(identity);
    },
  };
}

async function identityOf(path: string): Promise<string | undefined> {
  try {
    const { dev, ino } = await stat(path, { bigint: true });
    return `${dev}:${ino}`;
  } catch {
    return undefined;
  }
}

export type StoreErrorCode = 'locked' | 'unreadable' | 'write-failed' | 'closed' | 'format';

export class StoreError extends Error {
  override readonly name = 'StoreError';
  readonly code: StoreErrorCode;

  constructor(code: StoreErrorCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }
}

export interface RangeOptions {
  readonly gte?: string;
  readonly gt?: string;
  readonly lte?: string;
  readonly lt?: string;
  readonly reverse?: boolean;
  readonly limit?: number;
}

export interface StoreOptions {
  readonly createIfMissing?: boolean;
  /** What every write passes. Default: nothing is in its way. */
  readonly gate?: CommitGate | undefined;
  /** For each of LevelDB's two: rows that it keeps at hand, and rows that its log is folded by. In bytes. */
  readonly bufferBytes?: number | undefined;
}

/**
 * What is written of late, in memory until it has filled this, and as much again while it is moved to a table file: the
 * C library gives none of it back. LevelDB's own 4 MiB stalls writers for most of a second; with 64 MiB records that
 * are sent come no faster, and a store of millions is filled an eighth faster from within. In bytes.
 */
export const WRITE_BUFFER_BYTES = 16 << 20;
const CACHE_BYTES = 64 << 20;
/**
 * Table files that are open, and mapped, at a time. LevelDB maps 1,000 of 2 MiB by itself, whose pages count as
 * resident once they are read: 1.7 GB of a store of three million records. A read of a file that is not open takes 30
 * to 50 µs of processor more; reading in order costs nothing more.
 */
export const MAX_OPEN_FILES = 128;

/** Rows of a range that LevelDB reads in one go, if they have no more than 16 KiB together. */
const ROWS_AT_ONCE = 1_000;
/** A write of more operations is handed over in slices: LevelDB takes each from this thread. */
const SLICED_OPERATIONS = 2_000;

/** Room beside a copy of its log that must be free before the database is opened again. In bytes. */
const RENEWAL_RESERVE_BYTES = 1 << 20;

/** What is read of a store, row by row. */
export type Reads = Pick<Store, 'first' | 'get' | 'range'>;

/** Rows by key: all that tables need of a store. */
export type Rows = Pick<Store, 'first' | 'get' | 'getMany' | 'range' | 'write'>;

/**
 * The node's only database: ordered rows in one LevelDB, owned by one process. A write is atomic and synced to disk
 * before its promise resolves; when it rejects, nothing of it is visible, then or later.
 *
 * A read throws `StoreError` `unreadable` where the database refuses it.
 *
 * A write that failed may have left a torn record in LevelDB's log, and whatever is appended behind it is lost at the
 * next start. So the store refuses writes from then on, still reads, and becomes whole again by `recover`: it opens the
 * database again, which leaves that log behind, and takes back what the failed write may have left.
 */
export class Store implements AsyncDisposable {
  readonly directory: string;
  readonly #level: Level<string, Uint8Array>;
  readonly #gate: CommitGate;
  readonly #hold: Hold;
  readonly #writeQueue = new WriteQueue((operations) => this.#apply(operations));
  readonly #reads = new ReadEpochs();
  #writes = 0;
  /** Keys of the write that failed, until the store is whole again. */
  #failed: readonly string[] | undefined;
  /**
   * The rows under those keys as they were: read before the database is opened again and might show the failed write.
   */
  #undo: readonly RowChange[] | undefined;
  /** Set while the database is closed for that. */
  #renewing: Promise<void> | undefined;

  private constructor(directory: string, level: Level<string, Uint8Array>, gate: CommitGate, hold: Hold) {
    this.directory = directory;
    this.#hold = hold;
    this.#level = level;
    this.#gate = gate;
  }

  /** Throws `StoreError` `locked` where another process has it open, `unreadable` where LevelDB refuses it. */
  static async open(directory: string, options: StoreOptions = {}): Promise<Store> {
    let hold: Hold | undefined;
    try {
      // Before LevelDB, which opens itself as soon as it is made, makes the folder for everyone.
      await mkdir(directory, { recursive: true, mode: 0o700 });
      hold = await holdHere(directory);
      if (hold === undefined) throw new StoreError('locked', `${directory} is open in this process`);
      const level = new Level<string, Uint8Array>(directory, {
        keyEncoding: 'utf8',
        valueEncoding: 'view',
        writeBufferSize: options.bufferBytes ?? WRITE_BUFFER_BYTES,
        cacheSize: options.bufferBytes ?? CACHE_BYTES,
        maxOpenFiles: MAX_OPEN_FILES,
        createIfMissing: options.createIfMissing ?? true,
      });
      await level.open();
      await hold.lock();
      return new Store(directory, level, options.gate ?? openGate, hold);
    } catch (error) {
      hold?.release();
      if (error instanceof StoreError) throw error;
      const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
      const locked = cause instanceof Error && 'code' in cause && cause.code === 'LEVEL_LOCKED';
      throw locked
        ? new StoreError('locked', `${directory} is open in another process`, cause)
        : new StoreError('unreadable', `${directory} cannot be opened: ${String(cause)}`, cause);
    }
  }

  /** Atomic writes that reached the disk since the store was opened. */
  get writes(): number {
    return this.#writes;
  }

  /** Whether writes are refused since one failed. */
  get failing(): boolean {
    return this.#failed !== undefined;
  }

  /**
   * Read on this thread: what is in LevelDB's or the system's cache, as nearly all is, costs two microseconds so, and
   * twenty and a turn of the event loop by way of another thread. What is not waits for the disk here.
   */
  async get(key: string): Promise<Uint8Array | undefined> {
    try {
      if (this.#renewing !== undefined) await this.#renewing;
      return this.#level.getSync(key);
    } catch (error) {
      throw unreadable(error);
    }
  }

  getMany(keys: readonly string[]): Promise<(Uint8Array | undefined)[]> {
    return this.#readMany(() => this.#level.getMany([...keys]));
  }

  /** The same of rows that are texts: of short ones in half the time, for no buffer is made of each. */
  getTexts(keys: readonly string[]): Promise<(string | undefined)[]> {
    return this.#readMany(() => this.#level.getMany<string, string>([...keys], { valueEncoding: 'utf8' }));
  }

  async #readMany<Value>(read: () => Promise<(Value | undefined)[]>): Promise<(Value | undefined)[]> {
    const epoch = this.#reads.enter();
    try {
      await this.#renewing;
      return await read();
    } catch (error) {
      throw unreadable(error);
    } finally {
      this.#reads.leave(epoch);
    }
  }

  /** All or nothing, and on the disk when it resolves. Throws `StoreError` `write-failed`. */
  write(operations: readonly Operation[]): Promise<void> {
    return this.#writeQueue.write(operations);
  }

  /** Makes a store that refuses writes take them again. Throws `StoreError` where it cannot yet. */
  async recover(): Promise<void> {
    await this.#writeQueue.write([]);
  }

  /** Rows in key order, read from one snapshot, which is taken when the first is asked for. */
  async *range(options: RangeOptions): AsyncGenerator<[key: string, value: Uint8Array]> {
    const epoch = this.#reads.enter();
    try {
      await this.#renewing;
      await using iterator = this.#level.iterator(options);
      // Row by row, LevelDB looks for the first alone, and for what is behind it by another turn of the event loop.
      for (let rows = await iterator.nextv(ROWS_AT_ONCE); rows.length > 0; rows = await iterator.nextv(ROWS_AT_ONCE)) {
        for (const row of rows) yield row;
      }
    } catch (error) {
      throw unreadable(error);
    } finally {
      this.#reads.leave(epoch);
    }
  }

  /** The first row of a range. */
  async first(options: RangeOptions): Promise<[key: string, value: Uint8Array] | undefined> {
    for await (const row of this.range({ ...options, limit: 1 })) return row;
    return undefined;
  }

  /**
   * Makes sure that what rows held before they were deleted or rewritten is in no file of the store any more, its log
   * included. The rows stay as they are. Rewrites the files that the keys fall into: for few keys, and rarely. Throws
   * where it could not be completed; then it may be tried again.
   */
  async purge(keys: readonly string[], signal = new AbortController().signal): Promise<void> {
    await this.#renewing;
    const write = (operations: readonly Operation[]) => this.write(operations);
    await purge({ directory: this.directory, level: this.#level, reads: this.#reads, write }, keys, signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#writeQueue.idle();
    await this.#level.close();
    this.#hold.release();
  }

  /** The queue's one write. */
  async #apply(operations: readonly Operation[]): Promise<void> {
    if (this.#failed !== undefined) await this.#recover(this.#failed);
    if (operations.length === 0) return;
    const changes = this.#changesOf(operations);
    try {
      const sync =
        changes.length > SLICED_OPERATIONS
          ? () => this.#applyInSlices(changes)
          : () => this.#level.batch([...changes], { sync: true });
      await this.#gate({ directory: this.directory, operations: changes, sync });
    } catch (error) {
      this.#failed = [...new Set(changes.map(({ key }) => key))];
      throw new StoreError('write-failed', `the store refused a write: ${String(error)}`, error);
    }
    this.#writes++;
  }

  /** Writes of the queue run one at a time: nothing changes between reading a row and writing it again. */
  #changesOf(operations: readonly Operation[]): readonly RowChange[] {
    try {
      return changesOf(operations, (key) => this.#level.getSync(key));
    } catch (error) {
      throw unreadable(error);
    }
  }

  /** As atomic as any: nothing is written before all of it was handed over. */
  async #applyInSlices(operations: readonly RowChange[]): Promise<void> {
    const batch = this.#level.batch();
    try {
      await new TimeSlices().each(operations, (operation) => {
        if (operation.type === 'put') batch.put(operation.key, operation.value);
        else batch.del(operation.key);
      });
    } catch (error) {
      await batch.close();
      throw error;
    }
    await batch.write({ sync: true });
  }

  async #recover(failed: readonly string[]): Promise<void> {
    try {
      this.#undo ??= await this.#rowsNow(failed);
      await this.#requireCapacity(this.#undo);
      this.#renewing = this.#renew(this.#undo);
      await this.#renewing;
    } catch (error) {
      throw new StoreError('write-failed', `the store is not whole after a failed write: ${String(error)}`, error);
    } finally {
      this.#renewing = undefined;
    }
    this.#failed = undefined;
    this.#undo = undefined;
  }

  /**
   * Opening replays the log into a table and starts a new log, which begins with what takes the failed write back. Reads
   * wait, so that none sees the failed write; where it cannot be taken back the database stays closed to them.
   */
  async #renew(undo: readonly RowChange[]): Promise<void> {
    await this.#level.close();
    await this.#level.open();
    try {
      await this.#level.batch([...undo], { sync: true });
    } catch (error) {
      await this.#level.close();
      throw error;
    }
  }

  /** A replay that fails half-way for want of room would leave the database closed to reads. */
  async #requireCapacity(undo: readonly RowChange[]): Promise<void> {
    const { bavail, bsize } = await statfs(this.directory);
    let needed = RENEWAL_RESERVE_BYTES;
    for (const change of undo) needed += change.key.length + (change.type === 'put' ? change.value.length : 0);
    for (const name of await readdir(this.directory)) {
      if (name.endsWith('.log')) needed += (await stat(join(this.directory, name))).size;
    }
    if (bavail * bsize < needed) throw new Error('No space left on device');
  }

  /** What makes these rows what they are now. A failed write is not among what is read. */
  async #rowsNow(keys: readonly string[]): Promise<RowChange[]> {
    const values = await this.#level.getMany([...keys]);
    return keys.map((key, i) => {
      const value = values[i];
      return value === undefined ? { type: 'del', key } : { type: 'put', key, value };
    });
  }
}

/** Damage, an error of the disk, or a database that could not be opened again yet. */
function unreadable(cause: unknown): StoreError {
  return new StoreError('unreadable', `the store could not be read: ${String(cause)}`, cause);
}

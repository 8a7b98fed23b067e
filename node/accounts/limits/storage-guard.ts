import { readdir, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { PeriodicTask } from '../../concurrency/periodic-task.ts';
import { LimitError, retryAfter } from './limit-error.ts';

const TABLE_FILE = '.ldb';

interface SeenFile {
  readonly bytes: number;
  /** Two looks found the same: LevelDB writes a table once and never again. */
  readonly isSettled: boolean;
}

/**
 * Bytes of a LevelDB's files. Tables are looked at until they are written, so a look costs little however many there
 * are.
 */
export class StoreSize {
  readonly #directory: string;
  #seen = new Map<string, SeenFile>();

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Reads the folder. Throws the file system's error. */
  async measure(): Promise<number> {
    const seen = new Map<string, SeenFile>();
    let total = 0;
    for (const name of await readdir(this.#directory)) {
      const before = this.#seen.get(name);
      const file = before?.isSettled === true ? before : await this.#look(name, before);
      if (file === undefined) continue;
      seen.set(name, file);
      total += file.bytes;
    }
    this.#seen = seen;
    return total;
  }

  /** Undefined where LevelDB has removed the file meanwhile. */
  async #look(name: string, before: SeenFile | undefined): Promise<SeenFile | undefined> {
    try {
      const { size } = await stat(join(this.#directory, name));
      return { bytes: size, isSettled: name.endsWith(TABLE_FILE) && size > 0 && before?.bytes === size };
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
      throw error;
    }
  }
}

export type StorageLevel = 'ok' | 'warn' | 'full';

/** The last measurement, in bytes. */
export interface StorageState {
  readonly level: StorageLevel;
  /** Of the store's files. */
  readonly usedBytes: number;
  /** Null where the operator set none. */
  readonly quotaBytes: number | null;
  /** Of the disk, for this process. */
  readonly freeBytes: number;
}

/** What is looked at. In bytes. */
export interface StorageMeasurement {
  readonly usedBytes: number;
  readonly freeBytes: number;
}

export interface StorageGuardOptions {
  /** Folder of the LevelDB. */
  readonly directory: string;
  readonly quotaBytes: number | null;
  readonly log: Logger;
  /** In milliseconds. */
  readonly intervalMs?: number;
  /** In the place of the file system's word. */
  readonly measure?: () => Promise<StorageMeasurement>;
}

/** A bound that is left only well after it was entered, so that the answer does not change to and fro. */
interface Bound {
  readonly enter: number;
  readonly leave: number;
}

/** Shares of the quota. */
const WARN_SHARE: Bound = { enter: 0.8, leave: 0.78 };
const FULL_SHARE: Bound = { enter: 0.95, leave: 0.93 };
/** Free bytes of the disk: LevelDB needs some to compact, and to open its log again after a failed write. */
const WARN_FREE: Bound = { enter: 1024 << 20, leave: 1280 << 20 };
const FULL_FREE: Bound = { enter: 256 << 20, leave: 320 << 20 };

/** Between two looks: a busy node writes some 50 MB meanwhile. In milliseconds. */
const LOOK_MS = 5_000;
/** People free disk space. In seconds. */
const RETRY_AFTER_SECONDS = 60;

/**
 * Knows whether there is storage for more records, by looking now and then, never for a request. Reads are not its
 * concern. While the disk cannot be looked at, what was last seen holds.
 */
export class StorageGuard implements AsyncDisposable {
  readonly #options: StorageGuardOptions;
  readonly #measure: () => Promise<StorageMeasurement>;
  readonly #task: PeriodicTask<void>;
  #state: StorageState;

  private constructor(options: StorageGuardOptions) {
    this.#options = options;
    this.#measure = options.measure ?? measurement(options.directory);
    this.#task = new PeriodicTask(options.intervalMs ?? LOOK_MS, () => this.look());
    this.#state = { level: 'ok', usedBytes: 0, quotaBytes: options.quotaBytes, freeBytes: Number.POSITIVE_INFINITY };
  }

  /** Looks once, and then goes on looking until it is disposed. */
  static async start(options: StorageGuardOptions): Promise<StorageGuard> {
    const guard = new StorageGuard(options);
    await guard.look();
    guard.#task.start(options.intervalMs ?? LOOK_MS);
    return guard;
  }

  get state(): StorageState {
    return this.#state;
  }

  check(): StorageLevel {
    return this.#state.level;
  }

  /** Throws `LimitError` `storage-full`. */
  requireCapacity(): void {
    if (this.#state.level !== 'full') return;
    throw new LimitError('storage-full', 'The node has no room for more records.', retryAfter(RETRY_AFTER_SECONDS));
  }

  /** Measures now. Never rejects. */
  async look(): Promise<void> {
    const { quotaBytes, log } = this.#options;
    try {
      const measured = await this.#measure();
      const before = this.#state.level;
      const level = levelOf(measured, quotaBytes, before);
      this.#state = { ...measured, level, quotaBytes };
      if (level === before) return;
      if (level === 'ok') log.info(this.#state, 'there is room for records again');
      else log.warn(this.#state, level === 'full' ? 'no room for more records' : 'room for records runs short');
    } catch (error) {
      log.error({ err: error }, 'the room for records could not be measured');
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#task[Symbol.asyncDispose]();
  }
}

function measurement(directory: string): () => Promise<StorageMeasurement> {
  const size = new StoreSize(directory);
  return async () => {
    const usedBytes = await size.measure();
    const { bavail, bsize } = await statfs(directory);
    return { usedBytes, freeBytes: bavail * bsize };
  };
}

function levelOf(measured: StorageMeasurement, quotaBytes: number | null, before: StorageLevel): StorageLevel {
  if (isShort(measured, quotaBytes, FULL_SHARE, FULL_FREE, before === 'full')) return 'full';
  return isShort(measured, quotaBytes, WARN_SHARE, WARN_FREE, before !== 'ok') ? 'warn' : 'ok';
}

function isShort(
  { usedBytes, freeBytes }: StorageMeasurement,
  quotaBytes: number | null,
  share: Bound,
  free: Bound,
  wasShort: boolean,
): boolean {
  const bound = wasShort ? 'leave' : 'enter';
  const isOverQuota = quotaBytes !== null && usedBytes >= quotaBytes * share[bound];
  return isOverQuota || freeBytes < free[bound];
}

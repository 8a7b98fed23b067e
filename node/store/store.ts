import { mkdir } from 'node:fs/promises';
import { Level } from 'level';

export type StoreErrorCode = 'locked' | 'unreadable' | 'write-failed' | 'closed';

export class StoreError extends Error {
  override readonly name = 'StoreError';
  readonly code: StoreErrorCode;

  constructor(code: StoreErrorCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }
}

/** One change of an atomic write. Keys are text; a table gives each its prefix. */
export type Operation =
  | { readonly type: 'put'; readonly key: string; readonly value: Uint8Array }
  | { readonly type: 'del'; readonly key: string };

export interface RangeOptions {
  readonly gte?: string;
  readonly gt?: string;
  readonly lte?: string;
  readonly lt?: string;
  readonly reverse?: boolean;
  readonly limit?: number;
}

/** LevelDB's own 4 MiB default stalls writers for most of a second; see the bench. In bytes. */
const WRITE_BUFFER_BYTES = 64 << 20;
const CACHE_BYTES = 64 << 20;

/**
 * The node's only database: ordered rows in one LevelDB, owned by one process. A write is atomic and synced to disk
 * before its promise resolves; when it rejects, nothing of it is visible.
 */
export class Store implements AsyncDisposable {
  readonly directory: string;
  readonly #level: Level<string, Uint8Array>;
  #writes = 0;

  private constructor(directory: string, level: Level<string, Uint8Array>) {
    this.directory = directory;
    this.#level = level;
  }

  /** Throws `StoreError` `locked` where another process has it open, `unreadable` where LevelDB refuses it. */
  static async open(directory: string, options: { readonly createIfMissing?: boolean } = {}): Promise<Store> {
    const level = new Level<string, Uint8Array>(directory, {
      keyEncoding: 'utf8',
      valueEncoding: 'view',
      writeBufferSize: WRITE_BUFFER_BYTES,
      cacheSize: CACHE_BYTES,
      createIfMissing: options.createIfMissing ?? true,
    });
    try {
      await mkdir(directory, { recursive: true, mode: 0o700 });
      await level.open();
    } catch (error) {
      const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
      const locked = cause instanceof Error && 'code' in cause && cause.code === 'LEVEL_LOCKED';
      throw locked
        ? new StoreError('locked', `${directory} is open in another process`, cause)
        : new StoreError('unreadable', `${directory} cannot be opened: ${String(cause)}`, cause);
    }
    return new Store(directory, level);
  }

  /** Atomic writes that reached the disk since the store was opened. */
  get writes(): number {
    return this.#writes;
  }

  async get(key: string): Promise<Uint8Array | undefined> {
    return this.#level.get(key);
  }

  async getMany(keys: readonly string[]): Promise<(Uint8Array | undefined)[]> {
    return this.#level.getMany([...keys]);
  }

  /** All or nothing, and on the disk when it resolves. Throws `StoreError` `write-failed`. */
  async write(operations: readonly Operation[]): Promise<void> {
    try {
      await this.#level.batch([...operations], { sync: true });
    } catch (error) {
      throw new StoreError('write-failed', `the store refused a write: ${String(error)}`, error);
    }
    this.#writes++;
  }

  /** Rows in key order, read from one snapshot. */
  range(options: RangeOptions): AsyncIterable<[key: string, value: Uint8Array]> {
    return this.#level.iterator(options);
  }

  /** The first row of a range. */
  async first(options: RangeOptions): Promise<[key: string, value: Uint8Array] | undefined> {
    for await (const row of this.range({ ...options, limit: 1 })) return row;
    return undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#level.close();
  }
}

import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { LRUCache } from 'lru-cache';
import { Semaphore } from '../concurrency/semaphore.ts';

/** The encodings that answers are compressed in, the better one first. */
export const ENCODINGS = ['br', 'gzip'] as const;
export type Encoding = (typeof ENCODINGS)[number];

/** Bodies up to this size are sent as they are: little is saved. In bytes. */
export const MIN_COMPRESSED_BYTES = 1_024;
/** Bodies beyond this size are sent as they are: one would hold a thread for a tenth of a second. In bytes. */
const MAX_COMPRESSED_BYTES = 4 << 20;
/** Compressions at the same time: half of the threads that the store's reads and the signatures need too. */
const MAX_RUNNING = 2;
/** Compressed bodies that are kept, of those that are asked for again. In bytes. */
const MAX_KEPT_BYTES = 8 << 20;
/** Most of what there is to save, for a fifth of the time of the best level. */
const BROTLI_QUALITY = 4;
const GZIP_LEVEL = 5;

const brotliAsync = promisify(brotliCompress);
const gzipAsync = promisify(gzip);

export interface CompressorOptions {
  readonly maxRunning?: number;
  readonly maxKeptBytes?: number;
}

/**
 * Compresses answers in threads, few at a time and never in a queue: who comes when all are busy gets its answer as it
 * is. What has a hash is compressed once for all who ask, and kept as long as there is room.
 */
export class Compressor {
  readonly #places: Semaphore;
  readonly #kept: LRUCache<string, Uint8Array>;
  /** By hash and encoding. */
  readonly #shared = new Map<string, Promise<Uint8Array | null>>();
  #running = 0;

  constructor({ maxRunning = MAX_RUNNING, maxKeptBytes = MAX_KEPT_BYTES }: CompressorOptions = {}) {
    this.#places = new Semaphore({ places: maxRunning });
    this.#kept = new LRUCache({ maxSize: maxKeptBytes, sizeCalculation: ({ byteLength }) => byteLength });
  }

  /** Compressions under way. */
  get running(): number {
    return this.#running;
  }

  /**
   * The body in an encoding; null where it is to be sent as it is. `hash`: its `bodyHash`, null where nobody asks
   * twice.
   */
  async compress(body: Uint8Array, encoding: Encoding, hash: string | null): Promise<Uint8Array | null> {
    if (body.byteLength <= MIN_COMPRESSED_BYTES || body.byteLength > MAX_COMPRESSED_BYTES) return null;
    if (hash === null) return this.#run(body, encoding);
    const key = `${hash}-${encoding}`;
    const kept = this.#kept.get(key);
    if (kept !== undefined) return kept;
    const underWay = this.#shared.get(key);
    if (underWay !== undefined) return underWay;
    const running = this.#run(body, encoding).finally(() => this.#shared.delete(key));
    this.#shared.set(key, running);
    const compressed = await running;
    if (compressed !== null) this.#kept.set(key, compressed);
    return compressed;
  }

  async #run(body: Uint8Array, encoding: Encoding): Promise<Uint8Array | null> {
    using place = this.#places.tryEnter();
    if (place === undefined) return null;
    this.#running++;
    try {
      const compressed = await encode(body, encoding);
      return compressed.byteLength < body.byteLength ? compressed : null;
    } catch {
      // Short of memory: the body goes as it is.
      return null;
    } finally {
      this.#running--;
    }
  }
}

function encode(body: Uint8Array, encoding: Encoding): Promise<Uint8Array> {
  if (encoding === 'gzip') return gzipAsync(body, { level: GZIP_LEVEL });
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY,
    [constants.BROTLI_PARAM_SIZE_HINT]: body.byteLength,
  };
  return brotliAsync(body, { params });
}

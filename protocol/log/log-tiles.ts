import { nodeHash, type Sha256 } from '../merkle/hash.ts';
import { HASH_BYTES, splitHashes, TILE_WIDTH } from '../merkle/tiles.ts';
import { isFull, merkleRoot, splitOf } from '../merkle/tree.ts';
import { tileWidth } from './tile-path.ts';

/**
 * Reads the first `width` hashes of a tile of the log, or more of it, joined: a store keeps the widest tile, and a
 * server may have the full one alone. What it throws passes through.
 */
export type ReadTile = (level: number, index: number, width: number) => Promise<Uint8Array>;

/** `tile-malformed`: no whole number of hashes, or over 256. `tile-short`: fewer than the log has. */
export type LogTileFault = 'not-in-log' | 'tile-malformed' | 'tile-short';

export class LogTileError extends Error {
  override readonly name = 'LogTileError';
  readonly code: LogTileFault;

  constructor(code: LogTileFault, message: string) {
    super(message);
    this.code = code;
  }
}

/**
 * Root that the log had at `size` (RFC 9162 §2.1.1), from one tile a level at most. Tiles that are false give another
 * root than the signed one; throws `LogTileError` on tiles that are too short or malformed.
 */
export async function rootAt(suite: Sha256, size: number, read: ReadTile): Promise<Uint8Array> {
  requireSize(size);
  return size === 0 ? suite.sha256() : new TiledLog(suite, size, read).rootOf(0, size);
}

/**
 * Inclusion proof of entry `index` in the log of `size` entries (RFC 9162 §2.1.3.1), from two tiles a level at most.
 * Tiles that are false give a path that leads to another root; throws `LogTileError` as `rootAt` does, and on an entry
 * that is not in the log.
 */
export async function pathAt(suite: Sha256, index: number, size: number, read: ReadTile): Promise<Uint8Array[]> {
  requireSize(size);
  if (!Number.isSafeInteger(index) || index < 0 || index >= size) throw new LogTileError('not-in-log', 'no such entry');
  const { siblings } = await descend(new TiledLog(suite, size, read), index, (start, end) => end - start === 1);
  return siblings.toReversed();
}

/**
 * Proof that the log of `from` entries is the beginning of that of `to` (RFC 9162 §2.1.4.1), for `consistencyHolds`.
 * Empty for equal sizes and from the empty log. Throws `LogTileError` as `rootAt` does, and where `from` is beyond
 * `to`.
 */
export async function consistencyAt(suite: Sha256, from: number, to: number, read: ReadTile): Promise<Uint8Array[]> {
  requireSize(from);
  requireSize(to);
  if (from > to) throw new LogTileError('not-in-log', `a log of ${to} entries has no beginning of ${from}`);
  if (from === 0 || from === to) return [];
  const log = new TiledLog(suite, to, read);
  const { start, siblings } = await descend(log, from - 1, (_, end) => end === from);
  const proof = siblings.toReversed();
  return start === 0 ? proof : [await log.rootOf(start, from), ...proof];
}

/**
 * Goes down from the root towards the leaf `index` to the first subtree for which `isThere`. Returns where it starts,
 * and the roots beside the way, topmost first.
 */
async function descend(
  log: TiledLog,
  index: number,
  isThere: (start: number, end: number) => boolean,
): Promise<{ readonly start: number; readonly siblings: readonly Uint8Array[] }> {
  const siblings: Uint8Array[] = [];
  let start = 0;
  let end = log.size;
  while (!isThere(start, end)) {
    const middle = start + splitOf(end - start);
    if (index < middle) {
      siblings.push(await log.rootOf(middle, end));
      end = middle;
    } else {
      siblings.push(await log.rootOf(start, middle));
      start = middle;
    }
  }
  return { start, siblings };
}

/** A log of one size whose tiles are read once each. Lives for one proof. */
class TiledLog {
  readonly size: number;
  readonly #suite: Sha256;
  readonly #read: ReadTile;
  readonly #tiles = new Map<string, readonly Uint8Array[]>();

  constructor(suite: Sha256, size: number, read: ReadTile) {
    this.size = size;
    this.#suite = suite;
    this.#read = read;
  }

  /**
   * Root of the entries from `start` to before `end`, which is a subtree that RFC 9162 splits a tree of this size into.
   */
  async rootOf(start: number, end: number): Promise<Uint8Array> {
    const count = end - start;
    if (isFull(count)) return this.#fullSubtree(start, count);
    const middle = start + splitOf(count);
    return nodeHash(this.#suite, await this.rootOf(start, middle), await this.rootOf(middle, end));
  }

  /** Root of a full subtree of `count` entries: of at most 128 neighbours within one tile. */
  async #fullSubtree(start: number, count: number): Promise<Uint8Array> {
    let level = 0;
    while (TILE_WIDTH ** (level + 1) <= count) level++;
    const position = start / TILE_WIDTH ** level;
    const hashes = await this.#tile(level, Math.floor(position / TILE_WIDTH));
    const at = position % TILE_WIDTH;
    return merkleRoot(this.#suite, hashes.slice(at, at + count / TILE_WIDTH ** level));
  }

  async #tile(level: number, index: number): Promise<readonly Uint8Array[]> {
    const name = `${level}/${index}`;
    const known = this.#tiles.get(name);
    if (known !== undefined) return known;
    const hashes = await readTile(this.#read, level, index, tileWidth(this.size, level, index));
    this.#tiles.set(name, hashes);
    return hashes;
  }
}

/** The first `width` hashes of a tile. Throws `LogTileError` where the bytes that were read do not have them. */
export async function readTile(read: ReadTile, level: number, index: number, width: number): Promise<Uint8Array[]> {
  const bytes = await read(level, index, width);
  if (bytes.length % HASH_BYTES !== 0 || bytes.length > TILE_WIDTH * HASH_BYTES) {
    throw new LogTileError('tile-malformed', `tile ${level}/${index} is ${bytes.length} bytes`);
  }
  if (bytes.length < width * HASH_BYTES) {
    throw new LogTileError('tile-short', `tile ${level}/${index} holds fewer than ${width} hashes`);
  }
  return splitHashes(bytes.subarray(0, width * HASH_BYTES));
}

export function requireSize(size: number): void {
  if (!Number.isSafeInteger(size) || size < 0) throw new LogTileError('not-in-log', `no log has ${size} entries`);
}

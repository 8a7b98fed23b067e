import { Frontier } from '../merkle/frontier.ts';
import type { Sha256 } from '../merkle/hash.ts';
import { HASH_BYTES, joinHashes, type Tile, TILE_HEIGHT, TILE_WIDTH } from '../merkle/tiles.ts';
import { merkleRoot } from '../merkle/tree.ts';
import { LogTileError, readTile, type ReadTile, requireSize } from './log-tiles.ts';

/** By level, the hashes of its partial tile. */
type Edges = readonly (readonly Uint8Array[])[];
/** By height, the full subtrees at the right edge. */
type Peaks = Frontier['peaks'];

/** A log that has grown, and what its store has to hold before it is shown. */
export interface GrownLog {
  readonly tree: LogTree;
  /** New or wider tiles. Each begins with all that it held before. */
  readonly tiles: readonly Tile[];
}

/**
 * The tree of the federation's log at one size: RFC 9162, kept as tiles of C2SP tlog-tiles, whose upper levels hold the
 * roots of full tiles alone. It never changes; `grow` gives the next one, so that the one before stands until the tiles
 * are on the disk. It holds the right edge alone, at most 255 hashes a level; proofs are made of tiles
 * (`log-tiles.ts`).
 */
export class LogTree {
  readonly size: number;
  readonly #suite: Sha256;
  readonly #edges: Edges;
  readonly #peaks: Peaks;

  private constructor(suite: Sha256, edges: Edges, peaks: Peaks, size: number) {
    this.#suite = suite;
    this.#edges = edges;
    this.#peaks = peaks;
    this.size = size;
  }

  static empty(suite: Sha256): LogTree {
    return new LogTree(suite, [], [], 0);
  }

  /** The log of `size` entries, from the partial tile of each level. Throws `LogTileError` where one is not whole. */
  static async open(suite: Sha256, size: number, read: ReadTile): Promise<LogTree> {
    requireSize(size);
    const edges: Uint8Array[][] = [];
    for (let level = 0, count = size; count > 0; level++, count = Math.floor(count / TILE_WIDTH)) {
      const width = count % TILE_WIDTH;
      edges.push(width === 0 ? [] : await readTile(read, level, Math.floor(count / TILE_WIDTH), width));
    }
    return new LogTree(suite, edges, peaksOf(suite, edges), size);
  }

  /** Root of RFC 9162 §2.1.1, 32 bytes. */
  root(): Uint8Array {
    return Frontier.resume(this.#suite, this.#peaks).root();
  }

  /** The log with these leaf hashes after its own. Throws `LogTileError` where one is not a hash. */
  grow(leaves: readonly Uint8Array[]): GrownLog {
    if (leaves.some((leaf) => leaf.length !== HASH_BYTES)) throw new LogTileError('tile-malformed', 'no leaf hash');
    const edges = this.#edges.map((hashes) => [...hashes]);
    const counts = edges.map((_, level) => Math.floor(this.size / TILE_WIDTH ** level));
    const full: Tile[] = [];
    const frontier = Frontier.resume(this.#suite, this.#peaks, (height, root) => {
      if (height % TILE_HEIGHT !== 0) return;
      const level = height / TILE_HEIGHT;
      const edge = (edges[level] ??= []);
      edge.push(root);
      const count = (counts[level] ?? 0) + 1;
      counts[level] = count;
      if (edge.length < TILE_WIDTH) return;
      const index = count / TILE_WIDTH - 1;
      full.push({ level, index, hashes: joinHashes(edge) });
      edges[level] = [];
    });
    // A copy of its own: a hash may be a small piece of a large buffer, all of which would stay with the edge.
    for (const leaf of leaves) frontier.append(new Uint8Array(leaf));
    const { size } = frontier;
    const partial = edges.flatMap((edge, level): Tile[] => {
      const isWider = Math.floor(size / TILE_WIDTH ** level) > Math.floor(this.size / TILE_WIDTH ** level);
      if (!isWider || edge.length === 0) return [];
      return [{ level, index: Math.floor(size / TILE_WIDTH ** (level + 1)), hashes: joinHashes(edge) }];
    });
    return {
      tree: new LogTree(this.#suite, edges, frontier.peaks, size),
      tiles: [...full, ...partial],
    };
  }
}

/** The full subtrees that the partial tiles are made of. */
function peaksOf(suite: Sha256, edges: Edges): Peaks {
  const peaks: (Uint8Array | undefined)[] = [];
  edges.forEach((hashes, level) => {
    let at = 0;
    for (let bit = TILE_HEIGHT - 1; bit >= 0; bit--) {
      if ((hashes.length & (1 << bit)) === 0) continue;
      const next = at + (1 << bit);
      peaks[level * TILE_HEIGHT + bit] = merkleRoot(suite, hashes.slice(at, next));
      at = next;
    }
  });
  return peaks;
}

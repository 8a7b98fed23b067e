import { LogTileError, type ReadTile } from '../../../protocol/log/log-tiles.ts';
import { HASH_BYTES, type Tile } from '../../../protocol/merkle/tiles.ts';

/** Tiles as a node keeps them: of each the widest form alone. */
export class TileStore {
  readonly tiles = new Map<string, Uint8Array>();
  /** `level/index` of what was read since the last `forgetReads`. */
  reads: string[] = [];

  put(tiles: readonly Tile[]): void {
    for (const { level, index, hashes } of tiles) {
      const before = this.tiles.get(`${level}/${index}`) ?? new Uint8Array();
      const isPrefix = hashes.length > before.length && before.every((byte, i) => byte === hashes[i]);
      if (!isPrefix) throw new Error(`tile ${level}/${index} does not go on from what it held`);
      this.tiles.set(`${level}/${index}`, hashes);
    }
  }

  /** Gives what a server of C2SP gives: exactly the width that was asked for. */
  readonly read: ReadTile = async (level, index, width) => {
    this.reads.push(`${level}/${index}`);
    const hashes = this.tiles.get(`${level}/${index}`);
    if (hashes === undefined || width < 1) throw new LogTileError('tile-short', `no tile ${level}/${index}`);
    return hashes.subarray(0, width * HASH_BYTES);
  };

  /** Gives all that is held, as a store does. */
  readonly readWhole: ReadTile = async (level, index) => this.tiles.get(`${level}/${index}`) ?? new Uint8Array();

  forgetReads(): void {
    this.reads = [];
  }
}

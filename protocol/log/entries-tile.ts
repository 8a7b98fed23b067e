import { TILE_WIDTH } from '../merkle/tiles.ts';

/** Longest entry of a log, in bytes: its length is written in two. */
export const MAX_ENTRY_BYTES = 65_535;

const LENGTH_BYTES = 2;

export class EntriesTileError extends Error {
  override readonly name = 'EntriesTileError';
}

/**
 * Bytes of a tile of entries (C2SP tlog-tiles): of each entry its length as a 16-bit big-endian number, and its bytes.
 * Throws `EntriesTileError` on no entry, more than 256, or one over 65,535 bytes.
 */
export function encodeEntries(entries: readonly Uint8Array[]): Uint8Array {
  if (entries.length === 0 || entries.length > TILE_WIDTH) throw new EntriesTileError('a tile has 1 to 256 entries');
  const length = entries.reduce((sum, entry) => sum + LENGTH_BYTES + entry.length, 0);
  const tile = new Uint8Array(length);
  let at = 0;
  for (const entry of entries) {
    if (entry.length > MAX_ENTRY_BYTES) throw new EntriesTileError(`an entry is over ${MAX_ENTRY_BYTES} bytes`);
    tile.set([entry.length >> 8, entry.length & 255], at);
    tile.set(entry, at + LENGTH_BYTES);
    at += LENGTH_BYTES + entry.length;
  }
  return tile;
}

/**
 * The entries of a tile that has `width` of them, as views of its bytes. Throws `EntriesTileError` unless the bytes are
 * these entries exactly, with nothing after them.
 */
export function decodeEntries(tile: Uint8Array, width: number): Uint8Array[] {
  const isWidth = Number.isInteger(width) && width >= 1 && width <= TILE_WIDTH;
  if (!isWidth) throw new EntriesTileError('a tile has 1 to 256 entries');
  const entries: Uint8Array[] = [];
  let at = 0;
  while (entries.length < width) {
    const high = tile[at];
    const low = tile[at + 1];
    if (high === undefined || low === undefined) throw new EntriesTileError(`the tile has ${entries.length} entries`);
    const start = at + LENGTH_BYTES;
    at = start + ((high << 8) | low);
    entries.push(tile.subarray(start, at));
  }
  if (at !== tile.length) throw new EntriesTileError('the last entry is not at the end of the tile');
  return entries;
}

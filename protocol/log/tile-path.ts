import { TILE_WIDTH } from '../merkle/tiles.ts';

/** Highest tile level that a log of up to 2^53 − 1 entries has: its hashes stand for 256^6 leaves each. */
const MAX_TILE_LEVEL = 6;

const MAX_ENTRIES = Number.MAX_SAFE_INTEGER;
/** Longest path that is read: five groups of digits name every tile there can be. In UTF-16 units. */
const MAX_PATH_LENGTH = 48;
const NAME = '(entries|0|[1-9][0-9]?)/((?:x[0-9]{3}/)*[0-9]{3})(?:\\.p/([1-9][0-9]{0,2}))?';
/** A tile's path without the folder of all tiles. */
export const TILE_NAME_PATTERN = `^${NAME}$`;
const PATH = new RegExp(`^tile/${NAME}$`);
const GROUP_DIGITS = 3;

/** A tile of hashes, or of entries, as C2SP tlog-tiles names it. */
export interface TileName {
  /** `entries`, or the level: each hash of it is the root of 256^level leaves. */
  readonly level: number | 'entries';
  /** From 0, left to right. */
  readonly index: number;
  /** Hashes or entries in it, 1 to 256; fewer than 256 in a partial tile. */
  readonly width: number;
}

export class TilePathError extends Error {
  override readonly name = 'TilePathError';
}

/**
 * Path of a tile below the log's prefix (C2SP tlog-tiles): `tile/<L>/<N>[.p/<W>]` or `tile/entries/<N>[.p/<W>]`.
 * Throws `TilePathError` where no log has such a tile.
 */
export function writeTilePath({ level, index, width }: TileName): string {
  const height = level === 'entries' ? 0 : level;
  const isTile = isCount(height) && isCount(index) && isCount(width) && width > 0 && width <= TILE_WIDTH;
  const isWithin = height <= MAX_TILE_LEVEL && (index * TILE_WIDTH + width) * TILE_WIDTH ** height <= MAX_ENTRIES;
  if (!isTile || !isWithin) throw new TilePathError('no log has such a tile');
  const partial = width === TILE_WIDTH ? '' : `.p/${width}`;
  return `tile/${level}/${groupsOf(index)}${partial}`;
}

/**
 * The tile of a path below the log's prefix. Throws `TilePathError` on any text that `writeTilePath` does not write.
 */
export function parseTilePath(path: string): TileName {
  const match = path.length > MAX_PATH_LENGTH ? null : PATH.exec(path);
  if (match === null) throw new TilePathError('not the path of a tile');
  const [, level = '', groups = '', width = String(TILE_WIDTH)] = match;
  const tile: TileName = {
    level: level === 'entries' ? level : Number(level),
    index: Number(groups.replaceAll(/[x/]/g, '')),
    width: Number(width),
  };
  // Leading groups of zeros and a full width written out would be second names of one tile.
  if (writeTilePath(tile) !== path) throw new TilePathError('not the path of a tile');
  return tile;
}

/**
 * Width that tile `index` of a level has in a log of `size` entries: 0 where there is none yet, 256 once it is full.
 * Level 0 is also that of the tiles of entries.
 */
export function tileWidth(size: number, level: number, index: number): number {
  const hashes = Math.floor(size / TILE_WIDTH ** level) - index * TILE_WIDTH;
  return Math.min(TILE_WIDTH, Math.max(0, hashes));
}

/** 1234067 → `x001/x234/067`. */
function groupsOf(index: number): string {
  const digits = String(index);
  const padded = digits.padStart(Math.ceil(digits.length / GROUP_DIGITS) * GROUP_DIGITS, '0');
  const groups: string[] = [];
  for (let at = 0; at < padded.length; at += GROUP_DIGITS) {
    const isLast = at + GROUP_DIGITS === padded.length;
    groups.push(`${isLast ? '' : 'x'}${padded.slice(at, at + GROUP_DIGITS)}`);
  }
  return groups.join('/');
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}

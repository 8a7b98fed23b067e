import { concatBytes, equalBytes } from '../bytes.ts';

/** Bytes that are read piece by piece: a file, or a blob in a browser. */
export interface PackSource {
  readonly size: number;
  /** Exactly those bytes, `to` not included. */
  read(from: number, to: number): Promise<Uint8Array>;
}

/** A file in a container, or one that is to be in it. */
export interface ContainedFile {
  readonly name: string;
  readonly size: number;
  readonly crc: number;
}

/** Where its bytes begin. */
export interface PlacedFile extends ContainedFile {
  readonly from: number;
}

/** Bytes of a file that are read at once. */
const CHUNK_BYTES = 1 << 20;

/** The bytes of a file in a container, piece by piece. */
export async function* chunksOf(source: PackSource, { from, size }: PlacedFile): AsyncGenerator<Uint8Array> {
  for (let at = from; at < from + size; at += CHUNK_BYTES) {
    yield await source.read(at, Math.min(from + size, at + CHUNK_BYTES));
  }
}

/** The file is no ZIP, or none in the one form that is written and read. */
export class ContainerError extends Error {
  override readonly name = 'ContainerError';
}

/** What does not fit in 32 bits stands in an extra field of ZIP64. */
const MASK_32 = 0xffffffff;
const LOCAL_SIGNATURE = 0x04034b50;
const CENTRAL_SIGNATURE = 0x02014b50;
const END_SIGNATURE = 0x06054b50;
const END_64_SIGNATURE = 0x06064b50;
const LOCATOR_64_SIGNATURE = 0x07064b50;
const ZIP64_ID = 1;
const VERSION = 10;
const VERSION_64 = 45;
/** 1980-01-01, 00:00: the first moment that ZIP can name, and the same in every time zone. */
const DATE = 0x21;
const END_BYTES = 22;
const END_64_BYTES = 56;
const LOCATOR_64_BYTES = 20;
/** Of all names and headers in the directory. In bytes. */
const MAX_DIRECTORY_BYTES = 64 << 10;
const MAX_FILES = 64;
const NAME = /^[\x21-\x7e]{1,200}$/;

/**
 * The header before the bytes of a file (APPNOTE 6.3.10 §4.3.7): stored as they are, with sizes and check known before,
 * no date and no flag.
 */
export function localHeader({ name, size, crc }: ContainedFile): Uint8Array {
  const is64 = size >= MASK_32;
  const extra = is64 ? extra64([size, size]) : NOTHING;
  return concatBytes(
    numbers([4, LOCAL_SIGNATURE], [2, is64 ? VERSION_64 : VERSION], [2, 0], [2, 0], [2, 0], [2, DATE], [4, crc]),
    numbers([4, Math.min(size, MASK_32)], [4, Math.min(size, MASK_32)], [2, name.length], [2, extra.length]),
    ascii(name),
    extra,
  );
}

/** The directory of all files, and what ends the container (§4.3.12 to §4.3.16). */
export function directory(files: readonly ContainedFile[]): Uint8Array {
  const entries: Uint8Array[] = [];
  let offset = 0;
  for (const file of files) {
    entries.push(centralHeader(file, offset));
    offset += localHeader(file).length + file.size;
  }
  const size = entries.reduce((sum, { length }) => sum + length, 0);
  const count = files.length;
  const end = numbers(
    [4, END_SIGNATURE],
    [2, 0],
    [2, 0],
    [2, count],
    [2, count],
    [4, size],
    [4, Math.min(offset, MASK_32)],
    [2, 0],
  );
  if (offset < MASK_32) return concatBytes(...entries, end);
  const end64 = numbers(
    [4, END_64_SIGNATURE],
    [8, END_64_BYTES - 12],
    [2, VERSION_64],
    [2, VERSION_64],
    [4, 0],
    [4, 0],
    [8, count],
    [8, count],
    [8, size],
    [8, offset],
  );
  const locator = numbers([4, LOCATOR_64_SIGNATURE], [4, 0], [8, offset + size], [4, 1]);
  return concatBytes(...entries, end64, locator, end);
}

function centralHeader({ name, size, crc }: ContainedFile, offset: number): Uint8Array {
  const large = [...(size >= MASK_32 ? [size, size] : []), ...(offset >= MASK_32 ? [offset] : [])];
  const extra = large.length === 0 ? NOTHING : extra64(large);
  const version = large.length === 0 ? VERSION : VERSION_64;
  return concatBytes(
    numbers([4, CENTRAL_SIGNATURE], [2, version], [2, version], [2, 0], [2, 0], [2, 0], [2, DATE], [4, crc]),
    numbers([4, Math.min(size, MASK_32)], [4, Math.min(size, MASK_32)], [2, name.length], [2, extra.length], [2, 0]),
    numbers([2, 0], [2, 0], [4, 0], [4, Math.min(offset, MASK_32)]),
    ascii(name),
    extra,
  );
}

/**
 * The files of a container. Its directory and every header are made anew of what they say, and compared byte for byte:
 * there is no second container with the same files. Throws `ContainerError`, and what the source throws.
 */
export async function readContainer(source: PackSource): Promise<readonly PlacedFile[]> {
  const { from, size } = await readEnd(source);
  const bytes = await source.read(from, source.size);
  const files = readDirectory(bytes.subarray(0, size));
  if (!equalBytes(directory(files), bytes)) throw new ContainerError('its directory is not in the canonical form');
  const placed: PlacedFile[] = [];
  let offset = 0;
  for (const file of files) {
    const header = localHeader(file);
    const start = offset + header.length;
    if (start + file.size > from) throw new ContainerError(`${file.name} reaches into the directory`);
    if (!equalBytes(await source.read(offset, start), header)) {
      throw new ContainerError(`the header of ${file.name} is not the one that the directory has`);
    }
    placed.push({ ...file, from: start });
    offset = start + file.size;
  }
  if (offset !== from) throw new ContainerError('there are bytes between its files and its directory');
  return placed;
}

/** Where the directory begins, and its length. */
async function readEnd(source: PackSource): Promise<{ readonly from: number; readonly size: number }> {
  if (source.size < END_BYTES) throw new ContainerError('it is too short');
  const tail = await source.read(Math.max(0, source.size - END_BYTES - LOCATOR_64_BYTES - END_64_BYTES), source.size);
  const end = tail.length - END_BYTES;
  if (read(tail, end, 4) !== END_SIGNATURE) throw new ContainerError('it does not end as a ZIP does');
  const size = read(tail, end + 12, 4);
  const offset = read(tail, end + 16, 4);
  const is64 = offset === MASK_32 && end === END_64_BYTES + LOCATOR_64_BYTES;
  const from = is64 ? read(tail, 48, 8) : offset;
  const rest = source.size - from - size - END_BYTES - (is64 ? END_64_BYTES + LOCATOR_64_BYTES : 0);
  if (size > MAX_DIRECTORY_BYTES || rest !== 0) throw new ContainerError('its directory is not where its end says');
  return { from, size };
}

/** What the entries say, as far as they can be read; whether they say it in the one form is compared afterwards. */
function readDirectory(bytes: Uint8Array): readonly ContainedFile[] {
  const files: ContainedFile[] = [];
  for (let at = 0; at < bytes.length;) {
    if (read(bytes, at, 4) !== CENTRAL_SIGNATURE || files.length >= MAX_FILES) {
      throw new ContainerError('its directory does not read');
    }
    const nameEnd = at + 46 + read(bytes, at + 28, 2);
    const name = String.fromCharCode(...bytes.subarray(at + 46, nameEnd));
    const short = read(bytes, at + 24, 4);
    const size = short === MASK_32 ? read(bytes, nameEnd + 4, 8) : short;
    if (!NAME.test(name) || files.some((file) => file.name === name)) {
      throw new ContainerError('a name in its directory is none, or stands there twice');
    }
    files.push({ name, size, crc: read(bytes, at + 16, 4) });
    at = nameEnd + read(bytes, at + 30, 2) + read(bytes, at + 32, 2);
  }
  return files;
}

/** A number of so many bytes, least first. Throws `ContainerError` past the end, and above what a number holds. */
function read(bytes: Uint8Array, at: number, length: number): number {
  if (at + length > bytes.length) throw new ContainerError('it is cut');
  let value = 0;
  for (let i = length - 1; i >= 0; i--) value = value * 256 + (bytes[at + i] ?? 0);
  if (!Number.isSafeInteger(value)) throw new ContainerError('a number in it is too large');
  return value;
}

const NOTHING = new Uint8Array();

function extra64(values: readonly number[]): Uint8Array {
  return numbers([2, ZIP64_ID], [2, values.length * 8], ...values.map((value) => [8, value] as const));
}

function numbers(...parts: readonly (readonly [bytes: number, value: number])[]): Uint8Array {
  const bytes: number[] = [];
  for (const [length, value] of parts) {
    for (let i = 0, rest = value; i < length; i++, rest = Math.floor(rest / 256)) bytes.push(rest % 256);
  }
  return Uint8Array.from(bytes);
}

function ascii(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

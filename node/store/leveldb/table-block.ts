import type { FileHandle } from 'node:fs/promises';
import { crc32c, maskCrc } from './crc32c.ts';
import { type BlockHandle, FormatError, FormatReader } from './format-reader.ts';

/** An index block of a table near LevelDB's largest is a hundredth of this. */
const MAX_OUTPUT_BYTES = 256 << 20;

/** Decompresses raw Snappy (google/snappy format_description.txt). Throws `FormatError`. */
export function decompressSnappy(compressed: Buffer): Buffer {
  const input = new FormatReader(compressed);
  const length = input.varint();
  if (length > MAX_OUTPUT_BYTES) throw new FormatError('a compressed block claims to be too large');
  const output = Buffer.alloc(length);
  let at = 0;
  while (input.left > 0) {
    const [tag = 0] = input.take(1);
    const kind = tag & 3;
    const run = kind === 0 ? literal(input, tag, output, at) : copy(input, tag, output, at);
    at += run;
  }
  if (at !== length) throw new FormatError('a compressed block is shorter than it says');
  return output;
}

function literal(input: FormatReader, tag: number, output: Buffer, at: number): number {
  const code = tag >> 2;
  const length = 1 + (code < 60 ? code : littleEndian(input.take(code - 59)));
  if (at + length > output.length) throw new FormatError('a compressed block is longer than it says');
  input.take(length).copy(output, at);
  return length;
}

function copy(input: FormatReader, tag: number, output: Buffer, at: number): number {
  const short = (tag & 3) === 1;
  const length = short ? 4 + ((tag >> 2) & 7) : 1 + (tag >> 2);
  const offset = short
    ? ((tag >> 5) << 8) + littleEndian(input.take(1))
    : littleEndian(input.take((tag & 3) === 2 ? 2 : 4));
  if (offset === 0 || offset > at) throw new FormatError('a compressed block copies from before its start');
  if (at + length > output.length) throw new FormatError('a compressed block is longer than it says');
  // A copy may overlap what it writes, and then repeats it: byte by byte.
  for (let i = at; i < at + length; i++) output[i] = output[i - offset] ?? 0;
  return length;
}

function littleEndian(bytes: Buffer): number {
  return bytes.readUIntLE(0, bytes.length);
}

/** Type (1) and masked CRC-32C (4) after the contents of a block. The CRC covers the contents and the type. */
export const BLOCK_TRAILER_BYTES = 5;

const WINDOW_BYTES = 256 * 1024;
const UNCOMPRESSED = 0;
const SNAPPY = 1;

/** Reads a file mostly from front to back through one buffer. What it returns is valid until the next read. */
export class FileWindow {
  readonly #file: FileHandle;
  readonly #buffer = Buffer.alloc(WINDOW_BYTES);
  #start = 0;
  #end = 0;

  constructor(file: FileHandle) {
    this.#file = file;
  }

  /** Up to `length` bytes from `offset` on, at least one. Throws `FormatError` at the end of the file. */
  async some(offset: number, length: number): Promise<Buffer> {
    if (offset < this.#start || offset >= this.#end) await this.#load(offset);
    const end = Math.min(offset + length, this.#end);
    return this.#buffer.subarray(offset - this.#start, end - this.#start);
  }

  /** Exactly `length` bytes, in memory of their own. */
  async exactly(offset: number, length: number): Promise<Buffer> {
    const bytes = Buffer.alloc(length);
    for (let at = 0; at < length;) at += (await this.some(offset + at, length - at)).copy(bytes, at);
    return bytes;
  }

  async #load(offset: number): Promise<void> {
    const { bytesRead } = await this.#file.read(this.#buffer, 0, WINDOW_BYTES, offset);
    if (bytesRead === 0) throw new FormatError('the file ended while it was read');
    this.#start = offset;
    this.#end = offset + bytesRead;
  }
}

/** What is wrong with the stored bytes of a block, or null. Takes the same memory for a block of any size. */
export async function faultOfBlock(window: FileWindow, handle: BlockHandle): Promise<string | null> {
  const end = handle.offset + handle.size;
  let crc = 0;
  for (let at = handle.offset; at < end;) {
    const part = await window.some(at, end - at);
    crc = crc32c(part, crc);
    at += part.length;
  }
  const trailer = await window.exactly(end, BLOCK_TRAILER_BYTES);
  if (maskCrc(crc32c(trailer.subarray(0, 1), crc)) !== trailer.readUInt32LE(1)) return 'the checksum does not match';
  const type = trailer.readUInt8(0);
  return type === UNCOMPRESSED || type === SNAPPY ? null : `unknown block type ${type}`;
}

/** The rows of a block already checked, such as an index: key and value. Throws `FormatError`. */
export async function readRows(window: FileWindow, { offset, size }: BlockHandle): Promise<[Buffer, Buffer][]> {
  const stored = await window.exactly(offset, size + 1);
  const contents = stored.subarray(0, size);
  return parseRows(stored.readUInt8(size) === SNAPPY ? decompressSnappy(contents) : contents);
}

/** A key is stored as the length it shares with the key before it, and the rest. Restart offsets stand at the end. */
function parseRows(contents: Buffer): [Buffer, Buffer][] {
  const restarts = contents.length < 4 ? Infinity : contents.readUInt32LE(contents.length - 4);
  const rowBytes = contents.length - 4 - restarts * 4;
  if (rowBytes < 0) throw new FormatError('a block is shorter than its restart array');
  const reader = new FormatReader(contents.subarray(0, rowBytes));
  const rows: [Buffer, Buffer][] = [];
  let key = Buffer.alloc(0);
  while (reader.left > 0) {
    const [shared, unshared, valueBytes] = [reader.varint(), reader.varint(), reader.varint()];
    if (shared > key.length) throw new FormatError('a key shares more than the key before it has');
    key = Buffer.concat([key.subarray(0, shared), reader.take(unshared)]);
    rows.push([key, reader.take(valueBytes)]);
  }
  return rows;
}

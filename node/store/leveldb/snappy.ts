import { FormatError, FormatReader } from './format-reader.ts';

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

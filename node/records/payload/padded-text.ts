import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { decodeUtf8 } from '../../../protocol/bytes.ts';

/** The length of the text, big-endian. */
const LENGTH_BYTES = 4;
/** 6 saves 2 % more of a usual payload, and takes twice as long for a large one. */
const LEVEL = 1;
/** Windows of zlib, as powers of two: no larger than the text needs, for what it is given it clears for each text. */
const WINDOW_BITS = { least: 12, most: 15 };
/** A table of as many entries as there are 256ths of the window (zlib's memLevel). */
const TABLE_BITS_FEWER = 8;
/** What zlib takes for a chunk at least. */
const MIN_CHUNK_BYTES = 64;
/** Longest text that is compressed: above what any request may hold. In bytes. */
export const MAX_PADDED_TEXT_BYTES = 16 << 20;

/**
 * A text of at most `MAX_PADDED_TEXT_BYTES`: its length, the text compressed (DEFLATE, RFC 1951), then zeros. The length
 * of it all is one of few (`paddedLength`).
 */
export function packText(text: Uint8Array): Uint8Array {
  const windowBits = windowBitsOf(text.length);
  const compressed = deflateRawSync(text, {
    level: LEVEL,
    windowBits,
    memLevel: windowBits - TABLE_BITS_FEWER,
    chunkSize: Math.max(MIN_CHUNK_BYTES, text.length),
  });
  const packed = Buffer.alloc(paddedLength(LENGTH_BYTES + compressed.length));
  packed.writeUInt32BE(text.length);
  packed.set(compressed, LENGTH_BYTES);
  return packed;
}

function windowBitsOf(length: number): number {
  const { least, most } = WINDOW_BITS;
  return Math.min(most, Math.max(least, Math.ceil(Math.log2(length))));
}

/** Throws where the bytes are not what `packText` makes of a text; never makes more of them than the longest. */
export function unpackText(packed: Uint8Array): string {
  const length = new DataView(packed.buffer, packed.byteOffset, packed.byteLength).getUint32(0);
  if (length > MAX_PADDED_TEXT_BYTES) throw new RangeError('a packed text says a length that none has');
  // A chunk of one byte more than the text fills it is not full at the end, so no other is made.
  const chunkSize = Math.max(MIN_CHUNK_BYTES, length + 1);
  const text = inflateRawSync(packed.subarray(LENGTH_BYTES), { chunkSize, maxOutputLength: Math.max(1, length) });
  if (text.length !== length) throw new RangeError('a packed text is of another length than it says');
  return decodeUtf8(text);
}

/**
 * The next length that PADMÉ allows (Nikitin et al., PoPETs 2019, §4): 12 % more at most, 2 % of a usual payload. Of the
 * lengths between 512 and 1,024 bytes 16 are left, of those between a half and a whole mebibyte 32.
 */
export function paddedLength(length: number): number {
  if (length < 2) return length;
  const exponent = Math.floor(Math.log2(length));
  const step = 2 ** (exponent - Math.floor(Math.log2(exponent)) - 1);
  return Math.ceil(length / step) * step;
}

import { constants, crc32, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { decodeUtf8 } from '../../protocol/bytes.ts';
import { type Codec, textCodec } from './table.ts';
import { frameLength } from './zstd-frame.ts';

/** First byte of a compressed text. No UTF-8 text holds it (RFC 3629 §1), so a plain text is never taken for one. */
const ZSTD = 0xff;
/**
 * Where the big-endian numbers before the frame stand: the CRC-32 of all that comes after it, and the text's length.
 */
const CRC_AT = 1;
const LENGTH_AT = 5;
const FRAME_AT = 9;
/** Level 3 saves nothing more of records and takes longer. */
const LEVEL = 1;
/** Shorter texts stay plain: to compress one takes 50 µs, however short it is. In bytes. */
export const MIN_COMPRESSED_BYTES = 4 << 10;
/** Longer texts stay plain, so that no value opens to more than this. In bytes. */
export const MAX_COMPRESSED_BYTES = 4 << 20;
/**
 * Two to this power is the longest text, and no frame of one looks back further: what another node compressed makes no
 * reader hold more.
 */
const MAX_WINDOW_LOG = 22;

/**
 * Texts, compressed with zstd (RFC 8878) where that makes them smaller; plain ones are read as they are. Decoding
 * throws where any bit of a compressed text was flipped, or where it is anything else than one frame, and never makes
 * more of a value than the longest text.
 */
export const compressedTextCodec: Codec<string> = {
  encode(text) {
    const plain = textCodec.encode(text);
    if (plain.length < MIN_COMPRESSED_BYTES || plain.length > MAX_COMPRESSED_BYTES) return plain;
    const compressed = compress(plain);
    return compressed.length < plain.length ? compressed : plain;
  },
  decode(bytes) {
    const checksum = checksumOf(bytes);
    return decodeUtf8(checksum === undefined ? bytes : decompress(bytes, checksum));
  },
};

/** The checksum that a compressed text begins with; undefined of any other value. */
export function checksumOf(bytes: Uint8Array): number | undefined {
  return bytes.length > FRAME_AT && bytes[0] === ZSTD ? viewOf(bytes).getUint32(CRC_AT) : undefined;
}

/** Bytes of the text that a compressed one says it opens to; undefined of any other value. */
export function openedLengthOf(bytes: Uint8Array): number | undefined {
  return checksumOf(bytes) === undefined ? undefined : viewOf(bytes).getUint32(LENGTH_AT);
}

function compress(plain: Uint8Array): Uint8Array {
  const frame = zstdCompressSync(plain, {
    chunkSize: plain.length,
    pledgedSrcSize: plain.length,
    params: { [constants.ZSTD_c_compressionLevel]: LEVEL },
  });
  const bytes = Buffer.allocUnsafeSlow(FRAME_AT + frame.length);
  bytes[0] = ZSTD;
  bytes.writeUInt32BE(plain.length, LENGTH_AT);
  bytes.set(frame, FRAME_AT);
  bytes.writeUInt32BE(crc32(bytes.subarray(LENGTH_AT)), CRC_AT);
  return bytes;
}

function decompress(bytes: Uint8Array, checksum: number): Uint8Array {
  if (checksum !== crc32(bytes.subarray(LENGTH_AT))) throw new RangeError('a compressed text is damaged');
  const length = viewOf(bytes).getUint32(LENGTH_AT);
  if (length < MIN_COMPRESSED_BYTES || length > MAX_COMPRESSED_BYTES) {
    throw new RangeError('a compressed text says a length that none has');
  }
  const frame = bytes.subarray(FRAME_AT);
  // Whatever else is in the value would be kept with it, and may mean something to another decoder.
  if (frameLength(frame) !== frame.length) throw new RangeError('a compressed text is not one frame');
  // A chunk of one byte more than the text fills it is not full at the end, so no other is made.
  const plain = zstdDecompressSync(frame, {
    chunkSize: length + 1,
    maxOutputLength: length,
    params: { [constants.ZSTD_d_windowLogMax]: MAX_WINDOW_LOG },
  });
  if (plain.length !== length) throw new RangeError('a compressed text is of another length than it says');
  return plain;
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

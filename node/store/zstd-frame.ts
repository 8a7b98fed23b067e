/** First bytes of a frame, as a little-endian number (RFC 8878 §3.1.1). */
const MAGIC = 0xfd2fb528;
const MAGIC_BYTES = 4;
const BLOCK_HEADER_BYTES = 3;
const CHECKSUM_BYTES = 4;
/** Bytes of a dictionary's id and of the content's size, by what the descriptor of the frame says (§3.1.1.1.1). */
const DICTIONARY_ID_BYTES = [0, 1, 2, 4] as const;
const CONTENT_SIZE_BYTES = [0, 2, 4, 8] as const;
/** Type of a block that is one byte, repeated; all others take as many bytes as they say (§3.1.1.2.2). */
const REPEATED = 1;

/**
 * Bytes of the zstd frame that the bytes begin with, by its headers alone. Throws `RangeError` where they begin with no
 * frame, or it is not whole. The decoder of Node ends at the first frame and says nothing of what is behind it.
 */
export function frameLength(bytes: Uint8Array): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (view.getUint32(0, true) !== MAGIC) throw new RangeError('no zstd frame');
  const descriptor = view.getUint8(MAGIC_BYTES);
  const isSingleSegment = (descriptor & 0x20) !== 0;
  const contentSize = CONTENT_SIZE_BYTES[descriptor >> 6] ?? 0;
  let at = MAGIC_BYTES + 1;
  at += DICTIONARY_ID_BYTES[descriptor & 3] ?? 0;
  // The one segment is the window, and its size is told in a byte at least.
  at += isSingleSegment ? Math.max(1, contentSize) : 1 + contentSize;
  for (let isLast = false; !isLast;) {
    const header = view.getUint16(at, true) | (view.getUint8(at + 2) << 16);
    isLast = (header & 1) === 1;
    at += BLOCK_HEADER_BYTES + (((header >> 1) & 3) === REPEATED ? 1 : header >> 3);
  }
  return at + ((descriptor & 4) === 0 ? 0 : CHECKSUM_BYTES);
}

/** The Castagnoli polynomial, bits reversed. */
const POLYNOMIAL = 0x82f63b78;
/** LevelDB stores a CRC rotated by 15 bits plus this, so that a CRC over data that holds CRCs stays meaningful. */
const MASK_DELTA = 0xa282ead8;

/** Tk[b] is the CRC of byte b followed by k zero bytes; together they take eight bytes a step. */
const T0 = Uint32Array.from({ length: 256 }, (_, index) => crcOfByte(index));
const T1 = followedByZero(T0);
const T2 = followedByZero(T1);
const T3 = followedByZero(T2);
const T4 = followedByZero(T3);
const T5 = followedByZero(T4);
const T6 = followedByZero(T5);
const T7 = followedByZero(T6);

/** CRC-32C (RFC 3720 §B.4) of bytes. Given the CRC of earlier bytes, the CRC of those and these together. */
export function crc32c(bytes: Uint8Array, earlier = 0): number {
  const { length } = bytes;
  let crc = ~earlier;
  let at = 0;
  for (const stop = length - 7; at < stop; at += 8) {
    crc ^= byte(bytes, at) | (byte(bytes, at + 1) << 8) | (byte(bytes, at + 2) << 16) | (byte(bytes, at + 3) << 24);
    crc =
      entry(T7, crc) ^
      entry(T6, crc >>> 8) ^
      entry(T5, crc >>> 16) ^
      entry(T4, crc >>> 24) ^
      entry(T3, byte(bytes, at + 4)) ^
      entry(T2, byte(bytes, at + 5)) ^
      entry(T1, byte(bytes, at + 6)) ^
      entry(T0, byte(bytes, at + 7));
  }
  for (; at < length; at++) crc = entry(T0, crc ^ byte(bytes, at)) ^ (crc >>> 8);
  return ~crc >>> 0;
}

/** A CRC in the masked form that LevelDB stores. */
export function maskCrc(crc: number): number {
  return (((crc >>> 15) | (crc << 17)) + MASK_DELTA) >>> 0;
}

function byte(bytes: Uint8Array, at: number): number {
  return bytes[at] ?? 0;
}

function entry(table: Uint32Array, index: number): number {
  return table[index & 0xff] ?? 0;
}

function crcOfByte(value: number): number {
  let crc = value;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ POLYNOMIAL : crc >>> 1;
  return crc;
}

function followedByZero(table: Uint32Array): Uint32Array {
  return table.map((crc) => entry(T0, crc) ^ (crc >>> 8));
}

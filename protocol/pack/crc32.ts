/** The reflected polynomial of CRC-32 (ISO 3309), of which ZIP makes its check. */
const POLYNOMIAL = 0xedb88320;
const TABLES = makeTables();

/** CRC-32 of some bytes, going on from that of the bytes before them; 0 before the first. */
export function crc32(bytes: Uint8Array, before = 0): number {
  const [t0, t1, t2, t3] = TABLES;
  let crc = ~before;
  let at = 0;
  for (const end = bytes.length - (bytes.length % 4); at < end; at += 4) {
    crc ^= (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16) | ((bytes[at + 3] ?? 0) << 24);
    crc = (t3[crc & 255] ?? 0) ^ (t2[(crc >>> 8) & 255] ?? 0) ^ (t1[(crc >>> 16) & 255] ?? 0) ^ (t0[crc >>> 24] ?? 0);
  }
  for (; at < bytes.length; at++) crc = (crc >>> 8) ^ (t0[(crc ^ (bytes[at] ?? 0)) & 255] ?? 0);
  return ~crc >>> 0;
}

/** For four bytes at a time: the effect of a byte on what stands so many bytes behind it. */
function makeTables(): readonly [Uint32Array, Uint32Array, Uint32Array, Uint32Array] {
  const first = Uint32Array.from({ length: 256 }, (_, byte) => {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ POLYNOMIAL : crc >>> 1;
    return crc >>> 0;
  });
  const next = (table: Uint32Array) => table.map((crc) => (crc >>> 8) ^ (first[crc & 255] ?? 0));
  const second = next(first);
  const third = next(second);
  return [first, second, third, next(third)];
}

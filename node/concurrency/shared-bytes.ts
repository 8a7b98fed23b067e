/** Bytes in memory that threads share: a thread that is told of them gets no copy. They do not change. */
export type SharedBytes = Uint8Array<SharedArrayBuffer>;

/** Pieces as one. */
export function sharedBytes(pieces: readonly Uint8Array[]): SharedBytes {
  const bytes = new Uint8Array(new SharedArrayBuffer(pieces.reduce((sum, { length }) => sum + length, 0)));
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}

/** What they say in UTF-8. */
export function textOf({ buffer, byteOffset, byteLength }: SharedBytes): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('utf8');
}

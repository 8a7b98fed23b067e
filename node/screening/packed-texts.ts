/** Texts by number, in UTF-8. Of plain buffers alone. */
export interface PackedTexts {
  readonly bytes: Uint8Array;
  /** Where a text begins in `bytes`; one more than there are texts. */
  readonly starts: Uint32Array;
}

export function packTexts(texts: readonly string[]): PackedTexts {
  const parts = texts.map((text) => Buffer.from(text));
  const starts = new Uint32Array(parts.length + 1);
  for (const [i, { length }] of parts.entries()) starts[i + 1] = (starts[i] ?? 0) + length;
  const bytes = new Uint8Array(starts.at(-1) ?? 0);
  for (const [i, part] of parts.entries()) bytes.set(part, starts[i]);
  return { bytes, starts };
}

/** Throws `RangeError` where there is no text of the number. */
export function textAt({ bytes, starts }: PackedTexts, number: number): string {
  const start = starts[number];
  const end = starts[number + 1];
  if (start === undefined || end === undefined) throw new RangeError(`there is no text ${number}`);
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('utf8');
}

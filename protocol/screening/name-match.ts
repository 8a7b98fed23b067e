const SPACE = 0x20;
const QUOTE = 0x22;
const APOSTROPHE = 0x27;
const SIGN = 0x2d;

/** Whether the byte of a key parts two tokens. */
export function isSeparator(byte: number | undefined): boolean {
  return isWordGap(byte) || byte === APOSTROPHE;
}

/** Whether the byte of a key parts two words; one apostrophe does not. */
export function isWordGap(byte: number | undefined): boolean {
  return byte === SPACE || byte === SIGN || byte === QUOTE;
}

/**
 * Where the key of an asked name ends that stands at a place of the key of a listed one; -1 where it does not (`nameKey`,
 * in UTF-8). Tokens stand byte for byte. What parts them may differ. In the listed key a space is a space; whatever else
 * parts tokens is a space or nothing. In the asked one a space or a sign is a space; quotes and an apostrophe are a space
 * or nothing. So what a list parts by a space, and somebody asks as one word, is not the same. Anyone who has two names
 * can compare them again.
 */
export function endOfKey(listed: Uint8Array, at: number, asked: Uint8Array): number {
  let place = at;
  for (let i = 0; i < asked.length; i++, place++) {
    if (listed[place] === asked[i]) continue;
    const isParted = isSeparator(listed[place]);
    if (isSeparator(asked[i])) {
      if (isParted) continue;
      if (asked[i] === SPACE || asked[i] === SIGN) return -1;
      i++;
    } else if (isParted) {
      if (listed[place] === SPACE) return -1;
      place++;
    }
    if (listed[place] !== asked[i]) return -1;
  }
  return place;
}

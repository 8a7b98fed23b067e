/** Characters of WinAnsiEncoding outside of Latin-1 (ISO 32000-1, Annex D.2): all that the standard fonts can show. */
const BEYOND_LATIN_1 = '€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ';
/** Shown as they are. Not the backslash: it begins an escape. */
const SHOWN = new RegExp(`[\\x20-\\x5b\\x5d-\\x7e\\xa1-\\xac\\xae-\\xff${BEYOND_LATIN_1}]`, 'u');

/**
 * A text as the standard fonts of PDF can show it: any other character, and each that breaks or turns a line, is
 * written as `\u{…}`. Longer ones than `maxCharacters`, escapes counted, are cut, and the text says so.
 */
export function printable(text: string, maxCharacters: number): string {
  let shown = '';
  for (const character of text) {
    const next = SHOWN.test(character) ? character : `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
    if (shown.length + next.length > maxCharacters) return `${shown}… (${Array.from(text).length} characters)`;
    shown += next;
  }
  return shown;
}

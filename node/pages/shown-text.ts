/** Control and format characters that could reorder or hide what stands around them. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}]/gu;

/** A text of others as it is shown: what cannot be seen is an escape, `\u{202e}`. */
export function shownText(text: string): string {
  return text.replaceAll(HIDDEN, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
}

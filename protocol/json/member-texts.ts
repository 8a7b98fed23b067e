import { closingQuote } from './text.ts';

const QUOTE = 34;
const COMMA = 44;
const OPENING_BRACKET = 91;
const CLOSING_BRACKET = 93;
const OPENING_BRACE = 123;
const CLOSING_BRACE = 125;

/**
 * Texts of the members of an object, by their names, as slices of its canonical text: canonical themselves, and cheaper
 * than made again. Of a text that is not that of an object without white space it tells nothing.
 */
export function memberTexts(text: string): ReadonlyMap<string, string> {
  const members = new Map<string, string>();
  let at = 1;
  while (text.charCodeAt(at) === QUOTE) {
    const nameEnd = closingQuote(text, at + 1) + 1;
    const end = valueEnd(text, nameEnd + 1);
    members.set(nameOf(text.slice(at, nameEnd)), text.slice(nameEnd + 1, end));
    at = end + 1;
  }
  return members;
}

function nameOf(quoted: string): string {
  return quoted.includes('\\') ? String(JSON.parse(quoted)) : quoted.slice(1, -1);
}

/** Where the value that begins at `from` is over. */
function valueEnd(text: string, from: number): number {
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = closingQuote(text, at + 1);
        break;
      case OPENING_BRACE:
      case OPENING_BRACKET:
        depth++;
        break;
      case CLOSING_BRACE:
      case CLOSING_BRACKET:
        if (depth === 0) return at;
        depth--;
        break;
      case COMMA:
        if (depth === 0) return at;
    }
  }
  return text.length;
}

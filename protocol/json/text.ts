import { isJsonArray, type JsonValue } from './value.ts';

const BACKSLASH = 92;
/** Marks of stand-ins: a character that means nothing by itself, and a number. */
const MARKS = /\ue000[0-9]+\./g;
/** Deeper values are left as they are: anyone who asked refuses them. */
const MAX_RENAMED_DEPTH = 1_000;

/** The quoted text of a member's name that is written with escapes: where it begins, and where it ends. */
interface EscapedName {
  readonly start: number;
  readonly end: number;
}

/**
 * `JSON.parse` without a fault of V8 (13.6 at least): depending on what the process parsed before, it takes a name that
 * is written with an escape for another name that begins with a backslash. `{"x":{},"\\":1}` and then
 * `{"x":{},"\"":{}}` shows it. So names with escapes are parsed by themselves, and stand-ins for them in their places.
 * Throws `SyntaxError`.
 */
export function parseText(text: string): JsonValue {
  if (!text.includes('\\')) return JSON.parse(text);
  const escaped = escapedNames(text);
  if (escaped.length === 0) return JSON.parse(text);
  const mark = unusedMark(text);
  const names: string[] = [];
  let plain = '';
  let at = 0;
  for (const { start, end } of escaped) {
    plain += `${text.slice(at, start)}"${mark}${names.length}"`;
    names.push(JSON.parse(text.slice(start, end)));
    at = end;
  }
  return renamed(JSON.parse(plain + text.slice(at)), mark, names, 1);
}

/** Where the string that goes on at `from` is closed; the length of the text where it is not. */
export function closingQuote(text: string, from: number): number {
  let at = text.indexOf('"', from);
  while (at >= 0 && isEscaped(text, at)) at = text.indexOf('"', at + 1);
  return at < 0 ? text.length : at;
}

function escapedNames(text: string): EscapedName[] {
  const found: EscapedName[] = [];
  let escape = text.indexOf('\\');
  for (let start = text.indexOf('"'); start >= 0 && escape >= 0;) {
    const end = closingQuote(text, start + 1) + 1;
    if (escape < start) escape = text.indexOf('\\', start);
    if (escape >= 0 && escape < end && isName(text, end)) found.push({ start, end });
    start = text.indexOf('"', end);
  }
  return found;
}

function isName(text: string, end: number): boolean {
  let at = end;
  while (at < text.length && ' \t\n\r'.includes(text[at] ?? '')) at++;
  return text[at] === ':';
}

function isEscaped(text: string, at: number): boolean {
  let slashes = 0;
  while (text.charCodeAt(at - 1 - slashes) === BACKSLASH) slashes++;
  return slashes % 2 === 1;
}

/** One that the text does not hold; there is always one, as it holds fewer than there are numbers. */
function unusedMark(text: string): string {
  const used = new Set(text.match(MARKS));
  for (let number = 0; ; number++) {
    const mark = `\ue000${number}.`;
    if (!used.has(mark)) return mark;
  }
}

/**
 * The value with the names that the stand-ins stand for. Of two equal names the last one counts, as with `JSON.parse`.
 */
function renamed(value: JsonValue, mark: string, names: readonly string[], depth: number): JsonValue {
  if (typeof value !== 'object' || value === null || depth > MAX_RENAMED_DEPTH) return value;
  if (isJsonArray(value)) return value.map((item) => renamed(item, mark, names, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name.startsWith(mark) ? (names[Number(name.slice(mark.length))] ?? name) : name,
      renamed(member, mark, names, depth + 1),
    ]),
  );
}

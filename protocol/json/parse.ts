import { canonicalize } from './canonical.ts';
import { closingQuote, parseText } from './text.ts';
import { isJsonArray, JsonError, type JsonValue } from './value.ts';

export interface ParseOptions {
  /** Nesting of arrays and objects allowed; the top level counts as 1. */
  readonly maxDepth: number;
  /** Members and items allowed in all: what parsing costs grows with them, not with bytes. Default: no bound. */
  readonly maxValues?: number;
  /** Whether an integer is refused that a double does not hold as it is written. Default: false, it is rounded. */
  readonly exactIntegers?: boolean;
}

export const DEFAULT_MAX_DEPTH = 32;

const QUOTE = 34;
const COMMA = 44;
const COLON = 58;
const OPENING_BRACKET = 91;
const OPENING_BRACE = 123;
const ZERO = 48;
const NINE = 57;
/** The fewest digits of an integer that a double may not hold. */
const LONG_INTEGER = /[0-9]{16}/;
/** The rest of a number's text, from a digit on. */
const NUMBER = /[0-9.eE+-]*/y;
const INTEGER = /^[0-9]+$/;

/** Characters outside strings that tell of the values in a text. */
interface Outline {
  readonly colons: number;
  /** At least the number of members and items; more by the empty objects and arrays. */
  readonly values: number;
}

/**
 * Parses JSON text (RFC 8259) more strictly than JSON.parse: duplicate member names, lone surrogates, numbers beyond a
 * double's range, nesting over `maxDepth` and more than `maxValues` values are refused, and so are integers that are
 * not exact where that is asked for. Throws `JsonError` with `syntax`, `duplicate-key`, `lone-surrogate`, `non-finite`,
 * `inexact-integer`, `too-deep` or `too-many-values`.
 */
export function parseJson(text: string, options: ParseOptions = { maxDepth: DEFAULT_MAX_DEPTH }): JsonValue {
  const { colons, values } = outlineOf(text);
  const { maxDepth, maxValues = Infinity, exactIntegers = false } = options;
  if (values > maxValues) throw new JsonError('too-many-values', `more than ${maxValues} members and items`);
  let value: JsonValue;
  try {
    value = parseText(text);
  } catch (error) {
    throw new JsonError('syntax', error instanceof Error ? error.message : 'not JSON');
  }
  // JSON.parse keeps the last of two equal names, so fewer members than colons outside strings means a duplicate.
  if (countMembers(value, 1, maxDepth) !== colons) {
    throw new JsonError('duplicate-key', 'an object has two members of the same name');
  }
  if (exactIntegers) requireExactIntegers(text);
  return value;
}

/** Looks through a text that is JSON, signs aside. Throws `JsonError` `inexact-integer`. */
function requireExactIntegers(text: string): void {
  if (!LONG_INTEGER.test(text)) return;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit === QUOTE) i = closingQuote(text, i + 1);
    if (unit < ZERO || unit > NINE) continue;
    NUMBER.lastIndex = i;
    const [number = ''] = NUMBER.exec(text) ?? [];
    if (isRounded(number)) {
      throw new JsonError('inexact-integer', 'an integer is one that no double holds exactly; send it as a string');
    }
    i += number.length - 1;
  }
}

/** Of an integer: neither is it a double, nor is it written as RFC 8785 writes the one next to it. */
function isRounded(number: string): boolean {
  if (!INTEGER.test(number)) return false;
  const value = Number(number);
  return String(value) !== number && BigInt(value) !== BigInt(number);
}

/** Members and items of a text, at least as many as it has where it is JSON: what `maxValues` bounds. */
export function countValues(text: string): number {
  return outlineOf(text).values;
}

/**
 * Parses a text that must be RFC 8785 canonical to the byte: it has to equal its own re-canonicalisation.
 * Throws `JsonError`: `syntax`, `lone-surrogate`, `non-finite`, `too-deep` or `not-canonical`.
 */
export function parseCanonical(text: string): JsonValue {
  let value: JsonValue;
  try {
    value = parseText(text);
  } catch (error) {
    throw new JsonError('syntax', error instanceof Error ? error.message : 'not JSON');
  }
  if (canonicalize(value) !== text) throw new JsonError('not-canonical', 'text is not in RFC 8785 canonical form');
  return value;
}

function countMembers(value: JsonValue, depth: number, maxDepth: number): number {
  if (typeof value === 'string') return requireWellFormed(value);
  if (typeof value === 'number') return requireFinite(value);
  if (typeof value !== 'object' || value === null) return 0;
  if (depth > maxDepth) throw new JsonError('too-deep', `nesting over ${maxDepth}`);
  let members = 0;
  if (isJsonArray(value)) {
    for (const item of value) members += countMembers(item, depth + 1, maxDepth);
    return members;
  }
  for (const name of Object.keys(value)) {
    requireWellFormed(name);
    members += 1 + countMembers(value[name] ?? null, depth + 1, maxDepth);
  }
  return members;
}

function requireWellFormed(text: string): 0 {
  if (!text.isWellFormed()) throw new JsonError('lone-surrogate', 'a string holds a lone surrogate');
  return 0;
}

function requireFinite(value: number): 0 {
  if (!Number.isFinite(value)) throw new JsonError('non-finite', 'a number is beyond the range of a double');
  return 0;
}

/** Of text that need not be JSON: where a string is not closed, the rest of the text counts as part of it. */
function outlineOf(text: string): Outline {
  let colons = 0;
  let values = 0;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit === QUOTE) i = closingQuote(text, i + 1);
    else if (unit === COLON) colons++;
    else if (unit === COMMA || unit === OPENING_BRACKET || unit === OPENING_BRACE) values++;
  }
  return { colons, values };
}

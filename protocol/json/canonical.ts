import { isJsonArray, JsonError, type JsonValue } from './value.ts';

/** Nesting that a canonical text may have; far above any signed thing, far below the engine's stack. */
const MAX_DEPTH = 512;

/** A string free of anything JSON must escape can be quoted as it stands. */
const NEEDS_ESCAPE = /["\\\u0000-\u001f]/;

/**
 * RFC 8785 (JCS) canonical text of a JSON value: members sorted by UTF-16 code units, numbers as ECMAScript prints them.
 * An own member whose value is undefined is left out, as JSON.stringify does.
 * Throws `JsonError`: `non-finite` (NaN, ±Infinity), `lone-surrogate`, `too-deep`, `syntax` (not a JSON value).
 */
export function canonicalize(value: JsonValue): string {
  return canonicalText(value, 0);
}

/**
 * Canonical text of an object whose members' canonical texts are at hand: lets one pass over a value serve the texts of
 * the whole and of its parts.
 */
export function joinMembers(texts: ReadonlyMap<string, string>): string {
  let text = '{';
  for (const name of [...texts.keys()].sort()) {
    if (text.length > 1) text += ',';
    text += `${canonicalString(name)}:${texts.get(name) ?? 'null'}`;
  }
  return `${text}}`;
}

function canonicalText(value: JsonValue | undefined, depth: number): string {
  if (typeof value === 'string') return canonicalString(value);
  if (typeof value === 'number') return canonicalNumber(value);
  if (value === null) return 'null';
  if (value === true) return 'true';
  if (value === false) return 'false';
  if (typeof value !== 'object') throw new JsonError('syntax', `a ${typeof value} is not a JSON value`);
  if (depth >= MAX_DEPTH) throw new JsonError('too-deep', `nesting over ${MAX_DEPTH}`);
  if (isJsonArray(value)) return `[${value.map((item) => canonicalText(item, depth + 1)).join(',')}]`;
  const texts = new Map<string, string>();
  for (const name of Object.keys(value)) {
    const member = value[name];
    if (member !== undefined) texts.set(name, canonicalText(member, depth + 1));
  }
  return joinMembers(texts);
}

function canonicalNumber(value: number): string {
  if (!Number.isFinite(value)) throw new JsonError('non-finite', `${value} has no JSON form`);
  return Object.is(value, -0) ? '0' : String(value);
}

function canonicalString(value: string): string {
  if (!value.isWellFormed()) throw new JsonError('lone-surrogate', 'a string holds a lone surrogate');
  return NEEDS_ESCAPE.test(value) ? JSON.stringify(value) : `"${value}"`;
}

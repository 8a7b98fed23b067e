import { isJsonArray, JsonError, type JsonValue } from './value.ts';

/** Nesting that a canonical text may have; far above any signed thing, far below the engine's stack. */
const MAX_DEPTH = 512;

/**
 * RFC 8785 (JCS) canonical text of a JSON value: members sorted by UTF-16 code units, numbers as ECMAScript prints them.
 * An own member whose value is undefined is left out, as JSON.stringify does.
 * Throws `JsonError`: `non-finite` (NaN, ±Infinity), `lone-surrogate`, `too-deep`, `syntax` (not a JSON value).
 */
export function canonicalize(value: JsonValue): string {
  return isInOrder(value, 0) ? JSON.stringify(value) : canonicalText(value, 0);
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

/**
 * Whether ECMAScript's own serialisation of the value is the canonical one: every object's members enumerate in order,
 * and nothing in it needs refusing. What this package writes itself is, so its texts cost one native call.
 */
function isInOrder(value: JsonValue | undefined, depth: number): boolean {
  if (typeof value === 'string') return value.isWellFormed();
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object') return typeof value === 'boolean';
  if (value === null) return true;
  if (depth >= MAX_DEPTH) return false;
  if (isJsonArray(value)) return value.every((item) => isInOrder(item, depth + 1));
  let previous: string | undefined;
  for (const name of Object.keys(value)) {
    if ((previous !== undefined && name < previous) || !name.isWellFormed()) return false;
    if (!isInOrder(value[name], depth + 1)) return false;
    previous = name;
  }
  return true;
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
  let text = '{';
  for (const name of Object.keys(value).sort()) {
    const member = value[name];
    if (member === undefined) continue;
    if (text.length > 1) text += ',';
    text += `${canonicalString(name)}:${canonicalText(member, depth + 1)}`;
  }
  return `${text}}`;
}

function canonicalNumber(value: number): string {
  if (!Number.isFinite(value)) throw new JsonError('non-finite', `${value} has no JSON form`);
  return Object.is(value, -0) ? '0' : String(value);
}

function canonicalString(value: string): string {
  if (!value.isWellFormed()) throw new JsonError('lone-surrogate', 'a string holds a lone surrogate');
  return JSON.stringify(value);
}

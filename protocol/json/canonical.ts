import { isJsonArray, JsonError, type JsonObject, type JsonValue } from './value.ts';

/** Nesting that a canonical text may have; far above any signed thing, far below the engine's stack. */
const MAX_DEPTH = 512;
/** Names of an object that are put in order one by one. */
const MAX_INSERTED = 24;
const ZERO = 48;
const NINE = 57;

/**
 * RFC 8785 (JCS) canonical text of a JSON value: members sorted by UTF-16 code units, numbers as ECMAScript prints
 * them. An own member whose value is undefined is left out, as JSON.stringify does. Throws `JsonError`: `non-finite`
 * (NaN, ±Infinity), `lone-surrogate`, `too-deep`, `syntax` (not a JSON value).
 */
export function canonicalize(value: JsonValue): string {
  const ordered = inOrder(value, 0);
  return ordered === undefined ? canonicalText(value, 0) : JSON.stringify(ordered);
}

/**
 * Canonical text of an object whose members' canonical texts are at hand: lets one pass over a value serve the texts of
 * the whole and of its parts.
 */
export function joinMembers(texts: ReadonlyMap<string, string>): string {
  // Joined they are one text; added up, they would be held as a tree of pieces until somebody reads it.
  const parts = ['{'];
  for (const name of sorted([...texts.keys()])) {
    if (parts.length > 1) parts.push(',');
    parts.push(canonicalString(name), ':', texts.get(name) ?? 'null');
  }
  parts.push('}');
  return parts.join('');
}

/**
 * The value with every object's members in order, of which ECMAScript's own serialisation is the canonical text, in one
 * native call: itself where they are, as in all that this package writes. Undefined where something in it may need
 * refusing, or no object enumerates its members so.
 */
function inOrder(value: JsonValue | undefined, depth: number): JsonValue | undefined {
  if (typeof value === 'string') return value.isWellFormed() ? value : undefined;
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined;
  if (typeof value !== 'object') return typeof value === 'boolean' ? value : undefined;
  if (value === null) return value;
  if (depth >= MAX_DEPTH) return undefined;
  return isJsonArray(value) ? itemsInOrder(value, depth) : membersInOrder(value, depth);
}

function itemsInOrder(value: readonly JsonValue[], depth: number): readonly JsonValue[] | undefined {
  let copy: JsonValue[] | undefined;
  for (let i = 0; i < value.length; i++) {
    const item = inOrder(value[i], depth + 1);
    if (item === undefined) return undefined;
    if (copy === undefined && item !== value[i]) copy = [...value];
    if (copy !== undefined) copy[i] = item;
  }
  return copy ?? value;
}

function membersInOrder(value: JsonObject, depth: number): JsonObject | undefined {
  const names = Object.keys(value);
  let copy: Record<string, JsonValue> | undefined;
  if (!isSorted(names)) {
    if (!names.every(staysInPlace)) return undefined;
    sorted(names);
    copy = {};
  }
  for (const name of names) {
    const given = value[name];
    const member = inOrder(given, depth + 1);
    if (member === undefined || !name.isWellFormed()) return undefined;
    if (copy !== undefined) copy[name] = member;
    else if (member !== given) copy = { ...value, [name]: member };
  }
  return copy ?? value;
}

function isSorted(names: readonly string[]): boolean {
  for (let i = 1; i < names.length; i++) if ((names[i] ?? '') < (names[i - 1] ?? '')) return false;
  return true;
}

/** The names themselves, by UTF-16 code units. The engine's own sort makes copies, which for a few names cost most of it. */
function sorted(names: string[]): string[] {
  if (names.length > MAX_INSERTED) return names.sort();
  for (let i = 1; i < names.length; i++) {
    const name = names[i] ?? '';
    let at = i;
    for (let before = names[at - 1]; before !== undefined && before > name; before = names[at - 1]) {
      names[at] = before;
      at--;
    }
    names[at] = name;
  }
  return names;
}

/** Whether a member of this name comes after those set before it: integers come first, and one name sets none. */
function staysInPlace(name: string): boolean {
  const first = name.charCodeAt(0);
  return !(first >= ZERO && first <= NINE) && name !== '__proto__';
}

function canonicalText(value: JsonValue | undefined, depth: number): string {
  if (typeof value === 'string') return canonicalString(value);
  if (typeof value === 'number') return canonicalNumber(value);
  if (value === null) return 'null';
  if (value === true) return 'true';
  if (value === false) return 'false';
  if (typeof value !== 'object') throw new JsonError('syntax', `a ${typeof value} is not a JSON value`);
  if (depth >= MAX_DEPTH) throw new JsonError('too-deep', `nesting over ${MAX_DEPTH}`);
  if (isJsonArray(value)) return `[${Array.from(value, (item) => canonicalText(item, depth + 1)).join(',')}]`;
  let text = '{';
  for (const name of sorted(Object.keys(value))) {
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

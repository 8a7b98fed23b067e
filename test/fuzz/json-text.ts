import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../../protocol/json/value.ts';
import type { Random } from './random.ts';

/** Text that stands for a value where no value could: beyond a double, not well-formed, or too deep to build. */
export interface RawText {
  readonly raw: string;
}

/** Members that mean something to a program that is careless with them. */
const TRAPS = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'valueOf', '', '$ref', 'toJSON'];
const DEPTHS = [10, 31, 32, 33, 500, 20_000];

const VALUES: readonly ((random: Random) => JsonValue | RawText)[] = [
  () => null,
  () => true,
  () => 0,
  () => -1,
  () => 1.5,
  () => '',
  () => 'x',
  () => [],
  () => ({}),
  () => [[]],
  () => [null],
  () => ({ a: 1 }),
  () => ' ',
  () => 'y'.repeat(10_000),
  () => '\u0000',
  () => '\u202e\u200b\ufeff',
  () => '😀'.repeat(300),
  () => '../../etc/passwd',
  () => "'; DROP TABLE records; --",
  () => 'att_zz_01KAJ5M0E8Q2V7XN4T9RCB6WDZ',
  () => '2026-13-45T99:99:99Z',
  () => '9999-12-31T23:59:59.999Z',
  () => '2016-12-31T23:59:60Z',
  () => '0000-01-01T00:00:00+23:59',
  () => ({ raw: '1e400' }),
  () => ({ raw: '-1e400' }),
  () => ({ raw: '-0' }),
  () => ({ raw: '9007199254740993' }),
  () => ({ raw: '123456789012345678901234567890' }),
  () => ({ raw: '1e-400' }),
  () => ({ raw: '01' }),
  () => ({ raw: 'NaN' }),
  () => ({ raw: '"\\ud800"' }),
  () => ({ raw: '"\\udc00\\ud800"' }),
  () => ({ raw: '"\\u0000"' }),
  () => ({ raw: '{"__proto__":{"polluted":true}}' }),
  () => ({ raw: '{"constructor":{"prototype":{"polluted":true}}}' }),
  (random) => nested(random.pick(DEPTHS), '[', ']'),
  (random) => nested(random.pick(DEPTHS), '{"a":', '}'),
  (random) => Array.from({ length: random.pick([21, 101, 1_001]) }, () => 'z'),
  (random) => Array.from({ length: random.int(30) }, () => ({ id: 1, __proto: [] })),
];

/** A body with one thing in it that does not belong there: another value, a missing member, a name that is a trap. */
export function spoil(body: JsonObject, members: readonly string[], random: Random): string {
  const value = random.pick(VALUES)(random);
  const name = random.pick([...members, ...Object.keys(body), 'unknown']);
  switch (random.int(6)) {
    case 0:
      return textOf(body, { drop: name });
    case 1:
      return textOf(body, { at: random.pick(TRAPS), put: value });
    case 2:
    case 3:
      return textOf(spoilInside(body, random, value), {});
    default:
      return textOf(body, { at: name, put: value });
  }
}

/** Another value at a place somewhere inside. */
function spoilInside(value: JsonValue, random: Random, put: JsonValue | RawText): JsonValue | RawText {
  if (isJsonArray(value) && value.length > 0 && random.chance(0.8)) {
    const at = random.int(value.length);
    return { raw: `[${value.map((item, i) => write(i === at ? spoilInside(item, random, put) : item)).join(',')}]` };
  }
  if (isJsonObject(value) && Object.keys(value).length > 0 && random.chance(0.8)) {
    const at = random.pick(Object.keys(value));
    const inner = spoilInside(value[at] ?? null, random, put);
    const name = random.chance(0.2) ? random.pick(TRAPS) : at;
    return { raw: textOf(value, { drop: at, at: name, put: inner }) };
  }
  return put;
}

/** The text of an object with one member left out, and another put in its place or added. */
function textOf(
  body: JsonValue | RawText,
  { drop, at, put }: { drop?: string; at?: string; put?: JsonValue | RawText },
): string {
  if (!isJsonObject(body) || isRaw(body)) return write(body);
  const members = Object.entries(body).filter(([name]) => name !== drop && name !== at);
  const written = members.map(([name, value]) => `${JSON.stringify(name)}:${write(value)}`);
  if (at !== undefined && put !== undefined) written.push(`${JSON.stringify(at)}:${write(put)}`);
  return `{${written.join(',')}}`;
}

function write(value: JsonValue | RawText): string {
  return isRaw(value) ? value.raw : JSON.stringify(value);
}

function isRaw(value: JsonValue | RawText): value is RawText {
  return isJsonObject(value) && typeof value.raw === 'string' && Object.keys(value).length === 1;
}

function nested(depth: number, open: string, close: string): RawText {
  return { raw: `${open.repeat(depth)}1${close.repeat(depth)}` };
}

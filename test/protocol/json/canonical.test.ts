import { readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { encodeHex, utf8 } from '../../../protocol/bytes.ts';
import { canonicalize } from '../../../protocol/json/canonical.ts';
import { parseCanonical, parseJson } from '../../../protocol/json/parse.ts';
import { isJsonObject, JsonError, type JsonErrorCode, type JsonValue } from '../../../protocol/json/value.ts';
import { fc } from '../../fixtures/properties.ts';

interface Fixture {
  readonly numbers: readonly { readonly ieee754: string; readonly text: string }[];
  readonly notFinite: readonly string[];
  readonly sorting: { readonly input: string; readonly values: readonly string[] };
  readonly texts: readonly { readonly name: string; readonly input: string; readonly utf8: string }[];
}

const fixture: Fixture = JSON.parse(readFileSync(new URL('../../fixtures/rfc8785.json', import.meta.url), 'utf8'));
const anyJson = fc.jsonValue({ stringUnit: 'binary', maxDepth: 5 }) as fc.Arbitrary<JsonValue>;

test('writes every number of RFC 8785 appendix B as the RFC does', () => {
  assert.is(fixture.numbers.length, 24);
  for (const { ieee754, text } of fixture.numbers) {
    assert.is(canonicalize(doubleOf(ieee754)), text, ieee754);
    assert.is(canonicalize(Number(text)), text, text);
  }
});

test('refuses numbers that are not finite', () => {
  for (const bits of fixture.notFinite) assertRefused('non-finite', () => canonicalize([doubleOf(bits)]));
});

test('sorts members by UTF-16 code units, as RFC 8785 section 3.2.3 shows', () => {
  const text = canonicalize(parseJson(fixture.sorting.input));
  const at = fixture.sorting.values.map((value) => text.indexOf(JSON.stringify(value)));
  assert.equal(
    at,
    at.toSorted((a, b) => a - b),
  );
  assert.ok(at.every((place) => place > 0));
  assert.is(at.length, 7);
});

for (const { name, input, utf8: bytes } of fixture.texts) {
  test(`gives the published bytes of the example "${name}"`, () => {
    assert.is(encodeHex(utf8(canonicalize(parseJson(input)))), bytes);
  });
}

test('refuses lone surrogates in values and in names', () => {
  assertRefused('lone-surrogate', () => canonicalize('\ud800'));
  assertRefused('lone-surrogate', () => canonicalize(['a\udc00b']));
  assertRefused('lone-surrogate', () => canonicalize({ '\ud83d': 1 }));
  assert.is(canonicalize('\ud83d\ude00'), '"😀"');
});

test('refuses nesting that could exhaust the stack', () => {
  let deep: JsonValue = 1;
  for (let i = 0; i < 100_000; i++) deep = [deep];
  assertRefused('too-deep', () => canonicalize(deep));
});

test('writes a member called __proto__ like any other', () => {
  const text = '{"__proto__":{"a":1},"constructor":2}';
  assert.is(canonicalize(parseJson(text)), text);
});

test('the text of a value is JSON of that value, and canonical', () => {
  fc.assert(
    fc.property(anyJson, (value) => {
      const text = canonicalize(value);
      assert.is(canonicalize(JSON.parse(text)), text);
      assert.is(canonicalize(parseCanonical(text)), text);
    }),
  );
});

test('the text is that of a writer which sorts the members of each object and joins them', () => {
  const tricky = ['', '10', '9', '1a', '-1', '__proto__', 'toJSON', 'é', '\ud83d\ude00', '\uffff'];
  const names = fc.constantFrom('b', 'a', ...tricky);
  const { value } = fc.letrec<{ value: JsonValue }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.string(), fc.boolean(), fc.constant(null)),
      fc.array(tie('value'), { maxLength: 4 }),
      fc.array(fc.tuple(names, tie('value')), { maxLength: 6 }).map((members) => Object.fromEntries(members)),
    ),
  }));
  fc.assert(fc.property(value, (any) => assert.is(canonicalize(any), joined(any))));
});

test('objects of any number of members have them in order', () => {
  const names = fc.uniqueArray(fc.string({ maxLength: 3 }), { maxLength: 60 });
  fc.assert(
    fc.property(names, (all) => {
      const object = Object.fromEntries(all.map((name) => [`a${name}`, 1]));
      assert.is(canonicalize(object), joined(object));
    }),
  );
});

test('a value is left as it is, whether its members are in order or not', () => {
  const value = { b: [{ d: 1, c: 2 }], a: { y: -0, x: [] } };
  const before = JSON.stringify(value);
  assert.is(canonicalize(value), '{"a":{"x":[],"y":0},"b":[{"c":2,"d":1}]}');
  assert.is(JSON.stringify(value), before);
  assert.is(canonicalize({ a: { d: 1, c: 2 }, b: 1 }), '{"a":{"c":2,"d":1},"b":1}');
  assert.is(canonicalize(JSON.parse('{"a":{"d":1,"c":2},"__proto__":3}')), '{"__proto__":3,"a":{"c":2,"d":1}}');
});

test('equal values give equal text, whatever the order and spelling they came in', () => {
  fc.assert(
    fc.property(anyJson, (value) => {
      assert.is(canonicalize(reversed(value)), canonicalize(value));
      assert.is(canonicalize(parseJson(JSON.stringify(value, null, 2), { maxDepth: 64 })), canonicalize(value));
    }),
  );
});

test('only the canonical text of a value is canonical', () => {
  for (const text of [
    ' 1',
    '1 ',
    '1.0',
    '1e0',
    '-0',
    '"\\u0041"',
    '"\\/"',
    '[1, 2]',
    '{"b":1,"a":2}',
    '{"a":1,"a":1}',
  ]) {
    assertRefused('not-canonical', () => parseCanonical(text));
  }
  assertRefused('syntax', () => parseCanonical(''));
  assertRefused('syntax', () => parseCanonical('\ufeff1'));
  assertRefused('non-finite', () => parseCanonical('1e999'));
  assertRefused('lone-surrogate', () => parseCanonical('"\\ud800"'));
});

function doubleOf(bits: string): number {
  const view = new DataView(new ArrayBuffer(8));
  view.setBigUint64(0, BigInt(`0x${bits}`));
  return view.getFloat64(0);
}

/** The same value, with the members of every object added in the opposite order. */
function reversed(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(reversed);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([name, member]) => [name, reversed(member)]),
  );
}

/** RFC 8785 by its letter: names sorted, each string and number by itself. */
function joined(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(joined).join(',')}]`;
  if (!isJsonObject(value)) return Object.is(value, -0) ? '0' : JSON.stringify(value);
  const names = Object.keys(value).sort();
  return `{${names.map((name) => `${JSON.stringify(name)}:${joined(value[name] ?? null)}`).join(',')}}`;
}

function assertRefused(code: JsonErrorCode, act: () => unknown): void {
  assert.throws(act, (error: unknown) => error instanceof JsonError && error.code === code);
}

test.run();

import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { DEFAULT_MAX_DEPTH, parseJson } from '../../../protocol/json/parse.ts';
import { isJsonObject, JsonError, type JsonErrorCode, type JsonValue } from '../../../protocol/json/value.ts';
import { fc } from '../../fixtures/properties.ts';

const DEEP = { maxDepth: 64 };
const anyJson = fc.jsonValue({ stringUnit: 'binary', maxDepth: 5 }) as fc.Arbitrary<JsonValue>;

test('reads everything that JSON.parse reads, to the same value', () => {
  fc.assert(
    fc.property(anyJson, fc.nat(3), (value, indent) => {
      const text = JSON.stringify(value, null, indent);
      assert.equal(parseJson(text, DEEP), JSON.parse(text));
    }),
  );
});

test('reads any text exactly when JSON.parse does, but for what it refuses on purpose', () => {
  const fragments = fc.constantFrom(
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '"',
    '\\',
    '\\"',
    'a',
    '"a"',
    '"b":',
    '1',
    'e9',
    ' ',
    '\\u003a',
  );
  fc.assert(
    fc.property(fc.array(fragments, { maxLength: 12 }), (parts) => {
      const text = parts.join('');
      const ours = outcome(() => parseJson(text));
      const theirs = outcome(() => JSON.parse(text));
      if (ours === 'duplicate-key' || ours === 'lone-surrogate' || ours === 'non-finite') return;
      assert.is(ours === 'syntax', theirs === 'failed', text);
    }),
    { numRuns: 3000 },
  );
});

test('finds a doubled member at any depth, however its name is spelled', () => {
  const spelling = (name: string, escape: boolean) =>
    escape
      ? `"${[...name].map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')}"`
      : JSON.stringify(name);
  const names = fc.constantFrom('a', ':', '"', '\\', '{', '__proto__', '', 'a:b', '\n');
  fc.assert(
    fc.property(anyJson, anyJson, names, fc.boolean(), fc.boolean(), fc.nat(6), (one, other, name, e1, e2, depth) => {
      const first = `${spelling(name, e1)} : ${JSON.stringify(one)}`;
      const twice = `{${first}, "between": [":", "\\"", "\\\\"], ${spelling(name, e2)}:${JSON.stringify(other)}}`;
      const once = `{${first}, "between": [":", "\\"", "\\\\"]}`;
      const nest = (text: string) => `${'[{"x":'.repeat(depth)}${text}${'}]'.repeat(depth)}`;
      assertRefused('duplicate-key', nest(twice));
      assert.equal(parseJson(nest(once), DEEP), JSON.parse(nest(once)));
    }),
  );
});

test('counts members and items, empty or not, in strings or not, and refuses too many before it parses', () => {
  const limit = (maxValues: number) => ({ maxDepth: 64, maxValues });
  const text = '{"a,[{:":[1,"\\",[{",{}],"b":{"c":null}}';
  assert.equal(parseJson(text, limit(7)), JSON.parse(text));
  assert.is(
    outcome(() => parseJson(text, limit(5))),
    'too-many-values',
  );
  assert.is(
    outcome(() => parseJson('[,,,,,,', limit(5))),
    'too-many-values',
    'broken text need not be parsed',
  );
  assert.is(
    outcome(() => parseJson('{"never closed', limit(5))),
    'syntax',
  );
  fc.assert(
    fc.property(anyJson, (value) => {
      const { length } = JSON.stringify(value);
      assert.equal(parseJson(JSON.stringify(value), limit(length)), JSON.parse(JSON.stringify(value)));
    }),
  );
});

test('keeps a member called __proto__ an own member, and touches no prototype', () => {
  const value = parseJson('{"__proto__":{"polluted":true},"toString":1}');
  assert.ok(isJsonObject(value));
  assert.equal(Object.keys(value), ['__proto__', 'toString']);
  assert.is(Object.getPrototypeOf(value), Object.prototype);
  assert.not('polluted' in {});
  assertRefused('duplicate-key', '{"__proto__":1,"__proto__":2}');
});

test('refuses lone surrogates, in values and names', () => {
  assertRefused('lone-surrogate', '"\\ud800"');
  assertRefused('lone-surrogate', '["\\udc00\\ud800"]');
  assertRefused('lone-surrogate', '{"\\ud800":1}');
  assertRefused('lone-surrogate', '"\ud800"');
  assert.is(parseJson('"\\ud83d\\ude00"'), '😀');
});

test('refuses numbers beyond the range of a double', () => {
  for (const text of ['1e400', '[-1e309]', '{"a":1e999}']) assertRefused('non-finite', text);
  assert.is(parseJson('1.7976931348623157e308'), Number.MAX_VALUE);
});

test('refuses integers that no double holds, where exact ones are asked for', () => {
  const exact = { ...DEEP, exactIntegers: true };
  const rounded = ['9007199254740993', '-9007199254740993', '12345678901234567890', '123456789012345678901234567890'];
  for (const number of rounded) {
    for (const text of [number, `[0,${number}]`, `{"a":{"b":${number} }}`, `{"${number}":[ ${number}\n]}`]) {
      assertRefused('inexact-integer', text, exact);
      assert.equal(parseJson(text, DEEP), JSON.parse(text));
    }
  }
  const held = ['9007199254740992', '-9007199254740994', '1180591620717411303424', '12345678901234567000', '0'];
  const others = ['0.12345678901234567890', '1.2345678901234567890e3', '9007199254740993.0', '"9007199254740993"'];
  const inStrings = ['{"9007199254740993\\"":1}', '["\\\\",9007199254740992,"\\"9007199254740993"]'];
  for (const text of [...held, ...others, ...inStrings]) assert.equal(parseJson(text, exact), JSON.parse(text), text);
  fc.assert(
    fc.property(fc.bigInt({ min: -(2n ** 80n), max: 2n ** 80n }), (integer) => {
      const text = `{"n":[${integer}]}`;
      const isHeld = BigInt(Number(integer)) === integer || String(Number(integer)) === String(integer);
      assert.is(
        outcome(() => parseJson(text, exact)),
        isHeld ? 'read' : 'inexact-integer',
        text,
      );
    }),
  );
  fc.assert(fc.property(anyJson, (value) => void parseJson(JSON.stringify(value), exact)));
});

test('counts nesting from one, and refuses one level too many', () => {
  const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
  assert.ok(parseJson(nested(DEFAULT_MAX_DEPTH)));
  assertRefused('too-deep', nested(DEFAULT_MAX_DEPTH + 1), { maxDepth: DEFAULT_MAX_DEPTH });
  assertRefused('too-deep', nested(200_000));
  assertRefused('too-deep', '{"a":'.repeat(40) + '1' + '}'.repeat(40), { maxDepth: 32 });
});

test('refuses what is not JSON', () => {
  for (const text of ['', ' ', 'undefined', 'NaN', "{'a':1}", '[1,]', '{"a":1,}', '01', '\ufeff{}', '{"a":1}{"a":1}']) {
    assertRefused('syntax', text);
  }
});

test('takes time in proportion to the text, backslashes and colons included', () => {
  const half = 200_000;
  for (const unit of ['\\\\', '\\"', ':', '\\u003a']) {
    const text = `["${unit.repeat(half)}"]`;
    const start = performance.now();
    parseJson(text);
    assert.ok(performance.now() - start < 5_000, `${unit} took ${performance.now() - start} ms`);
  }
});

function assertRefused(code: JsonErrorCode, text: string, options = DEEP): void {
  assert.throws(
    () => parseJson(text, options),
    (error: unknown) => error instanceof JsonError && error.code === code,
  );
}

function outcome(act: () => unknown): JsonErrorCode | 'failed' | 'read' {
  try {
    act();
    return 'read';
  } catch (error) {
    return error instanceof JsonError ? error.code : 'failed';
  }
}

test.run();

import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { parseText } from '../../../protocol/json/text.ts';
import { fc } from '../../fixtures/properties.ts';

/** A text, and its value by its own making: JSON.parse is not believed here. */
const key = fc.constantFrom(
  'x',
  'a b',
  '\\',
  '"',
  '\n',
  '\\n',
  '\u{1f600}',
  '__proto__',
  '\ue000',
  '\ue0000',
  '\ue0000.',
  '\ue0000.0',
  'k\\',
  '',
);
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom<unknown>(null, 0, 'x', '\\', '"', ':', '"x":1', '\\"'),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(key, tie('value'), { maxKeys: 4, noNullPrototype: true }),
  ),
}));

test('whatever was parsed before, a name is the one that is written', () => {
  fc.assert(
    fc.property(value, fc.constantFrom(undefined, 1, '\t'), (whole, space) => {
      const text = JSON.stringify(whole, null, space);
      assert.is(JSON.stringify(parseText(text), null, space), text);
    }),
    { numRuns: 1_000 },
  );
});

test('a name with an escape is not taken for one that begins with a backslash', () => {
  JSON.parse('{"x":{},"\\\\":1}');
  const found = parseText('{"x":{},"\\"":{"q":1}}');
  assert.equal(Object.keys(Object(found)), ['x', '"']);
});

test('nor where the text holds every private-use character, and marks of stand-ins', () => {
  const characters = Array.from({ length: 6_400 }, (_, i) => String.fromCharCode(0xe000 + i)).join('');
  for (const held of [characters, '\ue0000.', '\ue0000.0', '\ue0001.\ue0000.\ue0002.1']) {
    JSON.parse(`{"${held}":0,"a":{"x":{},"\\\\":1}}`);
    const found = parseText(`{"${held}":0,"a":{"x":{},"\\u0041":1}}`);
    assert.equal(found, { [held]: 0, a: { x: {}, A: 1 } });
  }
});

test('names may be written in any way, and the last of two equal ones counts', () => {
  assert.equal(parseText('{"\\u0061":1}'), { a: 1 });
  assert.equal(parseText('{"a":1,"\\u0061" : 2}'), { a: 2 });
  assert.equal(parseText('{"a":"\\"b\\":"}'), { a: '"b":' });
});

test('what is no JSON is a syntax error, wherever the fault is', () => {
  for (const text of [
    '{"\\x":1}',
    '{"\\":1}',
    '{"\\"":}',
    '{"\\""1}',
    '{"\\u12":1}',
    '"\\',
    '{"\\"":1} x',
    '\\',
    '{"a\nb\\"":1}',
  ]) {
    assert.throws(
      () => parseText(text),
      (error: unknown) => error instanceof SyntaxError,
      text,
    );
  }
});

test('long and deep texts cost no more than to be read', () => {
  const many = `{${Array.from({ length: 20_000 }, (_, i) => `"\\u0061${i}":"b"`).join(',')}}`;
  assert.is(Object.keys(Object(parseText(many))).length, 20_000);
  const deep = `${'{"\\"":'.repeat(5_000)}1${'}'.repeat(5_000)}`;
  assert.ok(parseText(deep) !== null);
  const strings = `["\\\\",${'"",'.repeat(200_000)}"\\\\"]`;
  assert.is(Object(parseText(strings)).length, 200_002);
  const marks = Array.from({ length: 200_000 }, (_, i) => `\ue000${i}.`).join('');
  const digits = `\ue000${'1'.repeat(1_000_000)}`;
  assert.equal(parseText(`{"\\"":"${marks}${digits}"}`), { '"': `${marks}${digits}` });
});

test.run();

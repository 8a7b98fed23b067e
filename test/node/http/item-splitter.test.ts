import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { parseText } from '../../../protocol/json/text.ts';
import { ItemSplitter, SplitError, type SplitLimits, type SplitText } from '../../../node/http/item-splitter.ts';
import { fc } from '../../fixtures/properties.ts';

const LIMITS: SplitLimits = {
  member: 'records',
  maxItems: 100,
  maxItemBytes: 1_000,
  maxSkeletonBytes: 10_000,
  maxValues: 10_000,
};

function split(text: string, limits: Partial<SplitLimits> = {}, step = 7): SplitText {
  const splitter = new ItemSplitter(Buffer.from(text), { ...LIMITS, ...limits });
  while (splitter.advance(step));
  return splitter.finish();
}

/** What parsing the two halves comes to, or null where either is no JSON. */
function parsed(text: string): unknown {
  const { skeleton, items } = split(text);
  try {
    const head: unknown = parseText(String(skeleton));
    const values: unknown[] = items.map((item) => parseText(String(item)));
    return values.length === 0 ? head : { ...Object(head), records: values };
  } catch {
    return null;
  }
}

function whole(text: string): unknown {
  try {
    return parseText(text);
  } catch {
    return null;
  }
}

const attackerKey = fc.constantFrom('records', 'record', '"', '\\', 'a":[', '\\"records', ']', '{', '\u{1f600}');
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom<unknown>(null, true, 0, -1.5e3, '', '\\', '"', '[{', ']}', ',', 'records'),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(attackerKey, tie('value'), { maxKeys: 3 }),
  ),
}));

test('the halves of any object parse to what the whole does', () => {
  const object = fc.tuple(fc.dictionary(attackerKey, value, { maxKeys: 3 }), fc.array(value, { maxLength: 5 }));
  fc.assert(
    fc.property(object, fc.constantFrom(undefined, 1, '\t'), ([other, records], space) => {
      const text = JSON.stringify({ ...other, records }, null, space);
      assert.equal(parsed(text), whole(text));
    }),
    { numRuns: 500 },
  );
});

test('a text that is cut or changed anywhere is JSON exactly where its halves are', () => {
  const text = '{"a":[1,"]"],"records":[{"d":"\\""},[2,{}],"x"],"b":{"records":[3]}}';
  for (let at = 0; at < text.length; at++) {
    for (const put of ['', ',', ']', '}', '[', '"', '\\', '0']) {
      const changed = text.slice(0, at) + put + text.slice(at + 1);
      const { items } = split(changed);
      if (items.length > 0) assert.equal(parsed(changed) === null, whole(changed) === null, changed);
    }
  }
});

test('only the first member of the name is split, whatever way its name is written', () => {
  assert.is(split('{"\\u0072ecords":[1,2]}').items.length, 2);
  const { skeleton, items } = split('{"records":[1],"records":[2]}');
  assert.equal([String(skeleton), items.length], ['{"records":[0],"records":[2]}', 1]);
  assert.is(split('{"x":{"records":[1]},"y":"records"}').items.length, 0);
  assert.is(split('{"records":[ ]}').items.length, 0);
});

test('of a text that is a list the items are its own', () => {
  fc.assert(
    fc.property(fc.array(value, { maxLength: 5 }), fc.constantFrom(undefined, 1, '\t'), (records, space) => {
      const { skeleton, items } = split(JSON.stringify(records, null, space), { member: null });
      assert.equal(
        parseText(String(skeleton)),
        records.map(() => 0),
      );
      assert.equal(
        items.map((item) => parseText(String(item))),
        records.map((record) => parseText(JSON.stringify(record))),
      );
    }),
    { numRuns: 300 },
  );
  const cut = (text: string) => [
    String(split(text, { member: null }).skeleton),
    split(text, { member: null }).items.length,
  ];
  assert.equal(cut('[1],[2]'), ['[0],[2]', 1]);
  assert.equal(cut('{"a":[1]}'), ['{"a":[1]}', 0]);
  assert.equal(cut('1,[2]'), ['1,[2]', 0]);
});

test('what is over a bound is named', () => {
  const fault = (text: string, limits: Partial<SplitLimits>): unknown => {
    try {
      split(text, limits);
      return null;
    } catch (error) {
      return error instanceof SplitError ? [error.fault, error.index] : error;
    }
  };
  assert.equal(fault('{"records":[1,2,3]}', { maxItems: 2 }), ['too-many-items', 2]);
  assert.equal(fault(`{"records":[1,"${'x'.repeat(30)}"]}`, { maxItemBytes: 30 }), ['item-too-large', 1]);
  assert.equal(fault(`{"records":[${' '.repeat(40)}]}`, { maxItemBytes: 30 }), ['item-too-large', 0]);
  assert.equal(fault(`{"a":"${'x'.repeat(30)}"}`, { maxSkeletonBytes: 30 }), ['skeleton-too-large', 0]);
  assert.equal(fault('{"records":[[1,2,3,4,5]]}', { maxValues: 4 }), ['too-many-values', 0]);
});

test.run();

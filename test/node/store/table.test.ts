import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Type from 'typebox';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Operation } from '../../../node/store/operation.ts';
import { Store } from '../../../node/store/store.ts';
import { bytesCodec, jsonTable, numberCodec, Table, textCodec } from '../../../node/store/table.ts';
import { fc } from '../../fixtures/properties.ts';

const directory = await mkdtemp(join(tmpdir(), 'meridian-table-'));
const store = await Store.open(directory);
const numbers = new Table('number', numberCodec);
const neighbours = new Table('number-2', numberCodec);
const texts = new Table('text', textCodec);

test.after(async () => {
  await store[Symbol.asyncDispose]();
  await rm(directory, { recursive: true });
});

const ordinal = fc.oneof(fc.nat(40), fc.nat(), fc.maxSafeNat());

async function filled(values: readonly number[]): Promise<readonly number[]> {
  const old = await Array.fromAsync(numbers.under(store, []));
  await store.write(old.map(([parts]) => numbers.del(...parts)));
  await store.write(values.flatMap((value) => [numbers.put(['eu', value], value), neighbours.put(['eu', value], -1)]));
  return [...new Set(values)].sort((a, b) => a - b);
}

async function valuesOf(rows: AsyncGenerator<[string[], number]>): Promise<number[]> {
  return (await Array.fromAsync(rows)).map(([, value]) => value);
}

test('key order is number order', () => {
  fc.assert(
    fc.property(ordinal, ordinal, (a, b) => {
      assert.is(numbers.key('eu', a) < numbers.key('eu', b), a < b);
    }),
  );
});

test('rows come in order, from a part on, after a part, backwards and up to a limit', async () => {
  const property = fc.asyncProperty(
    fc.array(ordinal, { maxLength: 12 }),
    ordinal,
    fc.nat(5),
    async (values, at, limit) => {
      const sorted = await filled(values);
      assert.equal(await valuesOf(numbers.under(store, ['eu'])), sorted);
      assert.equal(await valuesOf(numbers.under(store, ['eu'], { reverse: true })), sorted.toReversed());
      assert.equal(
        await valuesOf(numbers.under(store, ['eu'], { from: at })),
        sorted.filter((value) => value >= at),
      );
      assert.equal(
        await valuesOf(numbers.under(store, ['eu'], { after: at })),
        sorted.filter((value) => value > at),
      );
      assert.equal(await valuesOf(numbers.under(store, ['eu'], { limit })), sorted.slice(0, limit));
      assert.equal(await valuesOf(numbers.under(store, ['e'])), []);
      assert.equal((await numbers.last(store, ['eu']))?.[1], sorted.at(-1));
      assert.equal(
        (await numbers.last(store, ['eu'], at))?.[1],
        sorted.findLast((value) => value <= at),
      );
    },
  );
  await fc.assert(property, { numRuns: 40 });
});

test('a table does not see the rows of one whose name begins alike', async () => {
  await filled([1, 2, 3]);
  assert.equal(await valuesOf(numbers.under(store, [])), [1, 2, 3]);
  assert.is(await numbers.get(store, 'eu', 2), 2);
  assert.is(await neighbours.get(store, 'eu', 2), -1);
});

test('the parts of a key come back, as many as there are below the prefix', async () => {
  await store.write([texts.put(['a', 5, 'b'], 'x')]);
  assert.equal(await Array.fromAsync(texts.under(store, [])), [[['a', '0000000000000005', 'b'], 'x']]);
  assert.equal(await Array.fromAsync(texts.under(store, ['a', 5])), [[['b'], 'x']]);
});

function writtenBy(operation: Operation): Uint8Array {
  if (operation.type !== 'put') throw new Error('nothing is written');
  return operation.value;
}

test('values come back as they went in, of every codec', () => {
  const anyJson = jsonTable('any', Type.Unknown());
  fc.assert(
    fc.property(
      fc.uint8Array(),
      fc.string({ unit: 'grapheme' }),
      fc.maxSafeInteger(),
      fc.jsonValue(),
      (bytes, text, number, json) => {
        assert.equal(bytesCodec.decode(bytesCodec.encode(bytes)), bytes);
        assert.is(textCodec.decode(textCodec.encode(text)), text);
        assert.is(numberCodec.decode(numberCodec.encode(number)), number === 0 ? 0 : number);
        assert.equal(JSON.stringify(anyJson.decode(writtenBy(anyJson.put([], json)))), JSON.stringify(json));
      },
    ),
  );
});

test('a value that is not of the form is refused, not passed on', () => {
  const booleans = jsonTable('boolean', Type.Boolean());
  assert.throws(() => booleans.decode(Buffer.from('"true"')), /another shape/);
  assert.throws(() => booleans.decode(Buffer.from('tru')));
  assert.throws(() => numberCodec.decode(Buffer.from('1.5')), /safe integer/);
  assert.throws(() => numberCodec.decode(Buffer.from('9007199254740993')), /safe integer/);
  assert.throws(() => numberCodec.decode(Buffer.from('x')), /safe integer/);
  assert.throws(() => textCodec.decode(Uint8Array.of(0xc3)), /UTF-8/);
  assert.throws(() => textCodec.encode('\ud800'), /surrogate/);
});

test('a row that is not there is undefined', async () => {
  assert.is(await numbers.get(store, 'nowhere', 1), undefined);
  assert.is(await numbers.last(store, ['nowhere']), undefined);
});

test.run();

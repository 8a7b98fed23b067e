import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { RowCache } from '../../../node/store/row-cache.ts';
import { fc } from '../../fixtures/properties.ts';

/** A cache over rows whose values are their keys, and the keys that were read from the disk. */
function cacheOf(maxRows: number) {
  const cache = new RowCache<string | undefined>(maxRows);
  const reads: string[][] = [];
  const load = (...keys: readonly string[]) =>
    cache.load(new Set(keys), async (missing) => {
      reads.push([...missing]);
      return missing.map((key) => [key, key === 'none' ? undefined : `disk ${key}`] as const);
    });
  return { cache, reads, load };
}

test('a row is read once, also one that is not there', async () => {
  const { cache, reads, load } = cacheOf(10);
  await load('a', 'none');
  await load('b', 'a', 'none');
  assert.equal(reads, [['a', 'none'], ['b']]);
  assert.equal([cache.get('a'), cache.get('b'), cache.get('none')], ['disk a', 'disk b', undefined]);
  await load('a', 'b');
  assert.is(reads.length, 2);
});

test('the rows that were read longest ago are dropped, but none that is needed', async () => {
  const { cache, reads, load } = cacheOf(3);
  await load('a', 'b', 'c');
  await load('a', 'd');
  assert.equal([cache.get('a'), cache.get('b'), cache.get('c')], ['disk a', undefined, 'disk c']);
  await load('b');
  assert.equal(reads.at(-1), ['b']);
});

test('whatever was loaded before, every row that is needed is there, and no more than fit beside it', async () => {
  const keys = fc.uniqueArray(fc.constantFrom(...'abcdefgh'), { maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(fc.nat(4), fc.array(keys, { maxLength: 8 }), async (maxRows, loads) => {
      const { cache, load } = cacheOf(maxRows);
      for (const needed of loads) {
        await load(...needed);
        for (const key of needed) assert.is(cache.get(key), `disk ${key}`);
      }
      const held = [...'abcdefgh'].filter((key) => cache.get(key) !== undefined);
      assert.ok(held.length <= Math.max(maxRows, ...loads.map(({ length }) => length)), `${held.length} rows`);
    }),
  );
});

test('what a write set while its row was being read stays', async () => {
  const cache = new RowCache<string>(10);
  const read = Promise.withResolvers<[string, string][]>();
  const loading = cache.load(new Set(['a', 'b']), () => read.promise);
  cache.set('a', 'written');
  read.resolve([
    ['a', 'old'],
    ['b', 'disk'],
  ]);
  await loading;
  assert.equal([cache.get('a'), cache.get('b')], ['written', 'disk']);
});

test('a read that fails leaves nothing behind, and is tried again', async () => {
  const { cache, reads, load } = cacheOf(10);
  const fault = new Error('the disk does not answer');
  const failed: unknown = await cache
    .load(new Set(['a']), () => Promise.reject(fault))
    .catch((error: unknown) => error);
  assert.is(failed, fault);
  await load('a');
  assert.equal(reads, [['a']]);
});

test('once cleared, rows are read again', async () => {
  const { cache, reads, load } = cacheOf(10);
  await load('a');
  cache.clear();
  assert.is(cache.get('a'), undefined);
  await load('a');
  assert.is(reads.length, 2);
});

test.run();

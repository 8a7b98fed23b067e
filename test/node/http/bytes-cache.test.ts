import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { BytesCache } from '../../../node/http/bytes-cache.ts';
import { fc } from '../../fixtures/properties.ts';

test('what was asked for last is kept, and what was not makes room', () => {
  const cache = new BytesCache(10);
  cache.set('a', new Uint8Array(4));
  cache.set('b', new Uint8Array(4));
  assert.is(cache.get('a')?.byteLength, 4);
  cache.set('c', new Uint8Array(4));
  assert.equal(['a', 'b', 'c'].map((key) => cache.get(key)?.byteLength), [4, undefined, 4]);
  cache.set('d', new Uint8Array(11));
  assert.equal([cache.get('d'), cache.bytes], [undefined, 8]);
  cache.set('a', new Uint8Array(6));
  assert.equal([cache.get('a')?.byteLength, cache.bytes], [6, 10]);
});

test('it never holds more than its room, and counts what it holds', () => {
  const step = fc.tuple(fc.constantFrom('a', 'b', 'c', 'd'), fc.integer({ min: 0, max: 12 }));
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      const cache = new BytesCache(10);
      for (const [key, size] of steps) {
        cache.set(key, new Uint8Array(size));
        const held = ['a', 'b', 'c', 'd'].reduce((sum, name) => sum + (cache.get(name)?.byteLength ?? 0), 0);
        assert.is(cache.bytes, held);
        assert.ok(held <= 10);
        if (size <= 10) assert.is(cache.get(key)?.byteLength, size);
      }
    }),
  );
});

test.run();

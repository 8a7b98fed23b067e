import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { GatheredReads } from '../../../node/store/gathered-reads.ts';

const rows = new Map([
  ['a', Uint8Array.of(1)],
  ['b', Uint8Array.of(2)],
]);

function counted(fails = false): { readonly reads: GatheredReads; readonly asked: (readonly string[])[] } {
  const asked: (readonly string[])[] = [];
  const reads = new GatheredReads({
    first: async () => undefined,
    range: async function* () {},
    async getMany(keys) {
      asked.push(keys);
      if (fails) throw new Error('unreadable');
      return keys.map((key) => rows.get(key));
    },
  });
  return { reads, asked };
}

test('what is asked for in one turn is one question, each key once', async () => {
  const { reads, asked } = counted();
  const found = await Promise.all(['a', 'b', 'a', 'none'].map((key) => reads.get(key)));
  assert.equal(found, [Uint8Array.of(1), Uint8Array.of(2), Uint8Array.of(1), undefined]);
  assert.equal(asked, [['a', 'b', 'none']]);
});

test('what changed since is read', async () => {
  const { reads } = counted();
  assert.is(await reads.get('c'), undefined);
  rows.set('c', Uint8Array.of(3));
  assert.equal(await reads.get('c'), Uint8Array.of(3));
});

test('what fails fails for all who asked', async () => {
  const { reads } = counted(true);
  const found = await Promise.allSettled(['a', 'b'].map((key) => reads.get(key)));
  assert.equal(
    found.map(({ status }) => status),
    ['rejected', 'rejected'],
  );
});

test.run();

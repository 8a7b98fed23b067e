import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { KeyedLock } from '../../../node/concurrency/keyed-lock.ts';
import { fc } from '../../fixtures/properties.ts';

const WORK = fc.record({
  key: fc.constantFrom('a', 'b'),
  exclusive: fc.boolean(),
  turns: fc.nat(3),
  fails: fc.boolean(),
});

test('exclusive work of a key is alone; all work runs, whatever fails beside it', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(WORK, { maxLength: 12 }), async (works) => {
      const locks = new KeyedLock();
      const inside: { key: string; exclusive: boolean }[] = [];
      let ran = 0;
      const run = ({ key, exclusive, turns, fails }: (typeof works)[number]) =>
        locks[exclusive ? 'exclusive' : 'shared'](key, async () => {
          const others = inside.filter((other) => other.key === key);
          assert.not.ok(
            others.some((other) => exclusive || other.exclusive),
            'met somebody',
          );
          const me = { key, exclusive };
          inside.push(me);
          for (let i = 0; i < turns; i++) await Promise.resolve();
          inside.splice(inside.indexOf(me), 1);
          ran++;
          if (fails) throw new Error('expected');
        });
      const outcomes = await Promise.allSettled(works.map(run));
      assert.is(ran, works.length);
      assert.is(
        outcomes.filter(({ status }) => status === 'rejected').length,
        works.filter(({ fails }) => fails).length,
      );
    }),
  );
});

test('exclusive work waits for the shared work before it, and shared work after it waits too', async () => {
  const locks = new KeyedLock();
  const order: string[] = [];
  const step = (name: string, milliseconds: number) => async () => {
    await sleep(milliseconds);
    order.push(name);
  };
  await Promise.all([
    locks.shared('k', step('shared 1', 20)),
    locks.shared('k', step('shared 2', 5)),
    locks.exclusive('k', step('exclusive', 5)),
    locks.shared('k', step('shared 3', 0)),
    locks.exclusive('k', step('last', 0)),
  ]);
  assert.equal(order, ['shared 2', 'shared 1', 'exclusive', 'shared 3', 'last']);
});

test('work of several keys is alone at each of them, and never waits in a circle', async () => {
  const someKeys = fc.uniqueArray(fc.constantFrom('a', 'b', 'c'), { minLength: 1 });
  const work = fc.record({ keys: someKeys, shared: fc.boolean(), turns: fc.nat(3), fails: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(fc.array(work, { maxLength: 12 }), async (works) => {
      const locks = new KeyedLock();
      const inside: { keys: readonly string[]; shared: boolean }[] = [];
      let ran = 0;
      const run = ({ keys, shared, turns, fails }: (typeof works)[number]) => {
        const [first = ''] = keys;
        const own = { keys: shared ? [first] : keys, shared };
        const inner = async () => {
          const others = inside.filter((other) => other.keys.some((key) => own.keys.includes(key)));
          assert.ok(others.every((other) => shared && other.shared));
          inside.push(own);
          for (let i = 0; i < turns; i++) await Promise.resolve();
          inside.splice(inside.indexOf(own), 1);
          ran++;
          if (fails) throw new Error('expected');
        };
        return shared ? locks.shared(first, inner) : locks.exclusiveOfAll(keys, inner);
      };
      const outcomes = await Promise.allSettled(works.map(run));
      assert.is(ran, works.length);
      assert.equal(
        outcomes.map(({ status }) => status === 'rejected'),
        works.map(({ fails }) => fails),
      );
    }),
  );
});

test('work of no key runs at once', async () => {
  const locks = new KeyedLock();
  assert.is(await locks.exclusiveOfAll([], async () => 'done'), 'done');
});

test.run();

import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { FairQueue } from '../../../../node/accounts/limits/fair-queue.ts';
import { fc } from '../../../fixtures/properties.ts';

const WEIGHTS = { first: 3, second: 1 } as const;

function taken(queue: FairQueue<keyof typeof WEIGHTS, string>, count: number): string[] {
  return Array.from({ length: count }, () => queue.shift() ?? 'none');
}

test('classes are served by their weights, and none waits for one in which nothing is', () => {
  const queue = new FairQueue<keyof typeof WEIGHTS, string>(WEIGHTS);
  for (let n = 0; n < 6; n++) queue.push('first', 'a', `a${n}`);
  for (let n = 0; n < 4; n++) queue.push('second', 'b', `b${n}`);
  assert.equal(taken(queue, 11), ['a0', 'a1', 'a2', 'b0', 'a3', 'a4', 'a5', 'b1', 'b2', 'b3', 'none']);
});

test('holders of a class take turns, however much one of them has piled up', () => {
  const queue = new FairQueue<keyof typeof WEIGHTS, string>(WEIGHTS);
  for (let n = 0; n < 100; n++) queue.push('first', 'greedy', `greedy${n}`);
  queue.push('first', 'modest', 'modest');
  assert.is(queue.holders, 2);
  assert.equal(taken(queue, 3), ['greedy0', 'modest', 'greedy1']);
  assert.is(queue.holders, 1);
  assert.is(queue.size, 98);
});

test('everything that is pushed is taken once, the items of one holder in their order', () => {
  const pushes = fc.array(fc.tuple(fc.constantFrom('first', 'second'), fc.constantFrom('a', 'b', 'c'), fc.boolean()));
  fc.assert(
    fc.property(pushes, (steps) => {
      const queue = new FairQueue<keyof typeof WEIGHTS, { readonly holder: string; readonly n: number }>(WEIGHTS);
      const out: { readonly holder: string; readonly n: number }[] = [];
      for (const [n, [of, id, takes]] of steps.entries()) {
        const holder = `${of}/${id}`;
        queue.push(of, holder, { holder, n });
        const item = takes ? queue.shift() : undefined;
        if (item !== undefined) out.push(item);
      }
      for (let item = queue.shift(); item !== undefined; item = queue.shift()) out.push(item);
      assert.is(queue.size, 0);
      assert.is(queue.holders, 0);
      assert.equal(
        out.map(({ n }) => n).sort((a, b) => a - b),
        [...steps.keys()],
      );
      for (const holder of new Set(out.map((item) => item.holder))) {
        const own = out.filter((item) => item.holder === holder).map(({ n }) => n);
        assert.equal(
          own,
          own.toSorted((a, b) => a - b),
        );
      }
    }),
  );
});

test.run();

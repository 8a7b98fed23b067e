import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { setImmediate as turn } from 'node:timers/promises';
import { inOrder } from '../../../node/concurrency/in-order.ts';
import { fc } from '../../fixtures/properties.ts';

test('whatever each takes, what is done comes in the order of the source, and no more is begun than may be', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(4)), fc.nat(3), async (turns, ahead) => {
      let [underWork, most] = [0, 0];
      const work = async (left: number, at: number): Promise<number> => {
        most = Math.max(most, ++underWork);
        for (let i = 0; i < left; i++) await turn();
        underWork--;
        return at;
      };
      const done = await Array.fromAsync(inOrder(turns.entries(), ([at, left]) => work(left, at), ahead));
      assert.equal(done, [...turns.keys()]);
      assert.ok(most <= ahead + 1);
    }),
    { numRuns: 50 },
  );
});

test('what fails is thrown in its place, and the source is closed once all that was begun has ended', async () => {
  const events: string[] = [];
  async function* source(): AsyncGenerator<number> {
    try {
      for (let i = 1; ; i++) yield i;
    } finally {
      events.push('closed');
    }
  }
  const work = async (item: number): Promise<number> => {
    if (item === 2) throw new Error('the second');
    await turn();
    events.push(`worked on ${item}`);
    return item;
  };
  const taken: number[] = [];
  let reason: unknown;
  try {
    for await (const item of inOrder(source(), work, 2)) taken.push(item);
  } catch (error) {
    reason = error;
  }
  assert.match(String(reason), /the second/);
  assert.equal(taken, [1]);
  assert.ok(events.includes('closed'));
  assert.ok(events.includes('worked on 3'));
  const before = events.length;
  await turn();
  assert.is(events.length, before);
});

test.run();

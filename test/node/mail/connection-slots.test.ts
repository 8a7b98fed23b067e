import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ConnectionSlots } from '../../../node/mail/connection-slots.ts';

const never = new AbortController().signal;

test('gives no more connections than there are, first come first', async () => {
  const slots = new ConnectionSlots(2, 10);
  const order: number[] = [];
  let inUse = 0;
  let most = 0;
  await Promise.all(
    Array.from({ length: 8 }, async (_, i) => {
      using _slot = await slots.take(never);
      order.push(i);
      most = Math.max(most, ++inUse);
      await new Promise(setImmediate);
      inUse--;
    }),
  );
  assert.is(most, 2);
  assert.equal(order, [0, 1, 2, 3, 4, 5, 6, 7]);
});

test('refuses one more than may wait', async () => {
  const slots = new ConnectionSlots(1, 1);
  const first = await slots.take(never);
  const second = slots.take(never);
  await slots.take(never).then(
    () => assert.unreachable(),
    (error: Error) => assert.match(error.message, 'too many'),
  );
  first[Symbol.dispose]();
  (await second)[Symbol.dispose]();
  (await slots.take(never))[Symbol.dispose]();
});

test('a wait that is given up leaves its place to the next', async () => {
  const slots = new ConnectionSlots(1, 10);
  const first = await slots.take(never);
  const leaving = new AbortController();
  const second = slots.take(leaving.signal);
  const third = slots.take(never);
  leaving.abort(new Error('left'));
  await second.then(
    () => assert.unreachable(),
    (error: Error) => assert.is(error.message, 'left'),
  );
  first[Symbol.dispose]();
  (await third)[Symbol.dispose]();
  await slots.take(leaving.signal).then(
    () => assert.unreachable(),
    () => {},
  );
  (await slots.take(never))[Symbol.dispose]();
});

test.run();

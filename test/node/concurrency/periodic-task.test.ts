import { setImmediate as turn } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { PeriodicTask } from '../../../node/concurrency/periodic-task.ts';

test('rounds never overlap, and who asks meanwhile shares the one under way', async () => {
  let begun = 0;
  let release = (): void => {};
  await using task = new PeriodicTask(60_000, async () => {
    const round = ++begun;
    await new Promise<void>((resolve) => {
      release = resolve;
    });
    return round;
  });
  task.start();
  const [one, other] = [task.now(), task.now()];
  release();
  assert.equal(await Promise.all([one, other]), [1, 1]);
  const next = task.now();
  release();
  assert.is(await next, 2);
});

test('one follows another after the pause', async () => {
  const third = Promise.withResolvers<void>();
  let begun = 0;
  await using task = new PeriodicTask(1, () => {
    if (++begun === 3) third.resolve();
    return Promise.resolve();
  });
  task.start();
  task.start();
  await third.promise;
});

test('the end aborts the round under way, waits for it, and no other begins', async () => {
  let begun = 0;
  let ended = 0;
  const task: PeriodicTask<void> = new PeriodicTask(1, async () => {
    begun++;
    await new Promise<void>((resolve) => task.signal.addEventListener('abort', () => resolve(), { once: true }));
    await turn();
    ended++;
  });
  task.start();
  await turn();
  await task[Symbol.asyncDispose]();
  assert.equal([begun, ended], [1, 1]);
});

test('the first run can be put off, and one that is asked for meanwhile does not wait', async () => {
  let begun = 0;
  await using task = new PeriodicTask(60_000, async () => ++begun);
  task.start(60_000);
  await turn();
  assert.is(begun, 0);
  assert.is(await task.now(), 1);
});

test('one that is put off and ended before never runs', async () => {
  let begun = 0;
  const task = new PeriodicTask(1, async () => ++begun);
  task.start(60_000);
  await task[Symbol.asyncDispose]();
  assert.is(begun, 0);
});

test.run();

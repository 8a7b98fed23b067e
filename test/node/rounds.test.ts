import { setImmediate as turn } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Rounds } from '../../node/rounds.ts';

test('rounds never overlap, and who asks meanwhile shares the one under way', async () => {
  let begun = 0;
  let release = (): void => {};
  await using rounds = new Rounds(60_000, async () => {
    const round = ++begun;
    await new Promise<void>((resolve) => {
      release = resolve;
    });
    return round;
  });
  rounds.start();
  const [one, other] = [rounds.now(), rounds.now()];
  release();
  assert.equal(await Promise.all([one, other]), [1, 1]);
  const next = rounds.now();
  release();
  assert.is(await next, 2);
});

test('one follows another after the pause', async () => {
  const third = Promise.withResolvers<void>();
  let begun = 0;
  await using rounds = new Rounds(1, () => {
    if (++begun === 3) third.resolve();
    return Promise.resolve();
  });
  rounds.start();
  rounds.start();
  await third.promise;
});

test('the end aborts the round under way, waits for it, and no other begins', async () => {
  let begun = 0;
  let ended = 0;
  const rounds: Rounds<void> = new Rounds(1, async () => {
    begun++;
    await new Promise<void>((resolve) => rounds.signal.addEventListener('abort', () => resolve(), { once: true }));
    await turn();
    ended++;
  });
  rounds.start();
  await turn();
  await rounds[Symbol.asyncDispose]();
  assert.equal([begun, ended], [1, 1]);
});

test.run();

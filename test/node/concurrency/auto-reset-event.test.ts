import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { AutoResetEvent } from '../../../node/concurrency/auto-reset-event.ts';

/** Longer than a test may take. */
const LONG_MS = 600_000;

async function isOver(waiting: Promise<void>): Promise<boolean> {
  let over = false;
  void waiting.then(() => (over = true));
  await yieldToEventLoop();
  return over;
}

test('a notification ends the wait', async () => {
  const event = new AutoResetEvent();
  const waiting = event.wait(LONG_MS);
  assert.not.ok(await isOver(waiting));
  event.notify();
  await waiting;
});

test('notifications while nothing waits are remembered, once', async () => {
  const event = new AutoResetEvent();
  event.notify();
  event.notify();
  await event.wait(LONG_MS);
  const second = event.wait(LONG_MS);
  assert.not.ok(await isOver(second));
  event.notify();
  await second;
});

test('one that comes together with others ends one wait', async () => {
  const event = new AutoResetEvent();
  const first = event.wait(LONG_MS);
  event.notify();
  event.notify();
  await first;
  const second = event.wait(LONG_MS);
  assert.not.ok(await isOver(second));
  event.notify();
  await second;
});

test('the time ends the wait', async () => {
  await new AutoResetEvent().wait(1);
});

test('the signal ends the wait, also one that ended before', async () => {
  const ending = new AbortController();
  const event = new AutoResetEvent();
  const waiting = event.wait(LONG_MS, ending.signal);
  assert.not.ok(await isOver(waiting));
  ending.abort();
  await waiting;
  await event.wait(LONG_MS, ending.signal);
});

test.run();

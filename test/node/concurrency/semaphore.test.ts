import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { BusyError, Semaphore } from '../../../node/concurrency/semaphore.ts';

async function rejectionOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => assert.unreachable('it was let in'),
    (error: unknown) => error,
  );
}

test('lets in as many as there are places, and others in the order in which they came', async () => {
  const semaphore = new Semaphore({ places: 2 });
  const first = await semaphore.enter();
  const second = await semaphore.enter();
  const came: string[] = [];
  const third = semaphore.enter().then((place) => (came.push('third'), place));
  const fourth = semaphore.enter().then((place) => (came.push('fourth'), place));
  assert.is(semaphore.waiting, 2);
  second[Symbol.dispose]();
  const held = await third;
  assert.equal(came, ['third']);
  first[Symbol.dispose]();
  await fourth;
  assert.equal(came, ['third', 'fourth']);
  held[Symbol.dispose]();
});

test('a place that is given back twice is one place', async () => {
  const semaphore = new Semaphore({ places: 1, waiting: 0 });
  const place = await semaphore.enter();
  place[Symbol.dispose]();
  place[Symbol.dispose]();
  using _held = await semaphore.enter();
  assert.instance(await rejectionOf(semaphore.enter()), BusyError);
});

test('refuses at once who would be one too many in the line', async () => {
  const semaphore = new Semaphore({ places: 1, waiting: 1 });
  const place = await semaphore.enter();
  const second = semaphore.enter();
  assert.instance(await rejectionOf(semaphore.enter()), BusyError);
  place[Symbol.dispose]();
  (await second)[Symbol.dispose]();
  assert.is(semaphore.waiting, 0);
});

test('who goes away leaves a place in the line, and is never called', async () => {
  const semaphore = new Semaphore({ places: 1, waiting: 1 });
  const place = await semaphore.enter();
  const leaving = new AbortController();
  const gone = semaphore.enter(leaving.signal);
  leaving.abort(new Error('gone'));
  assert.match(String(await rejectionOf(gone)), 'gone');
  assert.match(String(await rejectionOf(semaphore.enter(leaving.signal))), 'gone');
  const next = semaphore.enter();
  place[Symbol.dispose]();
  using _held = await next;
});

test('a place is taken at once or not at all, and not from who waits', async () => {
  const semaphore = new Semaphore({ places: 1 });
  const place = semaphore.tryEnter();
  assert.ok(place);
  assert.is(semaphore.tryEnter(), undefined);
  const waiting = semaphore.enter();
  place[Symbol.dispose]();
  assert.is(semaphore.tryEnter(), undefined);
  (await waiting)[Symbol.dispose]();
  assert.ok(semaphore.tryEnter());
});

test.run();

import { getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';
import { getPriority } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { BusyError } from '../../../node/concurrency/semaphore.ts';
import {
  passingThreads,
  WorkerError,
  WorkerPool,
  type WorkerPoolOptions,
} from '../../../node/concurrency/worker-pool.ts';
import { until } from '../../fixtures/until.ts';

const LONG_MS = 60_000;

function poolOf(options: Partial<WorkerPoolOptions> = {}): WorkerPool<string, string> {
  const script = new URL('./told-worker.ts', import.meta.url);
  return new WorkerPool({ script, threads: 1, heapMiB: 64, orderMs: LONG_MS, ...options });
}

async function failureOf(answer: Promise<string>): Promise<unknown> {
  return answer.then(
    () => assert.unreachable('it was done'),
    (error: unknown) => error,
  );
}

const codeOf = async (answer: Promise<string>) => {
  const error = await failureOf(answer);
  return error instanceof WorkerError ? error.code : String(error);
};

test('one thread serves orders one after another, and is kept; with no idle time each order has its own', async () => {
  await using kept = poolOf();
  const [first, second] = await Promise.all([kept.run('a'), kept.run('a')]);
  assert.is(first, second);
  await using ending = poolOf({ idleMs: 0 });
  assert.is.not(await ending.run('a'), await ending.run('a'));
});

test('a thread without an order for its idle time ends, and one that got an order in time goes on', async () => {
  await using pool = poolOf({ idleMs: 20, orderMs: 300 });
  const first = await pool.run('a');
  await until('the thread to have ended', async () => {
    await delay(40);
    return (await pool.run('a')) !== first;
  });
  assert.is(await codeOf(pool.run('hang')), 'too-late');
});

test('of the threads of all pools that rest the last one is kept, and those at work go on', async () => {
  await using disposing = new AsyncDisposableStack();
  const [first, second, busy] = [0, 1, 2].map(() => disposing.use(poolOf({ idleMs: LONG_MS })));
  if (first === undefined || second === undefined || busy === undefined) return;
  const hanging = failureOf(busy.run('hang'));
  const before = await first.run('a');
  assert.is(await first.run('a'), before);
  const last = await second.run('a');
  assert.is(await second.run('a'), last);
  assert.is.not(await first.run('a'), before);
  assert.is.not(await second.run('a'), last);
  await disposing.disposeAsync();
  const error = await hanging;
  assert.is(error instanceof WorkerError ? error.code : error, 'stopping');
});

test('threads of pools that do not keep theirs are counted until they have ended', async () => {
  const before = passingThreads();
  await using kept = poolOf();
  await using resting = poolOf({ idleMs: LONG_MS });
  await using ending = poolOf({ idleMs: 0 });
  await Promise.all([kept.run('a'), resting.run('a')]);
  const hanging = failureOf(ending.run('hang'));
  await until('both to be there', () => passingThreads() === before + 2);
  await ending[Symbol.asyncDispose]();
  await hanging;
  assert.is(passingThreads(), before + 1);
  await resting[Symbol.asyncDispose]();
  assert.is(passingThreads(), before);
});

test('of the environment a thread knows where compiled sources are kept, and nothing else', async () => {
  const kept = getCompileCacheDir();
  const expected = kept === undefined ? {} : { NODE_COMPILE_CACHE: dirname(kept) };
  await using pool = poolOf();
  assert.equal(JSON.parse(await pool.run('environment')), expected);
});

test('a thread gives way to the event loop unless it is urgent; that stays as it is', async () => {
  const own = getPriority();
  await using usual = poolOf();
  await using urgent = poolOf({ isUrgent: true });
  const lower = process.platform === 'linux' ? Math.min(own + 10, 19) : own;
  assert.equal([await usual.run('niceness'), await urgent.run('niceness')], [String(lower), String(own)]);
  assert.is(getPriority(), own);
});

test('an order that ends its thread fails alone, and says why', async () => {
  await using pool = poolOf();
  const codes = Promise.all(['throw', 'end', 'fill'].map((order) => codeOf(pool.run(order))));
  const after = pool.run('a');
  assert.equal(await codes, ['Error: thrown in the thread', 'ended', 'too-large']);
  assert.match(await after, /^a by/);
});

test('an order that takes too long is given up', async () => {
  await using pool = poolOf({ orderMs: 50 });
  assert.is(await codeOf(pool.run('hang')), 'too-late');
});

test('who comes when too many wait is refused at once, and who goes away makes room', async () => {
  await using pool = poolOf({ waiting: 1 });
  const leaving = new AbortController();
  const hanging = failureOf(pool.run('hang', leaving.signal));
  const next = pool.run('a');
  assert.instance(await failureOf(pool.run('b')), BusyError);
  leaving.abort(new Error('gone'));
  assert.match(String(await hanging), 'gone');
  assert.match(await next, /^a by/);
});

test('disposed, it fails those under work and those who wait, and takes nothing more', async () => {
  const pool = poolOf();
  const codes = Promise.all([codeOf(pool.run('hang')), codeOf(pool.run('a'))]);
  await pool[Symbol.asyncDispose]();
  assert.equal(await codes, ['stopping', 'stopping']);
  assert.is(await codeOf(pool.run('a')), 'stopping');
});

test('whoever gives up a thread that opens compressed bytes does not end the process with it', async () => {
  for (let i = 0; i < 40; i++) {
    await using pool = poolOf();
    await pool.run('a');
    const opening = codeOf(pool.run('open'));
    await delay(Math.random() * 5);
    await pool[Symbol.asyncDispose]();
    assert.is(await opening, 'stopping');
  }
});

test.run();

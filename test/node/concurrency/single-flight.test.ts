import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { SingleFlight } from '../../../node/concurrency/single-flight.ts';

/** Work that ends when it is told to, and says which of its runs it was. */
class Runs {
  readonly ends: PromiseWithResolvers<void>[] = [];

  readonly work = async (): Promise<number> => {
    const end = Promise.withResolvers<void>();
    const run = this.ends.push(end);
    await end.promise;
    return run;
  };

  async begun(count: number): Promise<void> {
    for (let turn = 0; turn < 20 && this.ends.length < count; turn++) await yieldToEventLoop();
    assert.is(this.ends.length, count);
  }
}

test('all who ask in one turn share one computation', async () => {
  const shared = new SingleFlight<number>();
  const runs = new Runs();
  const answers = Array.from({ length: 100 }, () => shared.do('a', runs.work));
  await runs.begun(1);
  runs.ends[0]?.resolve();
  assert.equal(new Set(await Promise.all(answers)), new Set([1]));
  assert.is(shared.size, 0);
});

test('who asks while one is under way is answered by a later one, which all of them share', async () => {
  const shared = new SingleFlight<number>();
  const runs = new Runs();
  const first = shared.do('a', runs.work);
  await runs.begun(1);
  const later = Array.from({ length: 100 }, () => shared.do('a', runs.work));
  await yieldToEventLoop();
  assert.is(runs.ends.length, 1);
  runs.ends[0]?.resolve();
  assert.is(await first, 1);
  await runs.begun(2);
  runs.ends[1]?.resolve();
  assert.equal(new Set(await Promise.all(later)), new Set([2]));
  assert.is(shared.size, 0);
});

test('what fails fails for those who shared it alone', async () => {
  const shared = new SingleFlight<number>();
  const runs = new Runs();
  const first = shared.do('a', runs.work).catch(() => 'failed');
  await runs.begun(1);
  const second = shared.do('a', runs.work);
  runs.ends[0]?.reject(new Error('no'));
  assert.is(await first, 'failed');
  await runs.begun(2);
  runs.ends[1]?.resolve();
  assert.is(await second, 2);
});

test('other names do not wait', async () => {
  const shared = new SingleFlight<number>();
  const runs = new Runs();
  void shared.do('a', runs.work);
  const other = shared.do('b', runs.work);
  await runs.begun(2);
  runs.ends[1]?.resolve();
  assert.is(await other, 2);
  runs.ends[0]?.resolve();
});

test.run();

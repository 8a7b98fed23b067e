import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { TimeSlices } from '../../../node/concurrency/time-slices.ts';

const WORKS = 4;
const ITEMS = 30;
/** Of one item: a few make a slice. In milliseconds. */
const ITEM_MS = 1;

function busy(milliseconds: number): void {
  const end = performance.now() + milliseconds;
  while (performance.now() < end);
}

test('long works take turns: after their first slices, no turn of the event loop holds slices of two', async () => {
  const byIteration: Set<number>[] = [];
  let turn = 0;
  const end = new AbortController();
  const count = async (): Promise<void> => {
    for (; !end.signal.aborted; turn++) await yieldToEventLoop();
  };
  const counting = count();
  const works = Array.from({ length: WORKS }, (_, name) => {
    const items = Array.from({ length: ITEMS }, (_none, i) => i);
    const seen: number[] = [];
    const work = async (): Promise<readonly number[]> => {
      await new TimeSlices().each(items, (item) => {
        busy(ITEM_MS);
        seen.push(item);
        (byIteration[turn] ??= new Set()).add(name);
      });
      return seen;
    };
    return work();
  });
  for (const seen of await Promise.all(works)) {
    assert.equal(
      seen,
      Array.from({ length: ITEMS }, (_, i) => i),
    );
  }
  end.abort();
  await counting;
  const later = byIteration.slice(1).filter((names) => names !== undefined);
  assert.ok(later.length > WORKS, 'nothing was sliced');
  assert.ok(later.every(({ size }) => size === 1));
});

test('what throws in a slice ends that work alone', async () => {
  const other = new TimeSlices().each(Array.from({ length: ITEMS }), () => busy(ITEM_MS));
  const failing = new TimeSlices().each([1, 2, 3, 4, 5, 6], (item) => {
    busy(ITEM_MS);
    if (item === 6) throw new Error('six');
  });
  const fault: unknown = await failing.catch((error: unknown) => error);
  assert.match(String(fault), 'six');
  await other;
});

test.run();

import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { RestingHeap } from '../../../node/metrics/resting-heap.ts';

const SAVE = '--optimize-for-size';
const SAVE_NO_MORE = '--no-optimize-for-size';

/** What V8 is told while the event loop works for the given shares of its time, one look each. */
function told(shares: readonly number[]): string[] {
  const flags: string[] = [];
  let share = 0;
  const utilization = () => ({ idle: 1 - share, active: share, utilization: share });
  using heap = new RestingHeap({ utilization, tell: (flag) => void flags.push(flag) });
  for (const next of shares) {
    share = next;
    heap.look();
  }
  return [...flags];
}

test('memory is saved once the event loop has rested five seconds, and no more once it works', () => {
  assert.equal(told([0, 0.1, 0, 0.2]), []);
  assert.equal(told([0, 0.1, 0, 0.2, 0]), [SAVE]);
  assert.equal(told([0, 0, 0, 0, 0, 0, 0, 0.3]), [SAVE]);
  assert.equal(told([0, 0, 0, 0, 0, 0.9]), [SAVE, SAVE_NO_MORE]);
});

test('a burst of work begins the seconds of rest anew', () => {
  assert.equal(told([0, 0, 0, 0, 0.3, 0, 0, 0, 0]), []);
  assert.equal(told([1, 1, 1, 1, 1, 1, 1]), []);
});

test('what is disposed of saves no more', () => {
  const flags: string[] = [];
  const utilization = () => ({ idle: 1, active: 0, utilization: 0 });
  const heap = new RestingHeap({ utilization, tell: (flag) => void flags.push(flag) });
  for (let look = 0; look < 5; look++) heap.look();
  heap[Symbol.dispose]();
  assert.equal(flags, [SAVE, SAVE_NO_MORE]);
});

test.run();

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { RestingHeap } from '../../../node/metrics/resting-heap.ts';

const SAVE = '--optimize-for-size';
const SAVE_NO_MORE = '--no-optimize-for-size';

/** An event loop that works for the given shares of its time. */
class Loop {
  #active = 0;
  #idle = 0;

  pass(share: number): void {
    this.#active += share;
    this.#idle += 1 - share;
  }

  readonly utilization = (since?: { readonly active: number; readonly idle: number }) => {
    const active = this.#active - (since?.active ?? 0);
    const idle = this.#idle - (since?.idle ?? 0);
    return { active, idle, utilization: active + idle === 0 ? 0 : active / (active + idle) };
  };
}

/** What V8 is told while the event loop works for the given shares of its time, one look each. */
function told(shares: readonly number[]): string[] {
  const flags: string[] = [];
  const loop = new Loop();
  loop.pass(1);
  using heap = new RestingHeap({ utilization: loop.utilization, tell: (flag) => void flags.push(flag) });
  for (const share of shares) {
    loop.pass(share);
    heap.look();
  }
  return [...flags];
}

test('V8 knows both flags', async () => {
  const tell = `for (const flag of ['${SAVE}', '${SAVE_NO_MORE}']) require('node:v8').setFlagsFromString(flag)`;
  const { stderr } = await promisify(execFile)(process.execPath, ['-e', tell]);
  assert.is(stderr, '');
  const { stderr: unknown } = await promisify(execFile)(process.execPath, ['-e', tell.replaceAll('size', 'sizes')]);
  assert.match(unknown, 'unrecognized flag');
});

test('memory is saved once the event loop has rested five seconds, and no more once it works', () => {
  assert.equal(told([0, 0.1, 0, 0.1]), []);
  assert.equal(told([0, 0.1, 0, 0.1, 0]), [SAVE]);
  assert.equal(told([0, 0, 0, 0, 0, 0, 0, 0.3]), [SAVE]);
  assert.equal(told([0, 0, 0, 0, 0, 0.9]), [SAVE, SAVE_NO_MORE]);
});

test('a burst of work begins the seconds of rest anew', () => {
  assert.equal(told([0, 0, 0, 0, 0.3, 0, 0, 0, 0]), []);
  assert.equal(told([1, 1, 1, 1, 1, 1, 1]), []);
});

test('what is disposed of saves no more', () => {
  const flags: string[] = [];
  const { utilization } = new Loop();
  const heap = new RestingHeap({ utilization, tell: (flag) => void flags.push(flag) });
  for (let look = 0; look < 5; look++) heap.look();
  heap[Symbol.dispose]();
  assert.equal(flags, [SAVE, SAVE_NO_MORE]);
});

test.run();

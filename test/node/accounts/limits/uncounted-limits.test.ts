import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { UncountedLimits } from '../../../../node/accounts/limits/address-limits.ts';

test('the answers of a second are sent at once, later ones at the same rate; other subjects do not wait', () => {
  let now = 0;
  const limits = new UncountedLimits({ uncountedPerSecond: 4, now: () => now });
  const waits = (count: number, subject = 'a') => Array.from({ length: count }, () => limits.take(subject));
  assert.equal(waits(7), [0, 0, 0, 0, 250, 500, 750]);
  assert.equal(waits(1, 'b'), [0]);
  now = 750;
  assert.equal(waits(1), [250]);
  now = 10_000;
  assert.equal(waits(5), [0, 0, 0, 0, 250]);
});

test('nobody waits longer than five seconds', () => {
  const limits = new UncountedLimits({ uncountedPerSecond: 1, now: () => 0 });
  const waits = Array.from({ length: 20 }, () => limits.take('a'));
  assert.equal(waits.slice(0, 4), [0, 1_000, 2_000, 3_000]);
  assert.equal(new Set(waits.slice(5)), new Set([5_000]));
});

test.run();

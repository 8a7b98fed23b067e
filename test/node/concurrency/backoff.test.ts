import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { backoffDelay, doubledPause } from '../../../node/concurrency/backoff.ts';
import { fc } from '../../fixtures/properties.ts';

const LIMITS = { firstMs: 100, mostMs: 1_000 };

test('a pause is doubled up to the longest one, however often', () => {
  assert.equal(
    [-1, 0, 1, 2, 3, 4, 5, 1_100, Number.MAX_SAFE_INTEGER].map((doublings) => doubledPause(doublings, LIMITS)),
    [100, 100, 200, 400, 800, 1_000, 1_000, 1_000, 1_000],
  );
  assert.is(doubledPause(0, { firstMs: 5_000, mostMs: 1_000 }), 1_000);
});

test('jitter takes the upper half of the pause', () => {
  const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
  fc.assert(
    fc.property(fc.nat(40), random, (failures, chance) => {
      const pause = doubledPause(failures, LIMITS);
      const delay = backoffDelay(failures, chance, LIMITS);
      assert.ok(delay >= pause / 2 && delay <= pause, `${delay} of ${pause}`);
    }),
  );
  assert.equal([backoffDelay(1, 0, LIMITS), backoffDelay(1, 0.5, LIMITS)], [100, 150]);
});

test('without limits of its own a backoff goes from a quarter of a second to five seconds', () => {
  const upperEnd = (failures: number) => 2 * backoffDelay(failures, 0);
  assert.equal([0, 1, 4, 5, 100].map(upperEnd), [250, 500, 4_000, 5_000, 5_000]);
});

test.run();

import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { freshnessOf } from '../../../../node/screening/lists/freshness.ts';
import { timestampOf } from '../../../../protocol/time.ts';

const HOUR_MS = 3_600_000;
const NOW = Date.parse('2026-11-29T12:00:00.000Z');

function freshnessAfter(milliseconds: number): string {
  return freshnessOf({ retrievedAt: timestampOf(NOW - milliseconds) }, NOW);
}

test('an edition is fresh for two days, stale until seven, and too old from then on', () => {
  assert.equal(
    [0, 48, 49, 168, 169].map((hours) => freshnessAfter(hours * HOUR_MS)),
    ['fresh', 'fresh', 'stale', 'stale', 'too-old'],
  );
});

test('an edition that was retrieved while the clock was ahead is not fresh for as long as it was', () => {
  assert.is(freshnessAfter(-60_000), 'fresh');
  assert.equal(
    [-1, -24, -8_760].map((hours) => freshnessAfter(hours * HOUR_MS)),
    ['too-old', 'too-old', 'too-old'],
  );
});

test.run();

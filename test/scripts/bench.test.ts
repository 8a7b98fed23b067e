import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { BODY_BYTES, decisionBodies } from '../../scripts/bench/decisions.ts';
import { median, percentile } from '../../scripts/bench/statistics.ts';
import { tableText } from '../../scripts/bench/table.ts';

test('the bodies are of the size they claim, differ, and speak for twenty sources', () => {
  const bodies = decisionBodies(200);
  const lengths = bodies.map((body) => JSON.stringify(body).length);
  const mean = lengths.reduce((sum, length) => sum + length, 0) / lengths.length;
  assert.ok(Math.abs(mean - BODY_BYTES) < 50, `the mean is ${mean}`);
  assert.is(new Set(bodies.map((body) => JSON.stringify(body.data))).size, 200);
  assert.is(new Set(bodies.map((body) => body.sourceId)).size, 20);
  assert.equal(decisionBodies(200), bodies, 'every run sends the same');
});

test('medians and percentiles are those of the nearest rank', () => {
  assert.is(median([3, 1, 2]), 2);
  assert.is(median([4, 1, 2, 3]), 2.5);
  const values = Array.from({ length: 100 }, (_, i) => 100 - i);
  assert.is(percentile(values, 0.5), 50);
  assert.is(percentile(values, 0.99), 99);
  assert.is(percentile([7], 0.99), 7);
  assert.throws(() => median([]), RangeError);
  assert.throws(() => percentile([], 0.5), RangeError);
});

test('a table is aligned: names to the left, numbers to the right', () => {
  assert.is(
    tableText([
      ['way', 'per second'],
      ['a longer name', '1'],
    ]),
    'way            per second\na longer name           1',
  );
});

test.run();

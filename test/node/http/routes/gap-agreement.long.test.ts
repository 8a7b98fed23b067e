import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { fc } from '../../../fixtures/properties.ts';
import { SEED } from '../../../runner/seed.ts';
import { compareHistories, historyArbitrary } from './gap-histories.ts';

const HISTORIES = 10_000;

test('a node and the rules alone say the same of generated histories', async () => {
  let compared = 0;
  let recorded = 0;
  await compareHistories(fc.sample(historyArbitrary, { numRuns: HISTORIES, seed: SEED }), (node, rules) => {
    for (const [i, row] of node.entries()) assert.is(row, rules[i]);
    assert.is(node.length, rules.length);
    compared++;
    if (node.some((row) => row.includes('"recorded"'))) recorded++;
  });
  assert.ok(compared > HISTORIES * 0.8, `${compared} histories with records`);
  assert.ok(recorded > HISTORIES / 20, `${recorded} histories that fill a row`);
});

test.run();

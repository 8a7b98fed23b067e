import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { fc } from '../fixtures/properties.ts';
import { plannedKill } from './plan.ts';

test('a kill is the same whenever it is asked for, and every node gets its turn', () => {
  const seed = fc.integer({ min: 0, max: 1e9 });
  fc.assert(
    fc.property(seed, fc.integer({ min: 1, max: 5 }), (chosen, nodes) => {
      const kills = Array.from({ length: 200 }, (_, number) => plannedKill(chosen, number, nodes));
      assert.equal(kills[137], plannedKill(chosen, 137, nodes));
      assert.is(new Set(kills.map(({ node }) => node)).size, nodes);
      assert.ok(kills.every(({ loadMs }) => loadMs >= 20 && loadMs < 400));
      assert.ok(kills.some(({ startMs }) => startMs !== null) && kills.some(({ startMs }) => startMs === null));
    }),
    { numRuns: 20 },
  );
});

test('another seed plans other kills', () => {
  assert.not.equal(plannedKill(1, 0, 2), plannedKill(2, 0, 2));
});

test.run();

import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { fc } from '../fixtures/properties.ts';
import { actions, ANYTHING, happen } from './model/schedule.ts';
import type { Terms } from './model/setting.ts';
import { World } from './model/world.ts';

const FIVE = ['us', 'eu', 'ca', 'sg', 'jp'];
const TERMS: readonly Terms[] = [
  { nodes: FIVE, quorum: 3 },
  { nodes: FIVE, quorum: 2 },
  { nodes: FIVE.slice(0, 4), quorum: 2 },
];
const RUNS = Number(process.env.FC_RUNS ?? 300);

test('whatever happens, trees are prefixes of the true log, and nothing is verified that the ledger did not decide', async () => {
  let verified = 0;
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...TERMS), actions(ANYTHING, 30), async (terms, schedule) => {
      const world = await World.create(terms);
      for (const action of schedule) {
        await happen(world, action);
        await world.check();
      }
      await world.heal();
      await world.checkSettled();
      await world.truth.compareWithReference();
      verified += world.verified.size;
    }),
    { numRuns: RUNS },
  );
  console.log(`verified ${verified}`);
  assert.ok(verified > 0);
});

test.run();

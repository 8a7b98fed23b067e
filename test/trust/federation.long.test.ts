import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nodeId } from '../../protocol/ids.ts';
import { envelopeHash } from '../fixtures/federation-log-batch.ts';
import { fc } from '../fixtures/properties.ts';
import { actions, ANYTHING, happen, ORDINARY } from './model/schedule.ts';
import type { Terms } from './model/setting.ts';
import { World } from './model/world.ts';

const FIVE = ['us', 'eu', 'ca', 'sg', 'jp'];
const FIVE_AT_3: Terms = { nodes: FIVE, quorum: 3 };
const TERMS: readonly Terms[] = [FIVE_AT_3, { nodes: FIVE, quorum: 2 }, { nodes: FIVE.slice(0, 4), quorum: 2 }];

/** Schedules of all properties together; `MODEL_RUNS=10000 npm test -- trust/federation` runs more. */
const RUNS = Number(process.env.MODEL_RUNS ?? 240);
/** Of ten schedules, those in which anything may happen. */
const runs = (ofTen: number) => ({ numRuns: Math.ceil((RUNS * ofTen) / 10) });

test('whatever happens, trees are prefixes of the true log, and nothing is verified that was not decided; all is once it is well', async () => {
  let verified = 0;
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...TERMS), actions(ANYTHING, 20), async (terms, schedule) => {
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
    runs(8),
  );
  assert.ok(verified > RUNS);
});

test('of three and two, neither side confirms its own records, and both do once they are joined', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.shuffledSubarray(FIVE, { minLength: 2, maxLength: 2 }),
      actions(ORDINARY, 12),
      async (two, schedule) => {
        const world = await World.create(FIVE_AT_3, false);
        for (const node of world.nodes) await world.seal(node);
        await world.round();
        world.setting.network.part(two.map(nodeId));
        // What was sealed before may be confirmed still: each side may hold all of it.
        const before = world.sealed.length;
        await world.deliverAll();
        for (const node of world.nodes) await world.seal(node);
        for (const action of schedule) {
          await happen(world, action);
          await world.check();
        }
        for (let round = 0; round < 3; round++) await world.round();
        await world.check();
        const parted = world.sealed.slice(before);
        assert.ok(parted.length > 0);
        for (const sealed of parted) {
          assert.not.ok(world.verified.has(envelopeHash(sealed)), 'one side alone has confirmed it');
        }
        await world.heal();
        await world.checkSettled();
        for (const sealed of parted) assert.ok(world.verified.has(envelopeHash(sealed)));
      },
    ),
    runs(1),
  );
});

test('with two of five gone for good, the others drop them by a roster and go on', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.shuffledSubarray(FIVE, { minLength: 2, maxLength: 2 }),
      actions(ORDINARY, 12),
      async (gone, schedule) => {
        const world = await World.create(FIVE_AT_3, false);
        for (const node of gone) world.leaveForGood(nodeId(node));
        for (const action of schedule) {
          await happen(world, action);
          await world.check();
        }
        assert.is(world.verified.size, 0, 'three of five at quorum 3 confirm nothing');
        const [by] = world.running();
        if (by === undefined) throw new Error('three members run');
        const rest = world.running().map(({ node }) => node);
        const text = world.nextRoster(by, rest, 2);
        for (const member of world.running()) await member.nameRoster(text, 'receipt');
        await world.round();
        await world.round();
        for (const node of rest) await world.seal(node);
        await world.heal();
        await world.checkSettled();
        assert.equal(
          world.running().map(({ roster }) => roster.members.length),
          [3, 3, 3],
        );
        assert.ok(world.verified.size >= world.sealed.length && world.verified.size >= 3);
      },
    ),
    runs(1),
  );
});

test.run();

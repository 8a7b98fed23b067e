import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { until } from '../../fixtures/until.ts';
import {
  FROZEN,
  LEDGER_DOWN,
  LOSSY,
  NOTICED_MS,
  ONE_WAY,
  SPLIT,
  spreadOverTheWorld,
  runWithFaults,
} from '../../network-faults/scenarios.ts';
import { FaultFederation } from '../../network-faults/fault-federation.ts';

/** What all nodes may take to hold everything once the weather is fair. In seconds. */
const HEAL_SECONDS = 10;
const FAULTS_MS = 4_000;

const federation = await FaultFederation.start();

test.after(() => federation[Symbol.asyncDispose]());

test('split 3/2 with the ledger down, both parts write on; healed, every node holds everything', async () => {
  const began = performance.now();
  let noticed = 0;
  const { whole, damage } = await runWithFaults(federation, [SPLIT, LEDGER_DOWN], 0, async () => {
    await until('the split to be noticed', async () => (await federation.connected('jp')).length === 2, NOTICED_MS);
    noticed = (performance.now() - began) / 1_000;
    assert.equal((await federation.connected('jp')).toSorted(), ['jp', 'sg']);
  });
  console.log(
    `split: noticed after ${noticed.toFixed(1)} s, whole ${whole.toFixed(1)} s after healing, lost = ${damage.lost}`,
  );
  assert.equal(damage, { lost: 0, found: [] });
  assert.ok(whole < HEAL_SECONDS, `whole after ${whole} s`);
});

test('loss, a one-way cut and a frozen process at once cost nothing', async () => {
  spreadOverTheWorld(federation);
  const { whole, damage } = await runWithFaults(federation, [LOSSY, ONE_WAY, FROZEN], FAULTS_MS);
  console.log(`loss, one-way cut, frozen process: whole ${whole.toFixed(1)} s after healing, lost = ${damage.lost}`);
  assert.equal(damage, { lost: 0, found: [] });
  assert.ok(whole < HEAL_SECONDS, `whole after ${whole} s`);
});

test('what was made while the ledger was down is anchored, and verified everywhere', async () => {
  console.log(`anchored everywhere ${(await federation.anchored()).toFixed(1)} s later`);
});

test.run();

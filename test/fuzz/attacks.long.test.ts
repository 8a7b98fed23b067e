import { test } from 'uvu';
import { ATTACK_NAMES, ATTACKERS } from '../../scripts/bench/attacks/attack-target.ts';
import { AttackedNode } from './attacked-node.ts';
import { BesideHonest } from './beside-honest.ts';

const attacked = await AttackedNode.start();
const beside = new BesideHonest(attacked, {
  'many-verifications': 5_000,
  'dearest-record': 5_000,
  'slow-bodies': 310,
  'foreign-bundles': 64,
  'forged-payments': 2_000,
  'poor-wallet': 400,
  'greedy-member': 4_000,
  'generated-requests': 2_000,
});
test.after(() => attacked[Symbol.asyncDispose]());

test('nobody beside a hundred honest connections: what they leave is measured', () => beside.calm());

for (const name of ATTACK_NAMES) test(`${ATTACKERS[name]}, alone: ${name}`, () => beside.attack([name]));

test('all of them together', () => beside.attack(ATTACK_NAMES));

test.run();

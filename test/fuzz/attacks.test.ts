import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { judgeBundle, questionsOf } from '../../node/verification/judge-bundle.ts';
import { timestampOf } from '../../protocol/time.ts';
import { BUNDLE_MAX_DEPTH } from '../../protocol/verdict/bundle.ts';
import { ATTACK_NAMES } from '../../scripts/bench/attacks/attack-target.ts';
import { countingSuite } from '../fixtures/linked-store.ts';
import { AttackedNode } from './attacked-node.ts';
import { foreignBundle } from './attacks/foreign-bundles.ts';
import { BesideHonest } from './beside-honest.ts';

const attacked = await AttackedNode.start();
const beside = new BesideHonest(attacked, {
  'many-verifications': 500,
  'dearest-record': 128,
  'slow-bodies': 310,
  'foreign-bundles': 4,
  'forged-payments': 64,
  'poor-wallet': 24,
  'greedy-member': 64,
  'generated-requests': 40,
});
test.after(() => attacked[Symbol.asyncDispose]());

test('nobody beside a hundred honest connections: what they leave is measured', () => beside.calm());

test('strangers: the dearest record, slow bodies, foreign bundles, forged payments', () => {
  return beside.attack(['dearest-record', 'slow-bodies', 'foreign-bundles', 'forged-payments']);
});

test('a free key: 500 verdicts at a time', () => beside.attack(['many-verifications']));

test('a wallet with the price of one batch signs for many', () => beside.attack(['poor-wallet']));

test('a member with its key asks and gossips without end', () => beside.attack(['greedy-member']));

test('all of them together, and bad requests of every kind', () => beside.attack(ATTACK_NAMES));

test('the bundle of a foreign federation of 200 members costs no signature', async () => {
  const text = await foreignBundle();
  const { suite, signatures } = countingSuite();
  const limits = { maxDepth: BUNDLE_MAX_DEPTH };
  const log = await attacked.node.context.knowledge.ask(questionsOf(suite, text, limits));
  const verdict = judgeBundle(suite, text, { log, at: timestampOf(Date.now()), limits });
  assert.is(verdict.verified, false);
  assert.is(signatures(), 0);
});

test.run();

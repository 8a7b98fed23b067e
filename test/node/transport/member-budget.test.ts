import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { MEMBER_WEIGHTS, SENT_KIB_MS } from '../../../node/accounts/limits/route-weights.ts';
import { MemberBudget } from '../../../node/transport/request-server.ts';

const LIMITS = { processorMsPerPeer: 600, bytesPerPeer: 60 << 20, processorMs: 900 };
const MINUTE_MS = 60_000;

/** Requests of a member that are taken on at one moment. */
function taken(budget: MemberBudget, node: string, now: number, most = 10_000): number {
  let count = 0;
  while (count < most && budget.admit(node, 'status', now)) count++;
  return count;
}

test('a member is answered for what its minute allows, by what its requests weigh, and not for ever less', () => {
  const budget = new MemberBudget(LIMITS, 0);
  assert.is(taken(budget, 'eu', 0), LIMITS.processorMsPerPeer / MEMBER_WEIGHTS.status);
  assert.not(budget.admit('eu', 'payload', 0));
  assert.is(taken(budget, 'eu', MINUTE_MS / 2), LIMITS.processorMsPerPeer / MEMBER_WEIGHTS.status / 2);
  assert.is(taken(budget, 'eu', 10 * MINUTE_MS), LIMITS.processorMsPerPeer / MEMBER_WEIGHTS.status);
});

test('what one member uses up is its own; what all use up is bounded too', () => {
  const budget = new MemberBudget(LIMITS, 0);
  const most = LIMITS.processorMsPerPeer / MEMBER_WEIGHTS.status;
  assert.is(taken(budget, 'thief', 0), most);
  assert.is(taken(budget, 'us', 0), (LIMITS.processorMs - LIMITS.processorMsPerPeer) / MEMBER_WEIGHTS.status);
  assert.not(budget.admit('ca', 'status', 0));
  assert.is(taken(budget, 'ca', MINUTE_MS), LIMITS.processorMsPerPeer / MEMBER_WEIGHTS.status);
});

test('bytes that are sent are paid for as they are sent, and owed where an answer goes over', () => {
  const budget = new MemberBudget({ ...LIMITS, processorMsPerPeer: 1e9, processorMs: 1e9 }, 0);
  assert.ok(budget.admit('eu', 'batches', 0));
  budget.noteSent('eu', 2 * LIMITS.bytesPerPeer, 0);
  assert.not(budget.admit('eu', 'batches', 0));
  assert.not(budget.admit('eu', 'batches', MINUTE_MS));
  assert.ok(budget.admit('us', 'batches', 0));
  assert.ok(budget.admit('eu', 'batches', MINUTE_MS + 1_000));
});

test('a long answer costs of the processor by its length', () => {
  const budget = new MemberBudget({ ...LIMITS, bytesPerPeer: 1e12 }, 0);
  const kib = (LIMITS.processorMsPerPeer - MEMBER_WEIGHTS.status) / SENT_KIB_MS;
  assert.ok(budget.admit('eu', 'status', 0));
  budget.noteSent('eu', kib * 1024, 0);
  assert.not(budget.admit('eu', 'status', 0));
});

test('a member that is none any more is forgotten, and has what a new one has', () => {
  const budget = new MemberBudget({ ...LIMITS, processorMs: 1e9 }, 0);
  const most = taken(budget, 'eu', 0);
  budget.keepOnly(new Set(['us']));
  assert.is(taken(budget, 'eu', 0), most);
});

test.run();

import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Tier } from '../../../../node/accounts/account.ts';
import { type LimitedAccount, type RateDecision, RateLimits } from '../../../../node/accounts/limits/rate-limits.ts';

const ATTEST = 'POST /v1/attest';
const TIERED = 'POST /v1/tiered-attest';

function account(tier: Tier): LimitedAccount {
  return { id: `acc_eu_${tier}`, tier };
}

function outcome(decision: RateDecision): string {
  return decision.kind === 'admitted' ? 'admitted' : decision.by;
}

/** How many requests in a row are let in. */
function admitted(limits: RateLimits, of: LimitedAccount, endpoint: string, tries: number): number {
  let count = 0;
  for (let i = 0; i < tries; i++) if (limits.admit(of, endpoint).kind === 'admitted') count++;
  return count;
}

const TIERS: readonly (readonly [tier: Tier, perMinute: number, attests: number])[] = [
  ['developer', 60, 60],
  ['standard', 600, 60],
  ['professional', 1_200, 60],
  ['enterprise', 6_000, 60],
];
for (const [tier, perMinute, attests] of TIERS) {
  test(`${tier}: ${perMinute} requests a minute, ${attests} of them to /v1/attest`, () => {
    const limits = new RateLimits(() => 0);
    assert.is(admitted(limits, account(tier), ATTEST, perMinute + 10), attests);
    assert.is(admitted(limits, account(tier), TIERED, perMinute + 10), perMinute - attests);
  });
}

test('an unmetered account has no limit at all', () => {
  const limits = new RateLimits(() => 0);
  assert.is(admitted(limits, account('unmetered'), ATTEST, 20_000), 20_000);
  assert.equal(limits.standing(account('unmetered')), { tier: null, endpoints: [] });
});

test('what the endpoint refuses takes no slot of the tier, and the other way round', () => {
  let now = 0;
  const limits = new RateLimits(() => now);
  const standard = account('standard');
  for (let i = 0; i < 60; i++) limits.admit(standard, ATTEST);
  for (let i = 0; i < 5_000; i++) assert.is(outcome(limits.admit(standard, ATTEST)), 'endpoint');
  assert.is(limits.standing(standard).tier?.remaining, 540);
  for (let i = 0; i < 540; i++) limits.admit(standard, TIERED);
  now = 59_999;
  assert.is(outcome(limits.admit(standard, ATTEST)), 'tier');
  now = 60_000;
  for (let i = 0; i < 60; i++) assert.is(outcome(limits.admit(standard, ATTEST)), 'admitted');
});

test('accounts do not share their limits', () => {
  const limits = new RateLimits(() => 0);
  for (let i = 0; i < 60; i++) limits.admit({ id: 'a', tier: 'developer' }, TIERED);
  assert.is(outcome(limits.admit({ id: 'a', tier: 'developer' }, TIERED)), 'tier');
  assert.is(outcome(limits.admit({ id: 'b', tier: 'developer' }, TIERED)), 'admitted');
});

test('a new tier holds from the next request on', () => {
  const limits = new RateLimits(() => 0);
  for (let i = 0; i < 60; i++) limits.admit({ id: 'a', tier: 'developer' }, TIERED);
  assert.is(outcome(limits.admit({ id: 'a', tier: 'developer' }, TIERED)), 'tier');
  assert.is(admitted(limits, { id: 'a', tier: 'standard' }, TIERED, 1_000), 540);
  assert.is(outcome(limits.admit({ id: 'a', tier: 'developer' }, TIERED)), 'tier');
});

test('the window shown is the one nearest to its limit', () => {
  const limits = new RateLimits(() => 0);
  const standard = account('standard');
  const attest = limits.admit(standard, ATTEST);
  const tiered = limits.admit(standard, TIERED);
  assert.is(attest.kind === 'admitted' && attest.window?.limit, 60);
  assert.is(tiered.kind === 'admitted' && tiered.window?.limit, 600);
  assert.is(tiered.kind === 'admitted' && tiered.window?.remaining, 598);
});

test.run();

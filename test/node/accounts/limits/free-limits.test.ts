import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { TIERS } from '../../../../node/accounts/account.ts';
import { FreeLimits } from '../../../../node/accounts/limits/address-limits.ts';
import { TIER_LIMITS } from '../../../../node/accounts/limits/allowances.ts';
import { LimitError } from '../../../../node/accounts/limits/limit-error.ts';
import { requestsOf, weightOf } from '../../../../node/accounts/limits/route-weights.ts';

const HEAVY = requestsOf(weightOf({ method: 'POST', path: '/v1/bundles/verify', access: 'free' }));

function admits(limits: FreeLimits, account: Parameters<FreeLimits['admit']>[0], requests: number): boolean {
  try {
    limits.admit(account, requests);
    return true;
  } catch (error) {
    if (error instanceof LimitError) return false;
    throw error;
  }
}

test('an account is refused nothing within the requests of its tier, were all of them the heaviest', () => {
  for (const tier of TIERS) {
    const limits = new FreeLimits(() => 0);
    const perMinute = TIER_LIMITS[tier].requestsPerMinute ?? 20_000;
    for (let i = 0; i < perMinute; i++) assert.ok(admits(limits, { id: 'acme', tier }, HEAVY), `${tier} ${i}`);
  }
});

test('past that it is refused for a minute, and no other account with it', () => {
  let now = 0;
  const limits = new FreeLimits(() => now);
  const account = { id: 'acme', tier: 'developer' } as const;
  let admitted = 0;
  for (let i = 0; i < 1_000; i++) if (admits(limits, account, 1)) admitted++;
  assert.is(admitted, 120);
  assert.not(admits(limits, account, 1));
  assert.ok(admits(limits, { ...account, id: 'other' }, 1));
  now = 60_000;
  assert.ok(admits(limits, account, 1));
});

test('a heavy request takes as much as it weighs, or nothing', () => {
  const limits = new FreeLimits(() => 0);
  const account = { id: 'acme', tier: 'developer' } as const;
  for (let i = 0; i < 119; i++) assert.ok(admits(limits, account, 1));
  assert.not(admits(limits, account, 2));
  assert.ok(admits(limits, account, 1));
});

test.run();

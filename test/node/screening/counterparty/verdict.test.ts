import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ChainError } from '../../../../node/payments/facilitator/contract.ts';
import type { ChainAccount, ChainBlock } from '../../../../node/payments/facilitator/contract.ts';
import { type ChainProfile, readProfile } from '../../../../node/screening/counterparty/chain-profile.ts';
import {
  type CounterpartyFacts,
  reasonsOf,
  verdictOf,
} from '../../../../node/screening/counterparty/counterparty-check.ts';
import { walletAddress } from '../../../../protocol/payments/payment.ts';

const NOW = 1_795_253_400;
const DAY = 86_400;
const address = walletAddress(`0x${'2'.repeat(40)}`);
const block = (timestamp: number): ChainBlock => ({ number: 1_000n, hash: '0xaa', timestamp });
const account: ChainAccount = {
  block: block(NOW),
  transactionCount: 7,
  nativeBalance: 1n,
  usdcBalance: 2n,
  isContract: false,
};
const whole: ChainProfile = { account, first: block(NOW - 30 * DAY), gaps: [] };
const clean: CounterpartyFacts = { listed: [], compared: 10, lists: 6, staleLists: [], profile: whole };
const listed = { listId: 'us-ofac-sdn', entryId: '1', name: 'Somebody', programs: [] };

function judged(facts: Partial<CounterpartyFacts>): string {
  const reasons = reasonsOf({ ...clean, ...facts });
  return [verdictOf(reasons), ...reasons.map(({ code }) => code)].join(' ');
}

const profiled = (more: Partial<ChainProfile>): string => judged({ profile: { ...whole, ...more } });

test('an address on a list is a match, whatever else is known', () => {
  assert.is(judged({ listed: [listed] }), 'match LISTED_ADDRESS');
  assert.is(
    judged({ listed: [listed], staleLists: ['eu-consolidated'], profile: { account: null, first: null, gaps: ['x'] } }),
    'match LISTED_ADDRESS LIST_STALE CHAIN_DATA_PARTIAL',
  );
});

test('an old and active address on no list is clear', () => {
  assert.is(judged({}), 'clear NO_LISTED_ADDRESS');
});

test('whatever calls for a closer look makes a review, and nothing that is unknown is clear', () => {
  assert.is(judged({ staleLists: ['eu-consolidated'] }), 'review NO_LISTED_ADDRESS LIST_STALE');
  assert.is(profiled({ first: block(NOW - 7 * DAY + 1) }), 'review NO_LISTED_ADDRESS NEW_ADDRESS');
  assert.is(profiled({ first: block(NOW - 7 * DAY) }), 'clear NO_LISTED_ADDRESS');
  assert.is(profiled({ account: { ...account, isContract: true } }), 'review NO_LISTED_ADDRESS CONTRACT_ACCOUNT');
  assert.is(
    profiled({ account: { ...account, transactionCount: 0 }, first: null }),
    'review NO_LISTED_ADDRESS NO_ACTIVITY',
  );
  assert.is(
    profiled({ account: null, first: null, gaps: ['no answer'] }),
    'review NO_LISTED_ADDRESS CHAIN_DATA_PARTIAL',
  );
});

const unreachable = (): Promise<never> => Promise.reject(new ChainError('unreachable', 'nobody there'));
const never = (): Promise<never> => new Promise(() => {});
const limits = { accountMs: 30, historyMs: 30 };

test('a chain that is silent, slow or not there leaves a gap', async () => {
  const none = { account: null, first: null };
  for (const chain of [
    null,
    { account: unreachable, firstTransaction: unreachable },
    { account: never, firstTransaction: never },
  ]) {
    const { gaps, ...read } = await readProfile(chain, address, limits);
    assert.equal([read, gaps.length], [none, 1]);
  }
});

test('an age that the chain does not tell leaves a gap; an account that sent nothing has none', async () => {
  const own = { account: async () => account };
  for (const firstTransaction of [unreachable, never]) {
    const profile = await readProfile({ ...own, firstTransaction }, address, limits);
    assert.equal([profile.account, profile.first, profile.gaps.length], [account, null, 1]);
  }
  const fresh = { account: async () => ({ ...account, transactionCount: 0 }), firstTransaction: unreachable };
  assert.equal((await readProfile(fresh, address, limits)).gaps, []);
});

test('a search that is too slow is told to end', async () => {
  let isEnded = false;
  const firstTransaction = (_address: unknown, _head: unknown, signal: AbortSignal): Promise<never> => {
    signal.addEventListener('abort', () => (isEnded = true));
    return never();
  };
  await readProfile({ account: async () => account, firstTransaction }, address, limits);
  assert.ok(isEnded);
});

test('what is no fault of the chain is thrown', async () => {
  const broken = { account: () => Promise.reject(new TypeError('a fault')), firstTransaction: never };
  try {
    await readProfile(broken, address, limits);
    assert.unreachable();
  } catch (error) {
    assert.instance(error, TypeError);
  }
});

test.run();

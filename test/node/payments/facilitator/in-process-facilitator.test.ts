import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { PrivateKeyAccount } from 'viem/accounts';
import { openChainClient } from '../../../../node/payments/facilitator/chain-client.ts';
import { InProcessFacilitator } from '../../../../node/payments/facilitator/in-process-facilitator.ts';
import type { SignedAuthorization } from '../../../../node/payments/facilitator/contract.ts';
import { requirementsOf } from '../../../../protocol/payments/terms.ts';
import { TestChain } from '../../../fixtures/chain.ts';
import { randomNonce, type Signing, signAuthorization } from '../../../fixtures/chain-payer.ts';
import { ChainRpcProxy } from '../../../fixtures/chain-rpc-proxy.ts';
import { fails } from './failing.ts';

const WAIT_MS = 6_000;
const ANVIL_KEY = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80';

const chain = await TestChain.start({ facilitators: ['eu', 'us', 'poor'] });
const proxy = await ChainRpcProxy.start(chain.rpcUrl);
const wallet = await chain.wallet();
const terms = requirementsOf('tiered-attest', { payTo: chain.payTo });
const price = BigInt(terms.amount);
const facilitator = facilitatorOf('eu');

test.after(async () => {
  await facilitator[Symbol.asyncDispose]();
  await proxy[Symbol.asyncDispose]();
  await chain[Symbol.asyncDispose]();
});
test.before.each(() => {
  proxy.faultOf = () => null;
});

test('verifies without moving anything, and settles exactly the price', async () => {
  const payment = await pay();
  await facilitator.probe();
  const received = await change(async () => {
    await facilitator.verify(payment, terms);
    await facilitator.verify(payment, terms);
  });
  assert.is(received, 0n);
  assert.is(await change(() => facilitator.settle(payment, terms)), price);
});

test('refuses what is no payment, for its reason, and moves nothing', async () => {
  const now = Math.floor(Date.now() / 1_000);
  const poor = await chain.wallet('0');
  const good = await pay();
  const used = await pay();
  await facilitator.settle(used, terms);
  const cases: readonly (readonly [reason: string, payment: SignedAuthorization])[] = [
    ['invalid_exact_evm_signature', { ...good, signature: (await pay()).signature }],
    ['invalid_exact_evm_signature', { ...good, signature: '0x' + '00'.repeat(65) }],
    ['invalid_exact_evm_recipient_mismatch', await pay({ to: wallet.address })],
    ['invalid_exact_evm_payload_authorization_value_mismatch', await pay({ value: price - 1n })],
    ['invalid_exact_evm_payload_authorization_value_mismatch', await pay({ value: price + 1n })],
    ['invalid_exact_evm_payload_authorization_valid_before', await pay({ validBefore: now - 1 })],
    ['invalid_exact_evm_payload_authorization_valid_after', await pay({ validAfter: now + 60 })],
    ['invalid_exact_evm_insufficient_balance', await pay({}, poor)],
    ['invalid_exact_evm_nonce_already_used', used],
  ];
  const received = await change(async () => {
    for (const [reason, payment] of cases) {
      await fails(facilitator.verify(payment, terms), 'refused', reason);
      await fails(facilitator.settle(payment, terms), 'refused', reason);
    }
  });
  assert.is(received, 0n);
});

test('settles many at once, each once', async () => {
  const payments = await Promise.all(Array.from({ length: 40 }, () => pay()));
  const received = await change(async () => {
    const settled = await Promise.all(payments.map((payment) => facilitator.settle(payment, terms)));
    assert.is(new Set(settled.map(({ transaction }) => transaction)).size, payments.length);
  });
  assert.is(received, price * BigInt(payments.length));
});

test('charges once however often the same payment is settled, and by however many nodes', async () => {
  await using other = facilitatorOf('us');
  const payment = await pay();
  const received = await change(() =>
    Promise.allSettled([facilitator, other, facilitator, other].map((one) => one.settle(payment, terms))),
  );
  assert.is(received, price);
});

test('refuses a payment whose money was spent between verifying and settling', async () => {
  const spender = await chain.wallet('0.005');
  const [first, second] = [await pay({}, spender), await pay({}, spender)];
  await facilitator.verify(first, terms);
  await facilitator.verify(second, terms);
  assert.is(await change(() => facilitator.settle(first, terms)), price);
  await fails(facilitator.settle(second, terms), 'refused', 'invalid_exact_evm_insufficient_balance');
});

test('refuses a payment that failed on the chain, and leaves one open that went another way', async () => {
  const spender = await chain.wallet('0.005');
  const [first, second] = [await pay({}, spender), await pay({}, spender)];
  await chain.pauseMining();
  const settled = Promise.allSettled([facilitator.settle(first, terms), facilitator.settle(second, terms)]);
  await minedTogether(2);
  assert.equal(failuresOf(await settled), ['refused: invalid_exact_evm_transaction_failed']);

  await using other = facilitatorOf('us');
  const payment = await pay();
  await chain.pauseMining();
  const both = Promise.allSettled([facilitator.settle(payment, terms), other.settle(payment, terms)]);
  await minedTogether(2);
  assert.equal(failuresOf(await both), ['unknown-outcome: invalid_exact_evm_transaction_failed']);
});

test('waits for the block, and after its patience leaves the outcome open; asked again, it waits for the same', async () => {
  await using impatient = facilitatorOf('us', 200);
  const payment = await pay();
  await chain.pauseMining();
  const sent = proxy.count('eth_sendRawTransaction');
  await fails(impatient.settle(payment, terms), 'unknown-outcome', 'settlement_pending');
  await chain.resumeMining();
  assert.is(await change(() => impatient.settle(payment, terms)), 0n, 'it was mined before');
  assert.is(proxy.count('eth_sendRawTransaction') - sent, 1);
});

test('says that the chain cannot be reached, and not that the payment is bad', async () => {
  const payment = await pay();
  for (const fault of ['lost', 'broken', 'refused'] as const) {
    proxy.faultOf = () => fault;
    await fails(facilitator.verify(payment, terms), 'unreachable');
    await fails(facilitator.settle(payment, terms), 'unreachable');
    await fails(facilitator.probe(), 'unreachable');
  }
  proxy.faultOf = (method) => (method === 'eth_sendRawTransaction' ? 'refused' : null);
  await fails(facilitator.settle(payment, terms), 'unreachable', 'settlement_not_sent');
  proxy.faultOf = () => null;
  assert.is(await change(() => facilitator.settle(payment, terms)), price, 'its place in the order was not lost');
});

test('carries a settlement through when its sending was lost or nobody said that it arrived', async () => {
  for (const fault of ['lost', 'unanswered'] as const) {
    let left = 1;
    proxy.faultOf = (method) => (method === 'eth_sendRawTransaction' && left-- > 0 ? fault : null);
    const [first, second] = [await pay(), await pay()];
    const received = await change(() =>
      Promise.all([facilitator.settle(first, terms), facilitator.settle(second, terms)]),
    );
    assert.is(received, 2n * price, fault);
  }
});

test('goes on when the chain has lost the last transactions', async () => {
  const snapshot = await chain.client.snapshot();
  await facilitator.settle(await pay(), terms);
  await facilitator.settle(await pay(), terms);
  await chain.client.revert({ id: snapshot });
  const received = await change(async () => void (await facilitator.settle(await pay(), terms)));
  assert.is(received, price);
});

test('takes no payments without ether for fees, nor with a key that everybody knows', async () => {
  await using broke = facilitatorOf('poor');
  await chain.fuel(`0x${broke.settlers[0]?.slice(2)}`, '0');
  await fails(broke.probe(), 'unreachable', 'facilitator_out_of_ether');
  await fails(broke.settle(await pay(), terms), 'unreachable', 'settlement_not_sent');
  assert.throws(() => new InProcessFacilitator({ client: openChainClient(chain.rpcUrl), key: ANVIL_KEY }), /public/);
});

function failuresOf(results: readonly PromiseSettledResult<unknown>[]): string[] {
  return results.flatMap((result) => (result.status === 'rejected' ? [String(result.reason.message)] : []));
}

/** Mines one block once so many transactions wait for it, and then each at once again. */
async function minedTogether(transactions: number): Promise<void> {
  while ((await chain.client.getTxpoolStatus()).pending < transactions) await new Promise((r) => setTimeout(r, 5));
  await chain.mine();
  await chain.resumeMining();
}

/** What the payee received meanwhile. */
async function change(work: () => Promise<unknown>): Promise<bigint> {
  const before = await chain.balanceOf(chain.payTo);
  await work();
  return (await chain.balanceOf(chain.payTo)) - before;
}

function pay(signing: Partial<Signing> = {}, payer: PrivateKeyAccount = wallet): Promise<SignedAuthorization> {
  return signAuthorization(payer, { to: chain.payTo, value: price, nonce: randomNonce(), ...signing });
}

function facilitatorOf(name: string, waitMs = WAIT_MS): InProcessFacilitator {
  return new InProcessFacilitator({ client: openChainClient(proxy.rpcUrl), key: chain.key(name), waitMs });
}

test.run();

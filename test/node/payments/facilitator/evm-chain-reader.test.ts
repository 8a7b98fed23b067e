import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { encodeFunctionData, type Hex, parseAbi } from 'viem';
import type { PrivateKeyAccount } from 'viem/accounts';
import { receiptOf } from '../../../../cluster/chain/receipt.ts';
import { hexOf } from '../../../../node/payments/facilitator/chain-answers.ts';
import { ChainError } from '../../../../node/payments/facilitator/contract.ts';
import { openChainClient } from '../../../../node/payments/facilitator/chain-client.ts';
import { unused } from '../fake-chain.ts';
import { EvmChainReader } from '../../../../node/payments/facilitator/evm-chain-reader.ts';
import { InProcessFacilitator } from '../../../../node/payments/facilitator/in-process-facilitator.ts';
import type { SignedAuthorization } from '../../../../node/payments/facilitator/contract.ts';
import { walletAddress } from '../../../../protocol/payments/payment.ts';
import { MAX_LIFE_SECONDS, requirementsOf } from '../../../../protocol/payments/terms.ts';
import { USDC } from '../../../../protocol/payments/usdc.ts';
import { randomNonce, signAuthorization, type Signing } from '../../../fixtures/chain-payer.ts';
import { ChainRpcProxy } from '../../../fixtures/chain-rpc-proxy.ts';
import { TestChain } from '../../../fixtures/chain.ts';

const abi = parseAbi([
  'function transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,bytes)',
  'function cancelAuthorization(address,bytes32,bytes)',
  'function approve(address,uint256)',
]);

const chain = await TestChain.start({ facilitators: ['eu', 'us'] });
const proxy = await ChainRpcProxy.start(chain.rpcUrl);
const wallet = await chain.wallet();
await chain.fuel(wallet.address);
const terms = requirementsOf('tiered-attest', { payTo: chain.payTo });
const price = BigInt(terms.amount);
const own = facilitatorOf('eu');
const sibling = facilitatorOf('us');
const reader = new EvmChainReader({ client: openChainClient(proxy.rpcUrl), settlers: own.settlers });

const AHEAD_MS = 3_600_000;
/** Longer before its end no authorization is looked for. */
const LONGEST_LIFE_SECONDS = MAX_LIFE_SECONDS + 5_400;

const anyones = new EvmChainReader({ client: openChainClient(chain.rpcUrl), settlers: null });

test.after(async () => {
  for (const part of [own, sibling, proxy, chain]) await part[Symbol.asyncDispose]();
});
test.before.each(() => {
  proxy.faultOf = () => null;
});

test('tells a payment that we settled, by its transaction or by searching for it', async () => {
  const { authorization, signature } = await pay();
  const sought = { authorization, since: Date.now() };
  const { transaction } = await own.settle({ authorization, signature }, terms);
  await others(30);
  const found = await reader.paymentOf(sought);
  assert.equal([found.kind, found.kind === 'paid' && found.transaction], ['paid', transaction]);
  assert.equal(await reader.paymentOf(sought, transaction), found);
  assert.equal(await reader.paymentOf(sought, `0x${'ab'.repeat(32)}`), found, 'a wrong hint does no harm');
});

test('tells an unused authorization, and whether it can still be used', async () => {
  const since = Date.now();
  const now = Math.floor(since / 1_000);
  const outcomeUntil = async (validBefore: number) =>
    reader.paymentOf({ authorization: (await pay({ validBefore })).authorization, since });
  await chain.mine();
  assert.equal(await outcomeUntil(now + 60), unused(false));
  // Over, and yet the newest blocks may be replaced.
  assert.equal(await outcomeUntil(now - 1), unused(false));
  assert.equal(await outcomeUntil(now - 30), unused(true));
});

test('does not take a nonce for paid that its payer used up otherwise', async () => {
  const since = Date.now();
  type Use = (payment: SignedAuthorization) => Promise<unknown>;
  const otherwise: readonly (readonly [how: string, use: Use])[] = [
    ['cancelled', ({ authorization }) => cancel(hexOf(authorization.nonce))],
    ['paid to himself', async ({ authorization: { nonce } }) => carryOut(await pay({ nonce, to: wallet.address }))],
    ['paid less', async ({ authorization: { nonce } }) => carryOut(await pay({ nonce, value: price - 1n }))],
  ];
  const elsewhere: readonly (readonly [how: string, use: Use])[] = [
    ['by himself, past us', carryOut],
    ['for another service of ours', (payment) => sibling.settle(payment, terms)],
  ];
  for (const [how, use] of [...otherwise, ...elsewhere]) {
    const payment = await pay();
    await use(payment);
    const sought = { authorization: payment.authorization, since };
    assert.is((await reader.paymentOf(sought)).kind, 'burnt', how);
    if (otherwise.some(([other]) => other === how)) assert.is((await anyones.paymentOf(sought)).kind, 'burnt', how);
  }
});

test('where it does not matter who settles, another may', async () => {
  const payment = await pay();
  const sought = { authorization: payment.authorization, since: Date.now() };
  await sibling.settle(payment, terms);
  assert.is((await anyones.paymentOf(sought)).kind, 'paid');
  assert.is((await reader.paymentOf(sought)).kind, 'burnt');
});

test('says that it does not know where the chain cannot be read, at whichever question', async () => {
  const payment = await pay();
  const sought = { authorization: payment.authorization, since: Date.now() };
  await own.settle(payment, terms);
  proxy.calls.length = 0;
  assert.is((await reader.paymentOf(sought)).kind, 'paid');
  for (const method of new Set(proxy.calls)) {
    for (const fault of ['lost', 'refused', 'broken'] as const) {
      proxy.faultOf = (called) => (called === method ? fault : null);
      assert.is((await reader.paymentOf(sought)).kind, 'unknown', `${method} ${fault}`);
    }
  }
});

test('finds what was used before the time at which a node whose clock was ahead saw it first', async () => {
  const now = Math.floor(Date.now() / 1_000);
  const [paid, cancelled, old] = [await pay(), await pay(), await pay({ validBefore: now + LONGEST_LIFE_SECONDS })];
  for (const payment of [paid, old]) await own.settle(payment, terms);
  await cancel(hexOf(cancelled.authorization.nonce));
  const kindAt = async ({ authorization }: SignedAuthorization, since: number) => {
    proxy.calls.length = 0;
    const { kind } = await reader.paymentOf({ authorization, since });
    return [kind, proxy.calls.filter((method) => method === 'eth_getLogs').length] as const;
  };
  const ahead = Date.now() + AHEAD_MS;
  assert.equal(await kindAt(paid, Date.now()), ['paid', 1]);
  assert.equal(await kindAt(paid, ahead), ['paid', 2], 'ahead of the chain');
  await chain.client.increaseTime({ seconds: AHEAD_MS / 1_000 });
  await others(3);
  assert.equal(await kindAt(paid, ahead), ['paid', 2]);
  assert.equal(await kindAt(cancelled, ahead), ['burnt', 2]);
  assert.is((await kindAt(old, ahead))[0], 'unknown', 'from before it can have lived');
});

test('asks a node for fewer blocks at once that finds them too many', async () => {
  const payment = await pay({ validBefore: Math.floor(Date.now() / 1_000) + 7_200 });
  const sought = { authorization: payment.authorization, since: Date.now() };
  await own.settle(payment, terms);
  await others(60);
  let refusals = 4;
  proxy.faultOf = (method) => (method === 'eth_getLogs' && refusals-- > 0 ? 'refused' : null);
  assert.is((await reader.paymentOf(sought)).kind, 'paid');
  assert.ok(refusals < 0);
});

test('shows an account as one block has it', async () => {
  const account = await reader.account(walletAddress(wallet.address));
  assert.is(account.usdcBalance, await chain.balanceOf(wallet.address));
  assert.is(account.nativeBalance, await chain.client.getBalance({ address: wallet.address }));
  assert.is(account.transactionCount, await chain.client.getTransactionCount({ address: wallet.address }));
  assert.is(account.isContract, false);
  assert.equal(account.block, await reader.latestBlock());
  assert.is((await reader.account(walletAddress(USDC.asset))).isContract, true);
});

test('finds the block of the first transaction of an account, where the node keeps all states', async () => {
  const data = encodeFunctionData({ abi, functionName: 'approve', args: [chain.payTo, 1n] });
  const fresh = await chain.wallet();
  await chain.fuel(fresh.address);
  await others(3);
  await send(fresh, data);
  const { signal } = new AbortController();
  const first = await reader.latestBlock();
  await others(5);
  await send(fresh, data);
  assert.equal(await reader.firstTransaction(walletAddress(fresh.address), await reader.latestBlock(), signal), first);
  proxy.faultOf = (method) => (method === 'eth_getTransactionCount' ? 'refused' : null);
  let failure: unknown;
  const asked = reader.firstTransaction(walletAddress(fresh.address), first, signal);
  await asked.catch((error: unknown) => (failure = error));
  assert.is(failure instanceof ChainError && failure.code, 'refused');
});

test('throws an error of its own, without the URL of the chain', async () => {
  proxy.faultOf = () => 'broken';
  let failure: unknown;
  await reader.latestBlock().catch((error: unknown) => (failure = error));
  assert.instance(failure, ChainError);
  assert.not.match(String(failure), '127.0.0.1');
});

function pay(signing: Partial<Signing> = {}): Promise<SignedAuthorization> {
  return signAuthorization(wallet, { to: chain.payTo, value: price, nonce: randomNonce(), ...signing });
}

/** Blocks with other things in them. */
async function others(blocks: number): Promise<void> {
  for (let i = 0; i < blocks; i++) await chain.mine();
}

/** What anyone may do who holds a signed authorization. */
async function carryOut({ authorization, signature }: SignedAuthorization): Promise<void> {
  const { from, to, value, validAfter, validBefore, nonce } = authorization;
  const args = [
    hexOf(from),
    hexOf(to),
    BigInt(value),
    BigInt(validAfter),
    BigInt(validBefore),
    hexOf(nonce),
    `0x${signature.slice(2)}`,
  ] as const;
  await send(wallet, encodeFunctionData({ abi, functionName: 'transferWithAuthorization', args }));
}

async function cancel(nonce: Hex): Promise<void> {
  const signature = await wallet.signTypedData({
    domain: { name: USDC.name, version: USDC.version, chainId: chain.client.chain.id, verifyingContract: USDC.asset },
    types: {
      CancelAuthorization: [
        { name: 'authorizer', type: 'address' },
        { name: 'nonce', type: 'bytes32' },
      ],
    },
    primaryType: 'CancelAuthorization',
    message: { authorizer: wallet.address, nonce },
  });
  const args = [wallet.address, nonce, signature] as const;
  await send(wallet, encodeFunctionData({ abi, functionName: 'cancelAuthorization', args }));
}

async function send(from: PrivateKeyAccount, data: Hex): Promise<void> {
  const signed = await from.signTransaction({
    type: 'eip1559',
    chainId: chain.client.chain.id,
    nonce: await chain.client.getTransactionCount({ address: from.address }),
    gas: 300_000n,
    maxFeePerGas: 10n ** 10n,
    to: USDC.asset,
    data,
  });
  const hash = await chain.client.sendRawTransaction({ serializedTransaction: signed });
  assert.is((await receiptOf(chain.client, hash)).status, 'success');
}

function facilitatorOf(name: string): InProcessFacilitator {
  return new InProcessFacilitator({ client: openChainClient(chain.rpcUrl), key: chain.key(name) });
}

test.run();

import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createWalletClient, type Hex, http, parseAbi, type PrivateKeyAccount } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { receiptOf } from '../../../cluster/chain/receipt.ts';
import type { Listener } from '../../../node/http/server.ts';
import { fsck } from '../../../node/fsck/fsck.ts';
import { paymentDraftTable, paymentOpenTable } from '../../../node/payments/payment-tables.ts';
import type { SignedAuthorization } from '../../../node/payments/facilitator/contract.ts';
import { decodeHeader, encodeHeader } from '../../../protocol/payments/header.ts';
import { USDC } from '../../../protocol/payments/usdc.ts';
import { TestChain } from '../../fixtures/chain.ts';
import { payingFetch, signAuthorization, type Signing } from '../../fixtures/chain-payer.ts';
import { freePort } from '../../fixtures/ports.ts';
import { TestNetwork } from '../../fixtures/test-network.ts';
import { until } from '../../fixtures/until.ts';
import { buyNote, NOTE_PATH, NOTE_PRICE, noteHeader, openNoteShop } from './note-shop.ts';

const chain = await TestChain.start({ isDurable: true, facilitators: ['eu', 'rogue'] });
const network = await TestNetwork.start({ config: { payments: chain.config() } });
const node = network.node();
const port = await freePort();
const url = `http://127.0.0.1:${port}${NOTE_PATH}`;
/** Called in the middle of the work. */
let meanwhile = (): Promise<void> => Promise.resolve();
let runs = 0;

/** The paid route over the node's own till. */
function openShop(): Promise<Listener> {
  const { paymentService, log } = node.context;
  if (paymentService === null) throw new Error('the node has no till');
  const onWork = (): Promise<void> => {
    runs++;
    return meanwhile();
  };
  return openNoteShop({ paymentService, port, log, onWork });
}

let shop = await openShop();

async function restart(): Promise<void> {
  await shop[Symbol.asyncDispose]();
  await node.stop();
  await node.start();
  shop = await openShop();
}

test.after(async () => {
  await shop[Symbol.asyncDispose]();
  await network[Symbol.asyncDispose]();
  await chain[Symbol.asyncDispose]();
});
test.before.each(() => {
  meanwhile = () => Promise.resolve();
});

/** A payment of the right price to the right address, unless it says otherwise. */
async function signed(wallet: PrivateKeyAccount, signing: Partial<Signing> = {}): Promise<string> {
  return noteHeader(
    await signAuthorization(wallet, { to: chain.payTo, value: NOTE_PRICE, ...signing }),
    port,
    chain.payTo,
  );
}

const post = (payment: string): Promise<Response> => buyNote(port, payment);

/** Sends an authorization to the token, as anyone may who holds it. */
async function spend({ authorization, signature }: SignedAuthorization): Promise<void> {
  const account = privateKeyToAccount(chain.key('rogue'));
  const { from, to, value, validAfter, validBefore, nonce } = authorization;
  const sender = createWalletClient({ account, chain: chain.client.chain, transport: http(chain.rpcUrl) });
  const hash = await sender.writeContract({
    address: USDC.asset,
    abi: parseAbi(['function transferWithAuthorization(address, address, uint256, uint256, uint256, bytes32, bytes)']),
    functionName: 'transferWithAuthorization',
    args: [hex(from), hex(to), BigInt(value), BigInt(validAfter), BigInt(validBefore), hex(nonce), hex(signature)],
  });
  assert.is((await receiptOf(chain.client, hash)).status, 'success');
}

function hex(text: string): Hex {
  return `0x${text.slice(2)}`;
}

/** What the payee has more after some work. */
async function earned(work: () => Promise<void>): Promise<bigint> {
  const before = await chain.balanceOf(chain.payTo);
  await work();
  return (await chain.balanceOf(chain.payTo)) - before;
}

test('the stock client pays exactly the price, and the receipt names the transaction', async () => {
  const wallet = await chain.wallet();
  const gain = await earned(async () => {
    const answer = await payingFetch(wallet)(url, {
      method: 'POST',
      body: '{}',
      headers: { 'content-type': 'application/json' },
    });
    assert.is(answer.status, 200);
    const { payment } = Object(await answer.json());
    assert.is(payment.payer, wallet.address.toLowerCase());
    const receipt = await chain.client.getTransactionReceipt({ hash: payment.transaction });
    assert.is(receipt.status, 'success');
    assert.equal(Object(decodeHeader(answer.headers.get('payment-response') ?? '')).transaction, payment.transaction);
  });
  assert.is(gain, NOTE_PRICE);
});

test('duplicates that come together are one run and one charge; later and after a restart it is the same answer', async () => {
  const payment = await signed(await chain.wallet());
  const before = runs;
  const gain = await earned(async () => {
    const answers = await Promise.all([1, 2, 3, 4, 5].map(() => post(payment)));
    const texts = await Promise.all(answers.map((answer) => answer.text()));
    assert.equal(
      answers.map(({ status }) => status),
      [200, 200, 200, 200, 200],
    );
    await restart();
    const later = await post(payment);
    assert.is(new Set([...texts, await later.text()]).size, 1);
  });
  assert.equal([gain, runs - before], [NOTE_PRICE, 1]);
});

test('what does not pay buys nothing: no funds, a wrong signature, expired, underpaid, paid to another', async () => {
  const wallet = await chain.wallet();
  const now = Math.floor(Date.now() / 1000);
  const stolen = encodeHeader({ ...Object(decodeHeader(await signed(wallet))) });
  const other = Object(decodeHeader(await signed(await chain.wallet())));
  const forged = Object(decodeHeader(stolen));
  forged.payload.signature = other.payload.signature;
  const payments = [
    await signed(await chain.wallet('0')),
    encodeHeader(forged),
    await signed(wallet, { validBefore: now - 1 }),
    await signed(wallet, { value: NOTE_PRICE - 1n }),
    await signed(wallet, { to: wallet.address }),
  ];
  const before = runs;
  const gain = await earned(async () => {
    for (const payment of payments) assert.is((await post(payment)).status, 402);
  });
  assert.equal([gain, runs - before], [0n, 0]);
});

test('a payer who spends the authorization on himself during the work gets nothing', async () => {
  const wallet = await chain.wallet();
  const payment = await signed(wallet);
  const { authorization } = Object(decodeHeader(payment)).payload;
  meanwhile = async () => {
    const self = await signAuthorization(wallet, { to: wallet.address, value: NOTE_PRICE, nonce: authorization.nonce });
    await spend(self);
  };
  const gain = await earned(async () => {
    const answer = await post(payment);
    assert.is(answer.status, 402);
    assert.is(Object(await answer.json()).attestationId, undefined);
    assert.is((await post(payment)).status, 402);
  });
  assert.is(gain, 0n);
});

test('what was not paid for is no record: of the spent authorization nothing but its end is left', async () => {
  const { store, intake } = node.context;
  const before = intake.recorded;
  assert.equal(await Array.fromAsync(paymentDraftTable.under(store, [])), []);
  const answer = await post(await signed(await chain.wallet()));
  const { attestationId } = Object(await answer.json());
  assert.is((await node.get(`/v1/verify/${attestationId}`)).status, 200);
  assert.is(intake.recorded, before + 1);
});

test('a chain that goes away before the settlement is 503; the same signature is answered once it is back', async () => {
  const payment = await signed(await chain.wallet());
  const before = runs;
  meanwhile = () => chain.stop();
  const gain = await earned(async () => {
    assert.is((await post(payment)).status, 503);
    meanwhile = () => Promise.resolve();
    await chain.resume();
    await until('payments are taken again', async () => (await post(payment)).status === 200, 30_000);
  });
  assert.equal([gain, runs - before], [NOTE_PRICE, 1]);
});

test('many payers at once are all charged once and all answered', async () => {
  const wallets = await Promise.all(Array.from({ length: 8 }, () => chain.wallet()));
  const payments = await Promise.all(wallets.flatMap((wallet) => Array.from({ length: 6 }, () => signed(wallet))));
  const gain = await earned(async () => {
    const answers = await Promise.all(payments.map((payment) => post(payment)));
    assert.equal([...new Set(answers.map(({ status }) => status))], [200]);
  });
  assert.is(gain, 48n * NOTE_PRICE);
});

test('the ledger has what the payee has, and nothing is left open', async () => {
  const { settlements, store } = node.context;
  assert.is(BigInt(settlements.head.entries) * NOTE_PRICE, await chain.balanceOf(chain.payTo));
  assert.equal(await Array.fromAsync(paymentOpenTable.under(store, [])), []);
});

test('the store of the node is whole', async () => {
  await node.stop();
  const { report } = await fsck(node.config.home);
  assert.equal(report.findings, []);
  assert.ok(report.counts.settlements > 50);
});

test.run();

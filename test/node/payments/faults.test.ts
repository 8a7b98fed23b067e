import { pino } from 'pino';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createWalletClient, http, parseAbi, type PrivateKeyAccount } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { receiptOf } from '../../../cluster/chain/receipt.ts';
import { hexOf } from '../../../node/payments/facilitator/chain-answers.ts';
import { openPaymentMeans } from '../../../node/payments/payment-services.ts';
import type { SignedAuthorization } from '../../../node/payments/facilitator/contract.ts';
import { USDC } from '../../../protocol/payments/usdc.ts';
import { randomNonce, signAuthorization, type Signing } from '../../fixtures/chain-payer.ts';
import { TestChain } from '../../fixtures/chain.ts';
import { until } from '../../fixtures/until.ts';
import { FaultsFixture } from './faults-fixture.ts';
import { NOTE_PRICE, OTHER_NOTE_PATH } from './note-shop.ts';

const ANOTHER_CHAIN = 84_532;
const ANOTHER_NETWORK = `eip155:${ANOTHER_CHAIN}`;
const PAST_ITS_LIFE_SECONDS = 400;
const abi = parseAbi(['function transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,bytes)']);

const chain = await TestChain.start({ facilitators: ['eu', 'rogue'] });
/** Anyone who sends what he got hold of. */
const rogue = privateKeyToAccount(chain.key('rogue'));
const means = openPaymentMeans({ payments: chain.config(), production: false }, pino({ level: 'silent' }));
if (means === null) throw new Error('no means');
const fixture = await FaultsFixture.open(means);

test.after(async () => {
  await fixture[Symbol.asyncDispose]();
  await chain[Symbol.asyncDispose]();
});
test.before.each(() => {
  fixture.meanwhile = () => Promise.resolve();
});

async function sign(wallet: PrivateKeyAccount, signing: Partial<Signing> = {}): Promise<SignedAuthorization> {
  return signAuthorization(wallet, { to: chain.payTo, value: NOTE_PRICE, ...signing });
}

/** What the payee has more after some work, in prices, and how often a note was made. */
async function came(work: () => Promise<void>): Promise<{ readonly charges: number; readonly runs: number }> {
  const [before, runs] = [await chain.balanceOf(chain.payTo), fixture.runs];
  await work();
  const gain = (await chain.balanceOf(chain.payTo)) - before;
  return { charges: Number(gain) / Number(NOTE_PRICE), runs: fixture.runs - runs };
}

/** Sends an authorization to the token, as anyone may who holds it. */
async function carryOut({ authorization, signature }: SignedAuthorization): Promise<void> {
  const { from, to, value, validAfter, validBefore, nonce } = authorization;
  const sender = createWalletClient({ account: rogue, chain: chain.client.chain, transport: http(chain.rpcUrl) });
  const hash = await sender.writeContract({
    address: USDC.asset,
    abi,
    functionName: 'transferWithAuthorization',
    args: [
      hexOf(from),
      hexOf(to),
      BigInt(value),
      BigInt(validAfter),
      BigInt(validBefore),
      hexOf(nonce),
      `0x${signature.slice(2)}`,
    ],
  });
  assert.is((await receiptOf(chain.client, hash)).status, 'success');
}

test('replay: one charge, and the answer again', async () => {
  const payment = fixture.headerOf(await sign(await chain.wallet()));
  const all = await came(async () => {
    const first = await fixture.ask(payment);
    const second = await fixture.ask(payment);
    assert.equal([first.status, second.status], [200, 200]);
    assert.is(second.text, first.text);
    assert.is(second.headers.get('payment-replayed'), 'true');
  });
  assert.equal(all, { charges: 1, runs: 1 });
});

test('five concurrent duplicates: one run, one charge, one answer', async () => {
  const payment = fixture.headerOf(await sign(await chain.wallet()));
  const all = await came(async () => {
    const answers = await Promise.all([1, 2, 3, 4, 5].map(() => fixture.ask(payment)));
    assert.is(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size, 1);
    assert.is(answers[0]?.status, 200);
  });
  assert.equal(all, { charges: 1, runs: 1 });
});

test('other route: the header is refused there, and the authorization is bound where it was shown first', async () => {
  const signed = await sign(await chain.wallet());
  const all = await came(async () => {
    const elsewhere = await fixture.ask(fixture.headerOf(signed), { path: OTHER_NOTE_PATH });
    assert.equal([elsewhere.status, elsewhere.code], [402, 'payment-resource-mismatch']);
    assert.is((await fixture.ask(fixture.headerOf(signed))).status, 200);
    const rewritten = fixture.headerOf(signed, { path: OTHER_NOTE_PATH });
    const bound = await fixture.ask(rewritten, { path: OTHER_NOTE_PATH });
    assert.equal([bound.status, bound.code], [409, 'payment-bound-elsewhere']);
  });
  assert.equal(all, { charges: 1, runs: 1 });
});

test('other body, other query: 409, together or one after the other', async () => {
  const payment = fixture.headerOf(await sign(await chain.wallet()));
  const all = await came(async () => {
    const answers = await Promise.all([fixture.ask(payment), fixture.ask(payment, { body: '{"other":1}' })]);
    assert.equal(answers.map(({ status }) => status).sort(), [200, 409]);
    for (const other of [{ body: '{ }' }, { query: '?x=1' }, { body: '{"other":2}' }]) {
      assert.is((await fixture.ask(payment, other)).code, 'payment-bound-elsewhere');
    }
  });
  assert.equal(all, { charges: 1, runs: 1 });
});

test('wrong network, in words or in the signature; underpaid, overpaid; expired, not yet valid; not the payee', async () => {
  const wallet = await chain.wallet();
  const now = Math.floor(Date.now() / 1000);
  const payments = {
    'another network': fixture.headerOf(await sign(wallet), { network: ANOTHER_NETWORK }),
    'signed for another chain': fixture.headerOf(await sign(wallet, { chainId: ANOTHER_CHAIN })),
    underpaid: fixture.headerOf(await sign(wallet, { value: NOTE_PRICE - 1n })),
    overpaid: fixture.headerOf(await sign(wallet, { value: NOTE_PRICE + 1n })),
    expired: fixture.headerOf(await sign(wallet, { validBefore: now - 1 })),
    'hardly any life left': fixture.headerOf(await sign(wallet, { validBefore: now + 5 })),
    'not yet valid': fixture.headerOf(await sign(wallet, { validAfter: now + 60 })),
    'to himself': fixture.headerOf(await sign(wallet, { to: wallet.address })),
  };
  const all = await came(async () => {
    for (const [what, payment] of Object.entries(payments)) {
      const { status, code, headers } = await fixture.ask(payment);
      assert.equal([status, code], [402, 'payment-refused'], what);
      assert.ok(headers.get('payment-required'), what);
    }
  });
  assert.equal(all, { charges: 0, runs: 0 });
});

test('bad signature: another’s, a changed one, an empty one', async () => {
  const mine = await sign(await chain.wallet());
  const others = await sign(await chain.wallet());
  const changed = mine.signature.replace(/.{4}$/, (end) => (end === '001b' ? '001c' : '001b'));
  const all = await came(async () => {
    for (const signature of [others.signature, changed]) {
      assert.is((await fixture.ask(fixture.headerOf({ ...mine, signature }))).status, 402);
    }
    assert.ok([400, 402].includes((await fixture.ask(fixture.headerOf({ ...mine, signature: '0x' }))).status));
  });
  assert.equal(all, { charges: 0, runs: 0 });
  assert.is((await fixture.ask(fixture.headerOf(mine))).status, 200, 'nobody else’s attempt spoils a payment');
});

test('no funds; funds that go away during the work, and come back', async () => {
  const poor = fixture.headerOf(await sign(await chain.wallet('0')));
  const wallet = await chain.wallet('0.001');
  const payment = fixture.headerOf(await sign(wallet));
  const { records } = fixture;
  const all = await came(async () => {
    assert.is((await fixture.ask(poor)).status, 402);
    fixture.meanwhile = async () => carryOut(await sign(wallet, { to: rogue.address }));
    const withheld = await fixture.ask(payment);
    assert.equal([withheld.status, withheld.code], [402, 'payment-settlement-failed']);
    assert.not.match(withheld.text, /att_/);
  });
  assert.equal(all, { charges: 0, runs: 1 });
  assert.is(fixture.records, records, 'what was not paid for is recorded');
  await chain.mint(wallet.address, '0.001');
  fixture.meanwhile = () => Promise.resolve();
  const later = await came(async () => {
    assert.is((await fixture.ask(payment)).status, 200);
  });
  assert.equal(later, { charges: 1, runs: 1 });
});

test('burnt nonce: before it is shown, and during the work', async () => {
  const wallet = await chain.wallet();
  const all = await came(async () => {
    const early = await sign(wallet);
    await carryOut(await sign(wallet, { to: wallet.address, nonce: early.authorization.nonce }));
    assert.is((await fixture.ask(fixture.headerOf(early))).status, 402);
    const nonce = randomNonce();
    fixture.meanwhile = async () => carryOut(await sign(wallet, { to: wallet.address, nonce }));
    const late = fixture.headerOf(await sign(wallet, { nonce }));
    assert.is((await fixture.ask(late)).code, 'payment-settlement-failed');
    assert.is((await fixture.ask(late)).code, 'payment-refused');
  });
  assert.equal(all, { charges: 0, runs: 1 });
});

test('handler throwing: 500, no charge, and the same header still pays', async () => {
  const payment = fixture.headerOf(await sign(await chain.wallet()));
  fixture.meanwhile = () => Promise.reject(new Error('broken'));
  const broken = await came(async () => {
    assert.is((await fixture.ask(payment)).status, 500);
  });
  assert.equal(broken, { charges: 0, runs: 1 });
  fixture.meanwhile = () => Promise.resolve();
  const whole = await came(async () => {
    assert.is((await fixture.ask(payment)).status, 200);
  });
  assert.equal(whole, { charges: 1, runs: 1 });
});

test('client hanging up during the work: no charge; he may come back for the answer', async () => {
  const payment = fixture.headerOf(await sign(await chain.wallet()));
  const begun = Promise.withResolvers<void>();
  const left = Promise.withResolvers<void>();
  fixture.meanwhile = () => {
    begun.resolve();
    return left.promise;
  };
  const gone = await came(async () => {
    await fixture.askAndLeave(payment, begun.promise);
    setTimeout(left.resolve, 50);
    await left.promise;
    await fixture.idle();
  });
  assert.equal(gone, { charges: 0, runs: 1 });
  const back = await came(async () => {
    assert.is((await fixture.ask(payment)).status, 200);
  });
  assert.is(back.charges, 1);
});

test('client hanging up during the settlement: charged once, and answered when he comes back', async () => {
  const payment = fixture.headerOf(await sign(await chain.wallet()));
  const all = await came(async () => {
    await chain.pauseMining();
    const isSent = until('the settlement is sent', async () => {
      const { pending } = await chain.client.getTxpoolStatus();
      return pending > 0;
    });
    await fixture.askAndLeave(payment, isSent);
    await chain.resumeMining();
    await fixture.idle();
    const answer = await fixture.ask(payment);
    assert.equal([answer.status, answer.headers.get('payment-replayed')], [200, 'true']);
  });
  assert.equal(all, { charges: 1, runs: 1 });
});

test('the ledger has what the payee has', async () => {
  assert.is(BigInt(fixture.settlements) * NOTE_PRICE, await chain.balanceOf(chain.payTo));
});

test('expired during the work: nothing charged, nothing given', async () => {
  const payment = fixture.headerOf(await sign(await chain.wallet()));
  fixture.meanwhile = async () => {
    await chain.client.increaseTime({ seconds: PAST_ITS_LIFE_SECONDS });
    await chain.mine();
  };
  const all = await came(async () => {
    assert.is((await fixture.ask(payment)).code, 'payment-settlement-failed');
    const again = await fixture.ask(payment);
    assert.is(again.status, 402);
  });
  assert.equal(all, { charges: 0, runs: 1 });
});

test.run();

import { decodePaymentRequiredHeader, decodePaymentResponseHeader } from '@x402/core/http';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Problem } from '../../../node/http/problem.ts';
import { ADDRESS_ALLOWANCE, WALLET_ALLOWANCE } from '../../../node/accounts/limits/allowances.ts';
import { until } from '../../fixtures/until.ts';
import { HONEST } from '../payments/fake-chain.ts';
import { nonceOf, PAY_TO, PAYER } from '../payments/payment-fixture.ts';
import {
  BASE_URL,
  BOUND_KEY,
  NOTES,
  paid,
  type PaidHttpAnswer,
  PaidFixture,
  TENANT_KEY,
  told,
} from './paid-fixture.ts';

const TENANT = { 'x-api-key': TENANT_KEY };

function required(answer: PaidHttpAnswer): ReturnType<typeof decodePaymentRequiredHeader> {
  return decodePaymentRequiredHeader(answer.headers.get('payment-required') ?? '');
}

test('without a payment the terms come back, whatever the body: in the header, and the same in the body', async () => {
  await using fixture = await PaidFixture.open();
  for (const body of [undefined, {}, { note: 'x' }, '{"not json']) {
    const answer = await fixture.ask(NOTES, body === undefined ? {} : { body });
    assert.is(told(answer), '402 payment-required');
    const terms = required(answer);
    assert.equal(terms.resource.url, `${BASE_URL}${NOTES}`);
    assert.equal([terms.accepts[0]?.amount, terms.accepts[0]?.payTo], ['1000', PAY_TO]);
    const { success, code, detail, requestId, ...same } = answer.body;
    assert.equal(same, JSON.parse(JSON.stringify(terms)));
    assert.equal([success, code, terms.error], [false, 'payment-required', 'payment-required']);
    assert.ok(String(detail).length > 0 && requestId === answer.headers.get('x-request-id'));
    assert.match(answer.headers.get('content-type') ?? '', /^application\/json/);
    assert.is(answer.headers.get('cache-control'), 'no-store');
  }
  assert.is(fixture.worked.length, 0);
});

test('a payment buys an answer, with a receipt in body and header', async () => {
  await using fixture = await PaidFixture.open();
  const answer = await fixture.buy('hello');
  assert.is(answer.status, 200);
  const { payment } = answer.body;
  const receipt = decodePaymentResponseHeader(answer.headers.get('payment-response') ?? '');
  assert.equal([receipt.success, receipt.payer, receipt.network], [true, PAYER, 'eip155:8453']);
  assert.equal(payment, {
    amount: '0.001',
    asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
    network: 'eip155:8453',
    payer: PAYER,
    transaction: receipt.transaction,
  });
  assert.is(answer.headers.get('cache-control'), 'private');
  assert.match(answer.headers.get('vary') ?? '', /PAYMENT-SIGNATURE/i);
  assert.equal(fixture.fixture.chain.paid, [nonceOf(1)]);
});

test('asked again it is the same answer, marked as given before', async () => {
  await using fixture = await PaidFixture.open();
  const first = await fixture.buy('hello');
  const again = await fixture.buy('hello');
  assert.equal(again.body, first.body);
  assert.equal([first.headers.get('payment-replayed'), again.headers.get('payment-replayed')], [null, 'true']);
  assert.is(fixture.worked.length, 1);
});

test('what the chain shows of a payment does not open an answer that was bought under an identifier', async () => {
  await using fixture = await PaidFixture.open();
  const identifier = 'pay_0123456789abcdef';
  const first = await fixture.buy('hello', { identifier });
  assert.is(first.status, 200);
  for (const guess of [{}, { identifier: 'pay_fedcba9876543210' }]) {
    const read = await fixture.buy('hello', guess);
    assert.equal([read.status, read.body.attestationId], [402, undefined]);
  }
  assert.equal((await fixture.buy('hello', { identifier })).body, first.body);
});

test('cheap refusals first: of all that is wrong with a call, what costs least to find is told', async () => {
  await using fixture = await PaidFixture.open();
  const { chain } = fixture.fixture;
  const unreadable = { 'payment-signature': '!!' };
  const elsewhere = paid(NOTES, { resource: `${BASE_URL}/v1/x402/other` });
  const get = { method: 'GET' };
  chain.goodSignature = '0xff';
  chain.funds = 0;
  fixture.isClosed = true;
  assert.is(told(await fixture.ask(`${NOTES}/none`, get)), '404 agent-not-found');
  assert.is(told(await fixture.ask(`${NOTES}/none`, { ...get, headers: unreadable })), '404 agent-not-found');
  for (const headers of [{}, unreadable, elsewhere, paid(NOTES)]) {
    assert.is(told(await fixture.ask(NOTES, { body: '[]', headers })), '503 list-unavailable');
  }
  fixture.isClosed = false;
  assert.is(told(await fixture.ask(NOTES, { body: '[]' })), '402 payment-required');
  assert.is(told(await fixture.ask(NOTES, { body: '[]', headers: unreadable })), '400 payment-invalid');
  assert.is(told(await fixture.ask(NOTES, { body: '[]', headers: elsewhere })), '402 payment-resource-mismatch');
  assert.is(chain.signatureChecks, 0);
  assert.is(told(await fixture.ask(NOTES, { body: '[]', headers: paid(NOTES) })), '402 payment-refused');
  assert.is(chain.signatureChecks, 1);
  chain.goodSignature = '0x';
  assert.is(told(await fixture.ask(NOTES, { body: {}, headers: paid(NOTES) })), '400 missing-field');
  assert.is(told(await fixture.ask(NOTES, { body: '[]', headers: paid(NOTES) })), '400 invalid-json');
  assert.is(chain.verifies, 0);
  const poor = await fixture.buy('x');
  assert.equal([told(poor), poor.body.reason], ['402 payment-refused', 'open_authorizations_exceed_balance']);
  assert.is(fixture.worked.length, 0);
});

test('what was sold is answered before the body is parsed, and while nothing is for sale', async () => {
  await using fixture = await PaidFixture.open();
  const first = await fixture.buy('x');
  fixture.isClosed = true;
  fixture.fixture.chain.isReady = false;
  assert.equal((await fixture.buy('x')).body, first.body);
  assert.is(
    told(await fixture.ask(NOTES, { body: '{"not json', headers: paid(NOTES) })),
    '409 payment-bound-elsewhere',
  );
  assert.is(told(await fixture.buy('x', { nonce: 2 })), '503 list-unavailable');
  assert.is(fixture.worked.length, 1);
});

test('while no record can be made no price is named and nothing is sold, and what was sold is answered', async () => {
  await using fixture = await PaidFixture.open();
  const first = await fixture.buy('x');
  fixture.isUnrecording = true;
  const refused = [
    await fixture.ask(NOTES),
    await fixture.ask(NOTES, { headers: TENANT }),
    await fixture.buy('x', { nonce: 2 }),
  ];
  for (const answer of refused) {
    assert.is(told(answer), '503 clock-off');
    assert.ok(Number(answer.headers.get('retry-after')) > 0);
  }
  assert.equal((await fixture.buy('x')).body, first.body);
  assert.is(told(await fixture.ask(`${NOTES}/none`, { method: 'GET' })), '404 agent-not-found');
  assert.equal(fixture.fixture.chain.paid, [nonceOf(1)]);
  fixture.isUnrecording = false;
  assert.is((await fixture.buy('x', { nonce: 2 })).status, 200);
});

test('a body is not read before its payment is signed: a forged payment buys no work', async () => {
  await using fixture = await PaidFixture.open();
  fixture.fixture.chain.goodSignature = '0xff';
  const wrongType = { ...paid(NOTES), 'content-type': 'text/plain' };
  assert.is(told(await fixture.ask(NOTES, { body: '!', headers: wrongType })), '402 payment-refused');
});

test('a payment that does not hold is refused with the reason and the terms', async () => {
  await using fixture = await PaidFixture.open();
  fixture.fixture.chain.goodSignature = '0xff';
  const answer = await fixture.buy('x');
  assert.equal(
    [answer.body.reason, required(answer).error],
    ['invalid_exact_evm_signature', 'invalid_exact_evm_signature'],
  );
  const accepted = (more: object) => ({
    change: (header: object) => ({ ...header, accepted: { ...Object(header).accepted, ...more } }),
  });
  assert.is((await fixture.buy('x', accepted({ amount: '1' }))).body.reason, 'amount_mismatch');
  assert.is((await fixture.buy('x', accepted({ network: 'eip155:1' }))).body.reason, 'network_mismatch');
  assert.is((await fixture.buy('x', { validBefore: 5 })).body.reason, 'authorization_expires_too_soon');
});

test('a payment for another resource, or for none, is refused here and good where it belongs', async () => {
  await using fixture = await PaidFixture.open();
  for (const resource of [`${BASE_URL}/v1/x402/other`, `http://127.0.0.1${NOTES}`, `${BASE_URL}${NOTES}/`, null]) {
    const answer = await fixture.buy('x', { resource });
    assert.equal(
      [answer.status, answer.body.error, required(answer).error],
      [402, 'payment-resource-mismatch', 'payment-resource-mismatch'],
    );
  }
  assert.is((await fixture.buy('x')).status, 200);
});

test('what was sold is answered also once the node has another address, and nothing new by the old one', async () => {
  await using fixture = await PaidFixture.open();
  const first = await fixture.buy('x');
  fixture.baseUrl = 'https://moved.example';
  assert.equal((await fixture.buy('x')).body, first.body);
  assert.is(told(await fixture.buy('y')), '409 payment-bound-elsewhere');
  assert.is(told(await fixture.buy('x', { nonce: 2 })), '402 payment-resource-mismatch');
  assert.is(fixture.worked.length, 1);
  assert.equal(fixture.fixture.chain.paid, [nonceOf(1)]);
});

test('the host that a request names is not part of the resource', async () => {
  await using fixture = await PaidFixture.open();
  assert.is(
    (await fixture.buy('x', {}, { headers: { host: 'evil.example', 'x-forwarded-host': 'evil.example' } })).status,
    200,
  );
});

test('a header of version 1 is no payment', async () => {
  await using fixture = await PaidFixture.open();
  assert.is(
    told(await fixture.ask(NOTES, { body: { note: 'x' }, headers: { 'x-payment': 'e30=' } })),
    '402 payment-required',
  );
});

test('one payment is for one route, one query and one body', async () => {
  await using fixture = await PaidFixture.open();
  assert.is((await fixture.buy('x')).status, 200);
  assert.is(told(await fixture.buy('y')), '409 payment-bound-elsewhere');
  assert.is(
    told(await fixture.ask(`${NOTES}?a=1`, { body: { note: 'x' }, headers: paid(NOTES) })),
    '409 payment-bound-elsewhere',
  );
  const elsewhere = await fixture.ask(`${NOTES}/a`, { method: 'GET', headers: paid(`${NOTES}/a`) });
  assert.is(told(elsewhere), '409 payment-bound-elsewhere');
});

test('HEAD names the price and never buys; other methods and the second root are not there', async () => {
  await using fixture = await PaidFixture.open();
  const path = `${NOTES}/a`;
  const head = await fixture.ask(path, { method: 'HEAD', headers: paid(path) });
  assert.is(head.status, 402);
  assert.is(required(head).accepts[0]?.amount, '1000');
  assert.is((await fixture.ask(path, { method: 'PUT', headers: paid(path) })).status, 405);
  assert.is((await fixture.ask(`/verify${path}`, { method: 'GET', headers: paid(`/verify${path}`) })).status, 404);
  assert.is((await fixture.ask(path.toUpperCase(), { method: 'GET' })).status, 404);
  assert.is(fixture.worked.length, 0);
  assert.is((await fixture.ask(path, { method: 'GET', headers: paid(path) })).status, 200);
});

test('pages of any origin may pay: preflight and exposed headers, on refusals too', async () => {
  await using fixture = await PaidFixture.open();
  const preflight = await fixture.ask(NOTES, { method: 'OPTIONS' });
  assert.is(preflight.status, 204);
  for (const name of ['PAYMENT-SIGNATURE', 'Content-Type', 'Access-Control-Expose-Headers']) {
    assert.ok(preflight.headers.get('access-control-allow-headers')?.includes(name), name);
  }
  for (const answer of [await fixture.ask(NOTES, {}), await fixture.buy('x'), await fixture.buy('y')]) {
    assert.is(answer.headers.get('access-control-allow-origin'), '*');
    assert.match(answer.headers.get('access-control-expose-headers') ?? '', /PAYMENT-REQUIRED, PAYMENT-RESPONSE/);
  }
});

test('work that fails is told as it is and not charged; the payment is still good', async () => {
  await using fixture = await PaidFixture.open();
  const { work } = fixture;
  fixture.work = () => Promise.reject(new Problem('list-unavailable', 'too old'));
  assert.is(told(await fixture.buy('x')), '503 list-unavailable');
  fixture.work = () => Promise.reject(new Error('a secret'));
  const broken = await fixture.buy('x');
  assert.equal([told(broken), JSON.stringify(broken.body).includes('secret')], ['500 internal', false]);
  assert.equal(fixture.fixture.chain.paid, []);
  fixture.work = work;
  assert.is((await fixture.buy('x')).status, 200);
});

test('an answer that is not charged says so, and has no receipt', async () => {
  await using fixture = await PaidFixture.open();
  fixture.work = async () => ({ body: { verdict: 'inconclusive' }, charged: false });
  const answer = await fixture.buy('x');
  assert.equal([answer.status, answer.body], [200, { verdict: 'inconclusive', charged: false }]);
  assert.is(answer.headers.get('payment-response'), null);
});

test('where the settlement fails the answer is withheld, with the terms and what came of it', async () => {
  await using fixture = await PaidFixture.open();
  fixture.fixture.chain.behaviour = { ...HONEST, settle: 'refuses' };
  const answer = await fixture.buy('x');
  assert.is(told(answer), '402 payment-settlement-failed');
  assert.equal(
    [answer.body.error, answer.body.reason, answer.body.attestationId],
    ['payment-settlement-failed', 'insufficient_funds', undefined],
  );
  const response = decodePaymentResponseHeader(answer.headers.get('payment-response') ?? '');
  assert.equal([response.success, response.errorReason], [false, 'insufficient_funds']);
  assert.is(required(answer).accepts.length, 1);
});

test('while it is not known what came of the settlement, the same signature is asked for again', async () => {
  await using fixture = await PaidFixture.open();
  fixture.fixture.chain.behaviour = { ...HONEST, settle: 'hangs-after', look: 'unknown' };
  const answer = await fixture.buy('x');
  assert.is(told(answer), '503 payment-outcome-unknown');
  assert.ok(Number(answer.headers.get('retry-after')) > 0);
  fixture.fixture.chain.behaviour = HONEST;
  assert.is((await fixture.buy('x')).status, 200);
});

test('a node that makes no records any more says who owes what was paid meanwhile', async () => {
  await using fixture = await PaidFixture.open();
  fixture.fixture.isIntakeClosed = true;
  for (const answer of [await fixture.buy('x'), await fixture.buy('x')]) {
    assert.is(told(answer), '503 payment-outcome-unknown');
    assert.match(String(answer.body.detail), /settled.*its operator owes you/);
    assert.is(answer.headers.get('retry-after'), '3600');
  }
  assert.equal(fixture.fixture.chain.paid, [nonceOf(1)]);
});

test('while payments are out of order nothing is sold, and nothing given away', async () => {
  await using fixture = await PaidFixture.open();
  fixture.fixture.chain.isReady = false;
  for (const answer of [await fixture.ask(NOTES), await fixture.buy('x')]) {
    assert.is(told(answer), '503 payment-unavailable');
    assert.ok(Number(answer.headers.get('retry-after')) > 0);
  }
  assert.is(fixture.worked.length, 0);
});

test('without room for what a call leaves, nothing is sold', async () => {
  await using fixture = await PaidFixture.open();
  fixture.isFull = true;
  assert.is(told(await fixture.buy('x')), '507 storage-full');
  assert.equal(fixture.fixture.chain.paid, []);
  fixture.isFull = false;
  const { body } = await fixture.buy('x');
  fixture.isFull = true;
  assert.equal((await fixture.buy('x')).body, body, 'what was paid for is answered all the same');
});

test('an API key pays for nothing, gives the records their account, and is noted', async () => {
  await using fixture = await PaidFixture.open();
  assert.is(told(await fixture.ask(NOTES, { body: { note: 'x' }, headers: TENANT })), '402 payment-required');
  await fixture.buy('x', {}, { headers: TENANT });
  await fixture.buy('y', { nonce: 2 }, { headers: { 'x-api-key': 'unknown' } });
  assert.equal(
    fixture.worked.map(({ account, caller }) => [account, caller?.key.id]),
    [
      ['acme', 'key_1'],
      [`x402:${PAYER}`, undefined],
    ],
  );
  assert.equal(
    fixture.used.map(({ action, status, by }) => `${action} ${status} ${by}`),
    ['POST /v1/x402/notes 402 key_1', 'POST /v1/x402/notes 200 key_1'],
  );
});

test('a key that is bound to other addresses is none here: the wallet pays in its own name, and nothing is noted', async () => {
  await using fixture = await PaidFixture.open();
  const headers = { 'x-api-key': BOUND_KEY };
  assert.is((await fixture.buy('x', {}, { headers })).status, 200);
  assert.equal(
    fixture.worked.map(({ account, caller }) => [account, caller]),
    [[`x402:${PAYER}`, null]],
  );
  assert.equal(fixture.used, []);
});

test('a key that is revoked while the body arrives is none either', async () => {
  await using fixture = await PaidFixture.open();
  fixture.keyLooks = 1;
  assert.is((await fixture.buy('x', {}, { headers: TENANT })).status, 200);
  assert.equal(
    fixture.worked.map(({ account, caller }) => [account, caller]),
    [[`x402:${PAYER}`, null]],
  );
});

test('an address is told prices so often; with a key it is not counted', async () => {
  await using fixture = await PaidFixture.open();
  for (let i = 0; i < ADDRESS_ALLOWANCE.pricesPerMinute; i++) assert.is((await fixture.ask(NOTES)).status, 402);
  const limited = await fixture.ask(NOTES);
  assert.is(told(limited), '429 rate-limited');
  assert.ok(Number(limited.headers.get('retry-after')) > 0);
  assert.is((await fixture.ask(NOTES, { headers: TENANT })).status, 402);
  assert.is((await fixture.buy('x')).status, 200);
});

test('who is refused is told what kind of work it was and whose allowance is used up: an address, or the wallet that signed', async () => {
  await using fixture = await PaidFixture.open();
  const { work } = fixture;
  const go = Promise.withResolvers<void>();
  fixture.work = async (call) => {
    await go.promise;
    return work(call);
  };
  // So many may wait for the answer of one and the same call.
  const refused: PaidHttpAnswer[] = [];
  const calls = Array.from({ length: 66 }, async () => {
    const answer = await fixture.buy('wait');
    if (answer.status !== 200) refused.push(answer);
  });
  await until('two are refused', () => refused.length === 2);
  go.resolve();
  await Promise.all(calls);
  assert.is(refused.length, 2);
  for (const answer of refused) {
    assert.equal([told(answer), answer.body.class, answer.body.holder], ['429 rate-limited', 'paid', 'wallet']);
    assert.is(answer.headers.get('retry-after'), '1');
  }
  for (let i = 0; i < ADDRESS_ALLOWANCE.pricesPerMinute; i++) await fixture.ask(NOTES);
  const { status, body } = await fixture.ask(NOTES);
  assert.equal([status, body.class, body.holder], [429, 'paid', 'address']);
});

test('an address whose payments never hold is not listened to for a while', async () => {
  await using fixture = await PaidFixture.open();
  const headers = { 'payment-signature': '!!' };
  for (let i = 0; i < ADDRESS_ALLOWANCE.refusedPaymentsPerMinute; i++) {
    assert.is((await fixture.ask(NOTES, { headers })).status, 400);
  }
  assert.is(told(await fixture.buy('x')), '429 rate-limited');
});

test('a wallet that signs again and again for what comes to nothing is not listened to for a while, from wherever it calls', async () => {
  await using fixture = await PaidFixture.open();
  const { unpaidCallsPerMinute } = WALLET_ALLOWANCE;
  for (let i = 0; i < unpaidCallsPerMinute; i++) assert.is((await fixture.buy('')).status, 400);
  const { status, headers, body } = await fixture.buy('x', {}, { headers: TENANT });
  assert.equal([status, body.code, body.holder], [429, 'rate-limited', 'wallet']);
  assert.ok(Number(headers.get('retry-after')) > 0);
  assert.is(fixture.worked.length, 0);
});

test('a caller who hangs up before the charge is not charged, and may come back for it', async () => {
  await using fixture = await PaidFixture.open();
  const { work } = fixture;
  const gone = new AbortController();
  const { promise: left, resolve: leave } = Promise.withResolvers<void>();
  fixture.work = async (call) => {
    const answer = await work(call);
    gone.abort();
    await left;
    return answer;
  };
  const lost = await fixture.buy('x', {}, { signal: gone.signal }).catch(() => 'gone');
  assert.is(lost, 'gone');
  setTimeout(leave, 100);
  await left;
  await fixture.fixture.opened.payments.idle();
  assert.equal(fixture.fixture.chain.paid, []);
  fixture.work = work;
  assert.is((await fixture.buy('x')).status, 200);
  assert.is(fixture.fixture.chain.settles, 1);
});

test.run();

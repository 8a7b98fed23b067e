import { decodePaymentRequiredHeader } from '@x402/core/http';
import { declarePaymentIdentifierExtension } from '@x402/extensions/payment-identifier';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { encodeHeader } from '../../../protocol/payments/header.ts';
import { PAYMENT_IDENTIFIER_DECLARATION } from '../../../protocol/payments/identifier.ts';
import type { Payment } from '../../../protocol/payments/payment.ts';
import { priceOf, SERVICE_NAMES, SERVICES } from '../../../protocol/payments/prices.ts';
import {
  MAX_LIFE_SECONDS,
  MIN_LIFE_SECONDS,
  paymentRequired,
  requirementsOf,
  termsFault,
  timeFault,
} from '../../../protocol/payments/terms.ts';
import { atomicAmount, atomicUsdc, usdOf } from '../../../protocol/payments/usdc.ts';
import { parsePayment } from '../../../protocol/payments/payment.ts';

const PAY_TO = `0x${'Fe'.repeat(20)}`;

test('the price table is that of the specification', () => {
  const prices = SERVICE_NAMES.map((name) => `${SERVICES[name].method} ${SERVICES[name].path} ${SERVICES[name].usd}`);
  assert.equal(prices, [
    'POST /v1/x402/tiered-attest 0.005',
    'POST /v1/x402/tiered-attest-batch 0.035',
    'POST /v1/x402/tiered-attest-batch-xl 0.135',
    'POST /v1/x402/attested-inference 0.01',
    'POST /v1/x402/attested-screening 0.01',
    'GET /v1/x402/agent-record/:agentId 0.005',
    'POST /v1/x402/verify-audit 0.002',
    'GET /v1/x402/hedera-facts/all 0.003',
    'GET /v1/x402/hedera-facts/:fact 0.001',
    'GET /v1/x402/regwatch-feed 0.05',
    'GET /v1/x402/wallet-record/:address 0.005',
    'GET /v1/x402/check-counterparty/:address 0.01',
  ]);
});

test('dollars are written in the smallest unit, and back', () => {
  for (const name of SERVICE_NAMES) assert.is(usdOf(priceOf(name)), SERVICES[name].usd);
  assert.equal(
    [atomicUsdc('0.135'), atomicUsdc('1'), atomicUsdc('0'), atomicUsdc('12.000001')],
    ['135000', '1000000', '0', '12000001'],
  );
  assert.equal(
    ['1', '1000000', '0', '1500000'].map((text) => usdOf(atomicAmount(text))),
    ['0.000001', '1', '0', '1.5'],
  );
  for (const text of ['', '.5', '1.', '0.0000001', '-1', '1e3', '01', ' 1']) {
    assert.throws(() => atomicUsdc(text), /dollars/);
  }
});

test('the terms are what stock clients read', () => {
  const required = paymentRequired({
    service: 'hedera-fact',
    url: 'https://eu.example/v1/x402/hedera-facts/supply',
    payTo: PAY_TO,
    error: 'payment-required',
    extensions: { bazaar: { info: {}, schema: {} } },
  });
  const read = decodePaymentRequiredHeader(encodeHeader(required));
  assert.is(read.x402Version, 2);
  assert.equal(read.accepts, [
    {
      scheme: 'exact',
      network: 'eip155:8453',
      amount: '1000',
      asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
      payTo: PAY_TO,
      maxTimeoutSeconds: 300,
      extra: { name: 'USD Coin', version: '2' },
    },
  ]);
  assert.equal(Object.keys(read.extensions ?? {}), ['payment-identifier', 'bazaar']);
});

test('the payment identifier is declared as its extension is', () => {
  assert.equal(PAYMENT_IDENTIFIER_DECLARATION, JSON.parse(JSON.stringify(declarePaymentIdentifierExtension(false))));
});

const TERMS = requirementsOf('hedera-fact', { payTo: PAY_TO });

function payment(accepted: object = {}, authorization: object = {}): Payment {
  return parsePayment(
    encodeHeader({
      x402Version: 2,
      accepted: { ...TERMS, ...accepted },
      payload: {
        signature: '0x01',
        authorization: {
          from: `0x${'1'.repeat(40)}`,
          to: PAY_TO,
          value: '1000',
          validAfter: '0',
          validBefore: '2000',
          nonce: `0x${'2'.repeat(64)}`,
          ...authorization,
        },
      },
    }),
  );
}

test('a payment meets the terms in what it says and in what it signs, whatever the case of addresses', () => {
  assert.is(termsFault(payment(), TERMS), null);
  assert.is(
    termsFault(payment({ asset: TERMS.asset.toLowerCase(), payTo: PAY_TO.toUpperCase().replace('0X', '0x') }), TERMS),
    null,
  );
  const faults = [
    payment({ scheme: 'upto' }),
    payment({ network: 'eip155:84532' }),
    payment({ asset: `0x${'3'.repeat(40)}` }),
    payment({ amount: '999' }),
    payment({ payTo: `0x${'4'.repeat(40)}` }),
    payment({}, { value: '999' }),
    payment({}, { value: '1001' }),
    payment({}, { to: `0x${'4'.repeat(40)}` }),
  ].map((made) => termsFault(made, TERMS));
  assert.equal(faults, [
    'scheme_mismatch',
    'network_mismatch',
    'asset_mismatch',
    'amount_mismatch',
    'recipient_mismatch',
    'authorization_value_mismatch',
    'authorization_value_mismatch',
    'authorization_recipient_mismatch',
  ]);
});

test('an authorization is taken while it is valid and has enough of its life left, and not too much', () => {
  const at = (validAfter: number, validBefore: number, now: number) =>
    timeFault(payment({}, { validAfter: String(validAfter), validBefore: String(validBefore) }).authorization, now);
  assert.is(at(0, 1_000, 1_000 - MIN_LIFE_SECONDS), null);
  assert.is(at(0, 1_000, 1_001 - MIN_LIFE_SECONDS), 'authorization_expires_too_soon');
  assert.is(at(0, 1_000, 1_000), 'authorization_expired');
  assert.is(at(500, 1_000, 500), 'authorization_not_yet_valid');
  assert.is(at(500, 1_000, 501), null);
  assert.is(at(0, 501 + MAX_LIFE_SECONDS, 501), null);
  assert.is(at(0, 502 + MAX_LIFE_SECONDS, 501), 'authorization_lives_too_long');
});

test.run();

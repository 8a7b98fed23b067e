import { encodePaymentSignatureHeader } from '@x402/core/http';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { encodeHeader } from '../../../protocol/payments/header.ts';
import { parsePayment, PaymentFormatError, wireAuthorization } from '../../../protocol/payments/payment.ts';
import type { JsonObject, JsonValue } from '../../../protocol/json/value.ts';
import { fc } from '../../fixtures/properties.ts';

const FROM = `0x${'Ab'.repeat(20)}`;
const TO = `0x${'Cd'.repeat(20)}`;
const NONCE = `0x${'0F'.repeat(32)}`;

const AUTHORIZATION = { from: FROM, to: TO, value: '5000', validAfter: '0', validBefore: '1795262700', nonce: NONCE };
const ACCEPTED = {
  scheme: 'exact',
  network: 'eip155:8453',
  amount: '5000',
  asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  payTo: TO,
  maxTimeoutSeconds: 300,
  extra: { name: 'USD Coin', version: '2' },
} as const;
const PAYMENT = {
  x402Version: 2,
  resource: { url: 'https://eu.example/v1/x402/tiered-attest', description: 'd', mimeType: 'application/json' },
  accepted: ACCEPTED,
  payload: { signature: '0xAB01', authorization: AUTHORIZATION },
};

function faultOf(header: string): string {
  try {
    parsePayment(header);
  } catch (error) {
    if (error instanceof PaymentFormatError) return error.message;
    throw error;
  }
  throw new Error('it was read');
}

/** The payment with one member changed, by its path; undefined takes it away. */
function changed(path: string, value: JsonValue | undefined): string {
  const copy: JsonObject = structuredClone<JsonObject>(PAYMENT);
  const names = path.split('.');
  const last = names.pop() ?? '';
  const holder = names.reduce<JsonValue>((inner, name) => Object(inner)[name], copy);
  if (value === undefined) delete Object(holder)[last];
  else Object(holder)[last] = value;
  return encodeHeader(copy);
}

test('a header of the stock client is read, addresses and nonce in their one form', () => {
  const payment = parsePayment(encodePaymentSignatureHeader(structuredClone(PAYMENT)));
  assert.equal(payment, {
    resource: PAYMENT.resource.url,
    accepted: { scheme: 'exact', network: 'eip155:8453', asset: ACCEPTED.asset, amount: '5000', payTo: TO },
    authorization: {
      from: FROM.toLowerCase(),
      to: TO.toLowerCase(),
      value: '5000',
      validAfter: 0,
      validBefore: 1_795_262_700,
      nonce: NONCE.toLowerCase(),
    },
    signature: '0xab01',
    identifier: null,
  });
});

test('an authorization goes out as it came in', () => {
  const { authorization } = parsePayment(encodeHeader(PAYMENT));
  const lower = { from: FROM.toLowerCase(), to: TO.toLowerCase(), nonce: NONCE.toLowerCase() };
  assert.equal(wireAuthorization(authorization), { ...AUTHORIZATION, ...lower });
});

test('the resource and the extensions may be left out', () => {
  assert.is(parsePayment(changed('resource', undefined)).resource, null);
});

test('a payment identifier is read; one of another form is none', () => {
  const withId = (id: JsonValue) =>
    changed('extensions', { 'payment-identifier': { info: { required: false, id }, schema: {} } });
  assert.is(parsePayment(withId('pay_0123456789abcdef')).identifier, 'pay_0123456789abcdef');
  for (const id of ['short', 'a'.repeat(129), 'pay 0123456789abcdef', 17]) {
    assert.match(faultOf(withId(id)), /identifier/);
  }
  const declared = { 'payment-identifier': { info: { required: false }, schema: {} }, bazaar: { info: {} } };
  assert.is(parsePayment(changed('extensions', declared)).identifier, null);
});

const MALFORMED: readonly (readonly [path: string, value: JsonValue | undefined])[] = [
  ['x402Version', 1],
  ['x402Version', undefined],
  ['resource', 'https://eu.example'],
  ['resource.url', 7],
  ['accepted', undefined],
  ['accepted.amount', 5000],
  ['payload', undefined],
  ['payload.signature', undefined],
  ['payload.signature', '0x'],
  ['payload.signature', '0xabc'],
  ['payload.signature', `0x${'ab'.repeat(5_000)}`],
  ['payload.authorization', undefined],
  ['payload.authorization.from', '0x1234'],
  ['payload.authorization.to', `${TO}00`],
  ['payload.authorization.value', '0x1388'],
  ['payload.authorization.value', ' 5000'],
  ['payload.authorization.value', '05000'],
  ['payload.authorization.value', '-1'],
  ['payload.authorization.value', 5000],
  ['payload.authorization.validBefore', '1e9'],
  ['payload.authorization.validBefore', '9'.repeat(40)],
  ['payload.authorization.nonce', `0x${'0'.repeat(63)}`],
  ['extensions', []],
];

for (const [path, value] of MALFORMED) {
  test(`not read: ${path} = ${JSON.stringify(value)?.slice(0, 40)}`, () => {
    assert.ok(faultOf(changed(path, value)).length > 0);
  });
}

test('what is not base64 of strict JSON is not read', () => {
  for (const header of [
    '!!',
    '',
    'e30',
    'bnVsbA==',
    'W10=',
    '/w==',
    'eyJhIjoxLCJhIjoyfQ==',
    '{"x402Version":2}',
    'a b',
  ]) {
    assert.ok(faultOf(header).length > 0, header);
  }
});

test('whatever is sent, it is read or refused, and nothing else', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.base64String(),
        fc.jsonValue().map((v) => btoa(unescape(encodeURIComponent(JSON.stringify(v))))),
      ),
      (header) => {
        try {
          parsePayment(header);
        } catch (error) {
          assert.ok(error instanceof PaymentFormatError);
        }
      },
    ),
  );
});

test.run();

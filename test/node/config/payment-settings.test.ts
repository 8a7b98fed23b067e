import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Environment } from '../../../node/config/environment.ts';
import { ConfigError } from '../../../node/config/read-variable.ts';
import type { PaymentsConfig } from '../../../node/payments/facilitator/config.ts';
import { configWith } from './settings.ts';

const PAY_TO = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
const KEY = `0x${'5e'.repeat(32)}`;
const BY_ITSELF: Environment = { RPC_URL: 'https://rpc.example.test/v2/key', PAY_TO, FACILITATOR_KEY: KEY };
const BY_SERVICE: Environment = {
  RPC_URL: 'https://rpc.example.test',
  PAY_TO,
  FACILITATOR_URL: 'https://pay.example.test/x402/',
};

test('a node without payment variables takes no payments', () => {
  assert.is(paymentsOf({}), null);
});

test('settles by itself with a key, or by a service with a URL', () => {
  assert.equal(paymentsOf(BY_ITSELF), {
    rpcUrl: 'https://rpc.example.test/v2/key',
    payTo: PAY_TO,
    facilitator: { kind: 'in-process', key: KEY },
  });
  assert.equal(paymentsOf(BY_SERVICE)?.facilitator, {
    kind: 'http',
    url: 'https://pay.example.test/x402',
    headers: {},
  });
});

test('gives the service a bearer token and headers of its own', () => {
  const given = { ...BY_SERVICE, FACILITATOR_TOKEN: 't0ken', FACILITATOR_HEADERS: '{"X-Api-Key":"abc"}' };
  assert.equal(paymentsOf(given)?.facilitator, {
    kind: 'http',
    url: 'https://pay.example.test/x402',
    headers: { 'x-api-key': 'abc', authorization: 'Bearer t0ken' },
  });
});

test('takes an account without checksum and writes it with one', () => {
  assert.is(paymentsOf({ ...BY_ITSELF, PAY_TO: PAY_TO.toLowerCase() })?.payTo, PAY_TO);
});

test('reaches what decides over money in the clear on this machine only', () => {
  for (const host of ['127.0.0.1', 'localhost', '[::1]']) {
    assert.is(paymentsOf({ ...BY_ITSELF, RPC_URL: `http://${host}:4320` })?.rpcUrl, `http://${host}:4320`);
  }
  assert.throws(() => paymentsOf({ ...BY_ITSELF, RPC_URL: 'http://10.0.0.1:8545' }), /RPC_URL needs https/);
  assert.throws(() => paymentsOf({ ...BY_SERVICE, FACILITATOR_URL: 'http://pay.test' }), /FACILITATOR_URL needs https/);
});

test('refuses what is half set or wrong, and names the variable, never a secret', () => {
  const cases: readonly [fault: string, environment: Environment][] = [
    ['RPC_URL is not set', { PAY_TO, FACILITATOR_KEY: KEY }],
    ['PAY_TO is not set', { RPC_URL: 'https://rpc.example.test', FACILITATOR_KEY: KEY }],
    ['one of FACILITATOR_KEY and FACILITATOR_URL', { RPC_URL: 'https://rpc.example.test', PAY_TO }],
    ['one of FACILITATOR_KEY and FACILITATOR_URL', { ...BY_SERVICE, FACILITATOR_KEY: KEY }],
    ['FACILITATOR_TOKEN needs FACILITATOR_URL', { ...BY_ITSELF, FACILITATOR_TOKEN: 'hunter2' }],
    ['one of FACILITATOR_KEY', { RPC_URL: 'https://rpc.example.test', PAY_TO, FACILITATOR_TOKEN: 'hunter2' }],
    ['RPC_URL', { ...BY_ITSELF, RPC_URL: 'hunter2' }],
    ['RPC_URL', { ...BY_ITSELF, RPC_URL: 'ftp://rpc.example.test/hunter2' }],
    ['RPC_URL', { ...BY_ITSELF, RPC_URL: 'https://user:hunter2@rpc.example.test' }],
    ['PAY_TO: not an account', { ...BY_ITSELF, PAY_TO: '0x1234' }],
    ['PAY_TO: not an account', { ...BY_ITSELF, PAY_TO: `0x${'0'.repeat(40)}` }],
    ['PAY_TO: its checksum', { ...BY_ITSELF, PAY_TO: PAY_TO.replace('aA', 'AA') }],
    ['PAY_TO: that is the token', { ...BY_ITSELF, PAY_TO: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913' }],
    ['PAY_TO: its private key is public', { ...BY_ITSELF, PAY_TO: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266' }],
    ['FACILITATOR_KEY', { ...BY_ITSELF, FACILITATOR_KEY: 'hunter2' }],
    ['FACILITATOR_KEY', { ...BY_ITSELF, FACILITATOR_KEY: `0x${'0'.repeat(64)}` }],
    ['FACILITATOR_KEY', { ...BY_ITSELF, FACILITATOR_KEY: `0x${'f'.repeat(64)}` }],
    ['FACILITATOR_TOKEN', { ...BY_SERVICE, FACILITATOR_TOKEN: 'hunter2\nx: y' }],
    ['FACILITATOR_HEADERS', { ...BY_SERVICE, FACILITATOR_HEADERS: 'x-api-key: hunter2' }],
    ['FACILITATOR_HEADERS', { ...BY_SERVICE, FACILITATOR_HEADERS: '["hunter2"]' }],
    ['"x-n"', { ...BY_SERVICE, FACILITATOR_HEADERS: '{"x-n":["hunter2"]}' }],
    ['"content-type"', { ...BY_SERVICE, FACILITATOR_HEADERS: '{"content-type":"hunter2"}' }],
  ];
  for (const [fault, environment] of cases) {
    try {
      paymentsOf(environment);
    } catch (error) {
      assert.instance(error, ConfigError);
      assert.match(String(error), fault);
      assert.not.match(String(error), 'hunter2');
      continue;
    }
    assert.unreachable(fault);
  }
});

function paymentsOf(environment: Environment): PaymentsConfig | null {
  return configWith(environment).payments;
}

test.run();

import { createServer } from 'node:http';
import pino from 'pino';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { FacilitatorServer } from '../../../../cluster/chain/facilitator-server.ts';
import type { PaymentsConfig } from '../../../../node/payments/facilitator/config.ts';
import { openPaymentBackend } from '../../../../node/payments/facilitator/payment-backend.ts';
import { requirementsOf } from '../../../../protocol/payments/terms.ts';
import { TestChain } from '../../../fixtures/chain.ts';
import { signAuthorization } from '../../../fixtures/chain-payer.ts';
import { ChainRpcProxy } from '../../../fixtures/chain-rpc-proxy.ts';
import { freePort } from '../../../fixtures/ports.ts';
import { until } from '../../../fixtures/until.ts';
import { fails } from './failing.ts';

const UNUSED = { kind: 'unpaid', reason: 'authorization_unused', isTemporary: false, isOver: false };
const PAUSES = { calmMs: 30, firstMs: 10, mostMs: 50 };

const chain = await TestChain.start({ isDurable: true });
const terms = requirementsOf('tiered-attest', { payTo: chain.payTo });
const lines: string[] = [];
const log = pino({ level: 'debug' }, { write: (line: string) => void lines.push(line) });

test.after(() => chain[Symbol.asyncDispose]());
test.before.each(() => {
  lines.length = 0;
});

test('starts while the chain is down, takes no payments, and takes them once it is there', async () => {
  await chain.stop();
  await using backend = open(chain.config());
  await backend.start();
  assert.equal(backend.readiness, { ready: false, reason: 'chain_unreachable' });
  assert.is(backend.isReady, false);
  await chain.resume();
  await until('payments are taken', () => backend.isReady);
  await chain.stop();
  await until('payments are not taken', () => !backend.isReady);
  await chain.resume();
  await until('payments are taken again', () => backend.isReady);
  assert.is(lines.filter((line) => line.includes('payments are taken')).length, 2);
  assert.ok(lines.length < 10, 'the log says what changed, not each look');
});

test('a payment goes through the whole of it', async () => {
  await using backend = open(chain.config());
  await backend.start();
  const wallet = await chain.wallet();
  const payment = await signAuthorization(wallet, { to: chain.payTo, value: BigInt(terms.amount) });
  const sought = { authorization: payment.authorization, since: Date.now() };
  assert.equal(await backend.chain.paymentOf(sought), UNUSED);
  await backend.checkSignature(payment, terms);
  await backend.facilitator.verify(payment, terms);
  await backend.facilitator.settle(payment, terms);
  assert.is((await backend.chain.paymentOf(sought)).kind, 'paid');
  await fails(backend.facilitator.verify(payment, terms), 'refused', 'invalid_exact_evm_nonce_already_used');
});

test('the word of a facilitator that lost its answer is unknown, and the chain tells', async () => {
  await using service = await FacilitatorServer.start({ rpcUrl: chain.rpcUrl, key: chain.key(), port: 0 });
  await using backend = open({ ...chain.config(), facilitator: { kind: 'http', url: service.url, headers: {} } });
  await backend.start();
  assert.is(backend.isReady, true);
  const payment = await signAuthorization(await chain.wallet(), { to: chain.payTo, value: BigInt(terms.amount) });
  const sought = { authorization: payment.authorization, since: Date.now() };
  service.fault = 'close-after';
  await fails(backend.facilitator.settle(payment, terms), 'unknown-outcome');
  assert.is((await backend.chain.paymentOf(sought)).kind, 'paid');
});

test('takes no payments while the service is down or does not support the network', async () => {
  const port = await freePort();
  await using backend = open({
    ...chain.config(),
    facilitator: { kind: 'http', url: `http://127.0.0.1:${port}`, headers: {} },
  });
  await backend.start();
  assert.equal(backend.readiness, { ready: false, reason: 'facilitator_unreachable' });
  const other = createServer((_, response) =>
    response.end('{"kinds":[{"x402Version":2,"scheme":"exact","network":"eip155:1"}]}'),
  );
  await new Promise<void>((resolve) => other.listen(port, '127.0.0.1', resolve));
  const unfit = 'facilitator_does_not_support_the_network';
  await until('the service is unfit', () => !backend.readiness.ready && backend.readiness.reason === unfit);
  other.closeAllConnections();
  await new Promise((resolve) => other.close(resolve));
  await using service = await FacilitatorServer.start({ rpcUrl: chain.rpcUrl, key: chain.key(), port });
  await until('payments are taken', () => backend.readiness.ready && service.url !== '');
});

test('production refuses a development chain', async () => {
  await using backend = openPaymentBackend({ config: chain.config(), log, isProduction: true, pauses: PAUSES });
  await backend.start();
  assert.equal(backend.readiness, { ready: false, reason: 'chain_is_for_development' });
});

test('refuses a chain that is not Base, or has no USDC', async () => {
  const chainId = await answering((method) => (method === 'eth_chainId' ? '"0x1"' : null));
  assert.is(chainId, 'chain_is_another_one');
  assert.is(await answering((method) => (method === 'eth_call' ? '"0x"' : null)), 'chain_lacks_usdc');
});

test('does not keep a process alive once it is disposed, nor waits for a chain that hangs', async () => {
  const silent = createServer(() => {});
  const port = await freePort();
  await new Promise<void>((resolve) => silent.listen(port, '127.0.0.1', resolve));
  const backend = open({ ...chain.config(), rpcUrl: `http://127.0.0.1:${port}` });
  const started = backend.start();
  await new Promise((resolve) => setTimeout(resolve, 50));
  const before = performance.now();
  await backend[Symbol.asyncDispose]();
  await started;
  assert.ok(performance.now() - before < 5_000);
  silent.closeAllConnections();
  silent.close();
});

/** Why a node is not ready whose chain gives such answers. */
async function answering(answerTo: (method: string) => string | null): Promise<string> {
  await using proxy = await ChainRpcProxy.start(chain.rpcUrl);
  proxy.answerTo = answerTo;
  await using backend = open({ ...chain.config(), rpcUrl: proxy.rpcUrl });
  await backend.start();
  return backend.readiness.ready ? 'ready' : backend.readiness.reason;
}

function open(config: PaymentsConfig) {
  return openPaymentBackend({ config, log, isProduction: false, pauses: PAUSES });
}

test.run();

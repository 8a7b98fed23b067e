import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { HELD_MS } from '../../../../node/payments/payment-store.ts';
import { SERVICES } from '../../../../protocol/payments/prices.ts';
import { TestChain } from '../../../fixtures/chain.ts';
import { paymentHeader } from '../../../fixtures/payment-header.ts';
import { TestNetwork } from '../../../fixtures/test-network.ts';
import { until } from '../../../fixtures/until.ts';

const SERVICE = 'tiered-attest';
const { path } = SERVICES[SERVICE];
/** More than clocks of members may differ by. */
const OFF_MS = 200_000;

const clock = { offset: 0 };
const chain = await TestChain.start();
const network = await TestNetwork.start({
  nodes: ['eu', 'us', 'ca'],
  ledger: 'local',
  config: { payments: chain.config() },
  overridesOf: (node): { now?: () => number } => (node === 'eu' ? { now: () => Date.now() + clock.offset } : {}),
});
const eu = network.node('eu');

test.after(async () => {
  await network[Symbol.asyncDispose]();
  await chain[Symbol.asyncDispose]();
});

async function header(): Promise<string> {
  return paymentHeader(await chain.wallet(), chain.payTo, SERVICE, eu.baseUrl + path);
}

/** Status and code of the answer to a call without a payment, and of a paid one. */
async function told(): Promise<readonly string[]> {
  const answers = [];
  for (const headers of [{}, { 'payment-signature': await header() }]) {
    const { status, body } = await eu.post(path, { agentId: 'a', data: { x: 1 } }, { key: null, headers });
    answers.push(`${status} ${String(body.code ?? '')}`);
  }
  return answers;
}

test('a node whose clock is off, and knows it, names no price and takes no money', async () => {
  await until('clocks are known', () => eu.context.follower.clocks.differences().length === 2);
  for (const offset of [OFF_MS, -OFF_MS]) {
    const before = await chain.balanceOf(chain.payTo);
    clock.offset = offset;
    assert.equal(await told(), ['503 clock-off', '503 clock-off'], String(offset));
    assert.is(await chain.balanceOf(chain.payTo), before);
    clock.offset = 0;
    assert.equal(await told(), ['402 payment-required', '200 ']);
    assert.ok((await chain.balanceOf(chain.payTo)) > before);
  }
});

test('what a node holds for those who ask again does not end by a clock that is off, and knows it', async () => {
  const { idempotency, paymentService } = eu.context;
  const asPaid = { key: null, headers: { 'payment-signature': await header() } };
  const askAgain = async () => [
    (await eu.post(path, { agentId: 'a', data: { x: 1 } }, asPaid)).body.attestationId,
    (await eu.post('/v1/attest', { sourceId: 's', data: {} }, { headers: { 'idempotency-key': 'k' } })).body
      .attestationId,
  ];
  const first = await askAgain();
  assert.not(first.includes(undefined));
  clock.offset = HELD_MS + 60_000;
  await paymentService?.upkeep.look();
  await idempotency.sweep();
  clock.offset = 0;
  assert.equal(await askAgain(), first);
});

test('a node that signs nothing any more names no price either', async () => {
  const before = await chain.balanceOf(chain.payTo);
  eu.context.intake.halt('closed');
  assert.equal(await told(), ['503 chain-closed', '503 chain-closed']);
  assert.is(await chain.balanceOf(chain.payTo), before);
});

test.run();

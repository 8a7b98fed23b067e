import { spawnSync, type SpawnSyncReturns } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { PrivateKeyAccount } from 'viem';
import { encodeHeader } from '../../protocol/payments/header.ts';
import { type PaymentNonce, wireAuthorization } from '../../protocol/payments/payment.ts';
import { requirementsOf } from '../../protocol/payments/terms.ts';
import { TestChain } from '../fixtures/chain.ts';
import { randomNonce, signAuthorization } from '../fixtures/chain-payer.ts';
import { ClusterProcesses, NODE_FROM_SOURCES } from '../fixtures/processes.ts';
import { until } from '../fixtures/until.ts';
import { FATAL_PAYMENTS, PAYMENT_STEPS, type PaymentStep } from './payment-steps.ts';

const NODE = 'eu';
const OTHERS = ['us', 'ca', 'sg', 'jp'];
/** Payments that are at each step when the node dies. */
const TOGETHER = 3;
const SERVICE = 'tiered-attest';
const BODY = JSON.stringify({ agentId: 'crash-test', data: { input: 'a question', output: 'an answer' } });
const SWITCH = join(import.meta.dirname, 'payment-kill-switch.ts');
/** From an answer until every member can verify its record, on two busy cores. In milliseconds. */
const CONFIRMED_MS = 120_000;
const FSCK = join(import.meta.dirname, '../../scripts/fsck.ts');
/** From the restart to the answer: chain and facilitator are asked first. In milliseconds. */
const ANSWER_MS = 20_000;

interface Fatal {
  readonly step: PaymentStep;
  readonly nonce: PaymentNonce;
  /** The header that pays. */
  readonly payment: string;
}

interface Told {
  readonly status: number;
  readonly text: string;
}

const chain = await TestChain.start({ facilitators: [NODE] });
const cluster = await ClusterProcesses.create();
const url = `${cluster.node(NODE).baseUrl}/v1/x402/tiered-attest`;
/** Ids of all records that were answered. */
const answered: string[] = [];
await Promise.all(OTHERS.map((id) => cluster.startNode(id)));
const terms = requirementsOf(SERVICE, { payTo: chain.payTo });
const price = BigInt(terms.amount);

test.after(async () => {
  await cluster[Symbol.asyncDispose]();
  await chain[Symbol.asyncDispose]();
});

/** Starts the node; it kills itself once all of these payments are at their steps. */
function start(fatal: readonly Fatal[] = []): Promise<void> {
  const steps = JSON.stringify(Object.fromEntries(fatal.map(({ nonce, step }) => [nonce, step])));
  const variables = { ...chain.variables(NODE), NODE_OPTIONS: `--import=${SWITCH}`, [FATAL_PAYMENTS]: steps };
  return cluster.startNode(NODE, variables, { main: NODE_FROM_SOURCES });
}

function fatalPayments(wallet: PrivateKeyAccount, steps: readonly PaymentStep[]): Promise<Fatal[]> {
  const times = steps.flatMap((step) => Array.from({ length: TOGETHER }, () => step));
  return Promise.all(
    times.map(async (step) => {
      const nonce = randomNonce();
      return { step, nonce, payment: await signed(wallet, nonce) };
    }),
  );
}

/** Pays until the node is dead. */
async function dieOf(fatal: readonly Fatal[]): Promise<void> {
  const told = await Promise.all(
    fatal.map(async ({ step, payment }) => ({ step, answer: await buy(payment).catch(() => null) })),
  );
  for (const { step, answer } of told) {
    assert.is(answer, null, `the node was to die at ${step}, and answered ${answer?.status}: ${answer?.text}`);
  }
  await cluster.end(NODE);
}

async function signed(wallet: PrivateKeyAccount, nonce: PaymentNonce): Promise<string> {
  const { authorization, signature } = await signAuthorization(wallet, { to: chain.payTo, value: price, nonce });
  return encodeHeader({
    x402Version: 2,
    resource: { url },
    accepted: terms,
    payload: { signature, authorization: { ...wireAuthorization(authorization) } },
  });
}

async function buy(payment: string): Promise<Told> {
  const headers = { 'content-type': 'application/json', 'payment-signature': payment };
  const answer = await fetch(url, { method: 'POST', body: BODY, headers });
  return { status: answer.status, text: await answer.text() };
}

/** Shows the same payment until it is answered. All that may be said meanwhile is that it is not known yet. */
async function answerTo(payment: string): Promise<string> {
  for (const end = performance.now() + ANSWER_MS; performance.now() < end; await sleep(50)) {
    const { status, text } = await buy(payment);
    if (status === 200) return text;
    assert.is(status, 503, text);
  }
  throw new Error('a payment has no answer');
}

test('a node killed with payments at every step: asked again it gives each one answer for one charge', async () => {
  const fatal = await fatalPayments(await chain.wallet(), PAYMENT_STEPS);
  const before = await chain.balanceOf(chain.payTo);
  await start(fatal);
  await dieOf(fatal);
  const settled = BigInt(PAYMENT_STEPS.length - PAYMENT_STEPS.indexOf('settlement-sent')) * BigInt(TOGETHER);
  assert.is((await chain.balanceOf(chain.payTo)) - before, settled * price, 'charged when the node died');

  await start();
  await cluster.grantKeys([NODE, ...OTHERS]);
  const ids = await Promise.all(
    fatal.map(async ({ step, payment }): Promise<string> => {
      const text = await answerTo(payment);
      assert.is(await answerTo(payment), text, `two answers after ${step}`);
      return idIn(text);
    }),
  );
  answered.push(...ids);
  assert.is(new Set(ids).size, fatal.length, 'two payments have one answer');
  assert.is((await chain.balanceOf(chain.payTo)) - before, BigInt(fatal.length) * price, 'charged in the end');
});

test('transactions that are mined while their node is dead are found, with and without their payer', async () => {
  const fatal = await fatalPayments(await chain.wallet(), ['settlement-sent']);
  const before = await chain.balanceOf(chain.payTo);
  await cluster.end(NODE);
  await start(fatal);
  await chain.pauseMining();
  await dieOf(fatal);
  assert.is(await chain.balanceOf(chain.payTo), before);
  await chain.resumeMining();
  await until('they are mined', async () => (await chain.balanceOf(chain.payTo)) > before);
  await start();
  const texts = await Promise.all(fatal.map(({ payment }) => answerTo(payment)));
  answered.push(...texts.map(idIn));
  assert.is((await chain.balanceOf(chain.payTo)) - before, BigInt(TOGETHER) * price);
});

test('what was settled while its node was dead is published at the next start, without its payer', async () => {
  const fatal = await fatalPayments(await chain.wallet(), ['settled-on-disk', 'publishing']);
  await cluster.end(NODE);
  await start(fatal);
  await dieOf(fatal);
  await start();
  await cluster.end(NODE);
  const { status, stdout } = fsckOf(NODE);
  assert.is(status, 0, stdout);
  assert.match(stdout, new RegExp(`\\brecords ${answered.length + fatal.length + stated()}\\b`));
  await start();
  const texts = await Promise.all(fatal.map(({ payment }) => answerTo(payment)));
  answered.push(...texts.map(idIn));
});

test('every node has a record of each settlement, verified, and no other record', async () => {
  const all = (PAYMENT_STEPS.length + 1 + 2) * TOGETHER;
  assert.is(new Set(answered).size, all);
  const key = { headers: { 'x-api-key': cluster.demoKeys.bench } };
  for (const id of [NODE, ...OTHERS]) {
    const { baseUrl } = cluster.node(id);
    const isVerified = async (record: string): Promise<boolean> =>
      Object(await (await fetch(`${baseUrl}/v1/verify/${record}`, key)).json()).verified === true;
    await until(
      `all are verified at ${id}`,
      async () => (await Promise.all(answered.map(isVerified))).every(Boolean),
      CONFIRMED_MS,
    );
  }
  for (const id of [NODE, ...OTHERS]) await cluster.end(id);
  for (const id of [NODE, ...OTHERS]) {
    const { status, stdout, stderr } = fsckOf(id);
    assert.is(status, 0, stdout + stderr);
    assert.match(stdout, new RegExp(`\\brecords ${all + stated()}\\b`), id);
  }
  assert.match(fsckOf(NODE).stdout, new RegExp(`\\bsettlements ${all}\\b`));
});

test.run();

/** Records of the statements of the demo accounts: one each. */
function stated(): number {
  return Object.keys(cluster.demoKeys).length;
}

function idIn(text: string): string {
  const { attestationId } = Object(JSON.parse(text));
  assert.type(attestationId, 'string', text);
  return attestationId;
}

function fsckOf(id: string): SpawnSyncReturns<string> {
  return spawnSync(process.execPath, [FSCK, cluster.nodeHome(id)], { encoding: 'utf8' });
}

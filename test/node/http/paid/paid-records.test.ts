import { randomUUID } from 'node:crypto';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { PrivateKeyAccount } from 'viem';
import { fsck } from '../../../../node/fsck/fsck.ts';
import { nativeSuite } from '../../../../node/keys/native-suite.ts';
import { readRecord } from '../../../../node/records/record-reader.ts';
import { payloadTable } from '../../../../node/records/payload/payload-tables.ts';
import { PAID_TIERED_ATTEST_EXAMPLE } from '../../../../protocol/api/paid-tiered-attest.ts';
import { decodeBase64url } from '../../../../protocol/bytes.ts';
import { recordId } from '../../../../protocol/ids.ts';
import { canonicalize } from '../../../../protocol/json/canonical.ts';
import { isJsonObject, type JsonObject } from '../../../../protocol/json/value.ts';
import { commitText } from '../../../../protocol/payload/commitment.ts';
import { priceOf, SERVICES, type ServiceName } from '../../../../protocol/payments/prices.ts';
import { TestChain } from '../../../fixtures/chain.ts';
import { payingFetch } from '../../../fixtures/chain-payer.ts';
import { paymentHeader } from '../../../fixtures/payment-header.ts';
import { TestNetwork } from '../../../fixtures/test-network.ts';
import { accountOf, API_KEYS } from '../../../fixtures/test-node.ts';
import { until } from '../../../fixtures/until.ts';

const chain = await TestChain.start();
const network = await TestNetwork.start({
  ledger: 'local',
  config: { payments: chain.config(), batchIntervalMs: 100 },
});
const node = network.node();

interface Bought {
  readonly status: number;
  readonly body: JsonObject;
  /** What the payee has more. */
  readonly gain: bigint;
}

test.after(async () => {
  await network[Symbol.asyncDispose]();
  await chain[Symbol.asyncDispose]();
});

/** One call through the stock client. */
async function buy(
  path: string,
  body: JsonObject | undefined,
  { wallet, key }: { wallet?: PrivateKeyAccount; key?: string } = {},
): Promise<Bought> {
  const before = await chain.balanceOf(chain.payTo);
  const headers = { 'content-type': 'application/json', ...(key === undefined ? {} : { 'x-api-key': key }) };
  const init = body === undefined ? { headers } : { method: 'POST', body: JSON.stringify(body), headers };
  const answer = await payingFetch(wallet ?? (await chain.wallet()))(node.baseUrl + path, init);
  const value: unknown = await answer.json();
  assert.ok(isJsonObject(value));
  return { status: answer.status, body: value, gain: (await chain.balanceOf(chain.payTo)) - before };
}

/** A header that pays for a service at a path, to be shown more than once. */
async function headerFor(service: ServiceName, path: string, wallet?: PrivateKeyAccount): Promise<string> {
  return paymentHeader(wallet ?? (await chain.wallet()), chain.payTo, service, node.baseUrl + path);
}

function price(service: ServiceName): bigint {
  return BigInt(priceOf(service));
}

function memberOf(value: unknown, name: string): unknown {
  return isJsonObject(value) ? value[name] : undefined;
}

const TIERED = SERVICES['tiered-attest'].path;

test('a decision is sold for exactly its price, verifies once anchored, and its payer can recompute the hash', async () => {
  const request = PAID_TIERED_ATTEST_EXAMPLE.request;
  const { status, body, gain } = await buy(TIERED, request);
  assert.is(status, 200, JSON.stringify(body));
  assert.is(gain, price('tiered-attest'));
  const { attestationId, salt } = body;
  const hash = commitText(nativeSuite, 'meridian/payload/1', decodeBase64url(String(salt)), canonicalize(request));
  assert.is(memberOf(body.attestation, 'payloadHash'), hash);
  assert.equal([body.agentSigned, body.tier, body.status, body.success], [false, 1, 'buffered', true]);
  await until(
    'it verifies',
    async () => (await node.get(`/v1/verify/${String(attestationId)}`)).body.verified === true,
  );
});

test('what is not of the form changes nothing and costs nothing', async () => {
  const records = node.context.intake.recorded;
  const good = { agentId: 'a', data: {} };
  const bad: [JsonObject, string, string][] = [
    [{ data: {} }, 'missing-field', 'agentId'],
    [{ agentId: 'a' }, 'missing-field', 'data'],
    [{ ...good, data: [] }, 'invalid-field', 'data'],
    [{ ...good, agentId: 'a\u0000' }, 'invalid-field', 'agentId'],
    [{ ...good, model_ref: { model_id: 'm', name: 'x' } }, 'model-binding-invalid', 'model_ref.name'],
    [{ ...good, data: { text: 'x'.repeat(300_000) } }, 'payload-too-large', 'data'],
    [{ ...good, occurredAt: '2099-01-01T00:00:00Z' }, 'time-in-future', 'occurredAt'],
    [{ ...good, environment: 'prod' }, 'invalid-field', 'environment'],
  ];
  for (const [request, code, field] of bad) {
    const { body, gain } = await buy(TIERED, request);
    const [error] = Array.isArray(body.errors) ? body.errors : [];
    assert.equal([body.code, memberOf(error, 'field'), gain], [code, field, 0n], JSON.stringify(body));
  }
  assert.is(node.context.intake.recorded, records);
});

test('a paid decision claims what any other does, and names no person', async () => {
  const said = { environment: 'test', confidenceScore: 0.25, occurredAt: '2026-01-02T03:04:05Z', adverse: true };
  const persons = { subjectRef: 'applicant 4711', data: { reason: 'r', assertedBy: 'anna' } };
  const complianceMeta = { serviceEventType: 'NOT_APPLICABLE' };
  const { status, body } = await buy(TIERED, { agentId: 'claiming', ...said, ...persons, complianceMeta });
  assert.is(status, 200, JSON.stringify(body));
  const found = await readRecord(node.context.store, recordId(String(body.attestationId)));
  assert.ok(found);
  const { environment, confidenceScore, asserted } = found.record.claims;
  assert.equal([environment, confidenceScore], ['test', 0.25]);
  assert.equal(asserted, { occurredAt: '2026-01-02T03:04:05.000Z', adverse: true, reasonGiven: true });
});

test('an agent of the account whose key comes along signs; anybody else only says its name', async () => {
  const agentId = `agent-${randomUUID()}`;
  const particulars = { displayName: 'Triage', jurisdiction: 'EU', permittedUses: ['triage'] };
  await node.post('/v1/agents/register', { agentId, ...particulars });
  const own = await buy(TIERED, { agentId, data: { n: 1 } }, { key: API_KEYS.unmetered });
  const stranger = await buy(TIERED, { agentId, data: { n: 2 } });
  const other = await buy(TIERED, { agentId, data: { n: 3 } }, { key: API_KEYS.developer });
  assert.equal(
    [own, stranger, other].map(({ body }) => body.agentSigned),
    [true, false, false],
  );
  await node.post(`/v1/agents/${agentId}/deactivate`, {});
  const after = await buy(TIERED, { agentId, data: { n: 4 } }, { key: API_KEYS.unmetered });
  assert.equal([after.status, after.body.agentSigned], [200, false]);
});

test('payloads of what an account pays for are compressed where it asks for that', async () => {
  const account = accountOf('unmetered');
  const text = 'The applicant has a stable income. '.repeat(40);
  const sizes: number[] = [];
  for (const compressPayloads of [true, false]) {
    await node.context.accounts.setCompression(account, compressPayloads);
    const { status } = await buy(TIERED, { agentId: 'compressed', data: { text } }, { key: API_KEYS.unmetered });
    assert.is(status, 200);
    const [, row] = (await payloadTable.last(node.context.store, [])) ?? [];
    sizes.push(row?.length ?? 0);
  }
  const [compressed = 0, plain = 0] = sizes;
  assert.ok(compressed > 0 && compressed * 4 < text.length && plain > text.length, sizes.join(' '));
});

test('the same payment shown again is answered the same, and charged once', async () => {
  const payment = await headerFor('tiered-attest', TIERED);
  const records = node.context.intake.recorded;
  const before = await chain.balanceOf(chain.payTo);
  const ask = () =>
    node.post(TIERED, { agentId: 'again', data: {} }, { key: null, headers: { 'payment-signature': payment } });
  const [first, second] = [await ask(), await ask()];
  assert.equal([first.status, second.text], [200, first.text]);
  assert.is((await chain.balanceOf(chain.payTo)) - before, price('tiered-attest'));
  assert.is(node.context.intake.recorded, records + 1);
});

test('an agent is summed up by what it signed; what others say in its name is counted apart', async () => {
  const agentId = `agent ${randomUUID()}`;
  const path = `/v1/x402/agent-record/${encodeURIComponent(agentId)}`;
  const crawled = await node.get(path, { key: null });
  assert.equal([crawled.status, crawled.body.code], [402, 'payment-required']);
  const unknown = await buy(path, undefined);
  assert.equal([unknown.status, unknown.body.code, unknown.gain], [404, 'agent-not-found', 0n]);
  const broken = await node.get(`/v1/x402/agent-record/${'x'.repeat(600)}`, { key: null });
  assert.equal([broken.status, broken.body.code], [400, 'invalid-field']);

  await buy(TIERED, { agentId, data: {} });
  const named = await buy(path, undefined);
  assert.equal([named.status, named.gain], [200, price('agent-record')], JSON.stringify(named.body));
  assert.equal([named.body.registered, named.body.did, named.body.keyStatus], [false, null, null]);
  assert.equal(countsOf(named), { attestationCount: 0, asserted: 1, overrides: 0, incidents: 0, byRecordKind: {} });

  await node.post('/v1/agents/register', {
    agentId,
    displayName: 'Triage',
    jurisdiction: 'EU',
    permittedUses: ['triage'],
  });
  const decision = await node.attest({ n: 1 }, { agentId });
  await node.attest({ n: 2 }, { agentId });
  await buy(TIERED, { agentId, data: {} }, { key: API_KEYS.developer });
  const review = { sourceId: 'test', originalAttestationId: decision, reviewerId: 'r1' };
  await node.post('/v1/human-override', review);
  await node.post('/v1/incident', {
    sourceId: 'test',
    severity: 'serious',
    description: 'x',
    incidentPeriodStart: '2026-01-01T00:00:00Z',
    relatedAttestationIds: [decision],
  });
  await node.context.sealer.seal();
  const { body } = await buy(path, undefined);
  assert.equal([body.registered, body.displayName, body.keyStatus], [true, 'Triage', 'active']);
  assert.equal(countsOf({ body }), {
    attestationCount: 3,
    asserted: 2,
    overrides: 1,
    incidents: 1,
    byRecordKind: { agent_registration: 1, decision: 2 },
  });
  const { byStatus, batches, last30Days } = Object(body.summary);
  assert.is(byStatus.pending + byStatus.anchored + byStatus.confirmed, 3);
  assert.ok(batches >= 1 && batches <= 3, String(batches));
  assert.is(last30Days, 3);
  await until('all of them are confirmed', async () => {
    const { summary } = (await buy(path, undefined)).body;
    return Object(summary).byStatus.confirmed === 3;
  });
});

function countsOf({ body }: Pick<Bought, 'body'>): unknown {
  const { attestationCount, asserted, overrides, incidents, byRecordKind } = Object(body.summary);
  return { attestationCount, asserted: asserted.count, overrides, incidents, byRecordKind };
}

test('a wallet is summed up from the ledger, this call not counted, and one without history is all zeros', async () => {
  const wallet = await chain.wallet();
  await buy(TIERED, { agentId: 'spender', data: {} }, { wallet });
  const path = `/v1/x402/wallet-record/${wallet.address}`;
  const first = await buy(path, undefined, { wallet });
  assert.equal([first.status, first.gain], [200, price('wallet-record')], JSON.stringify(first.body));
  assert.equal([first.body.address, first.body.settlementCount], [wallet.address.toLowerCase(), 1]);
  assert.equal(first.body.servicesUsed, [{ service: 'tiered-attest', count: 1, spent: '5000' }]);
  const second = await buy(path, undefined, { wallet });
  assert.equal([second.body.settlementCount, memberOf(second.body.totalSpent, 'amount')], [2, '10000']);

  const { success: _s, salt, attestation, payment: _p, ...members } = second.body;
  const hash = commitText(nativeSuite, 'meridian/payload/1', decodeBase64url(String(salt)), canonicalize(members));
  assert.is(memberOf(attestation, 'payloadHash'), hash);

  const none = await buy(`/v1/x402/wallet-record/0x${'Ab'.repeat(20)}`, undefined);
  assert.equal([none.status, none.gain], [200, price('wallet-record')]);
  assert.equal(
    [none.body.settlementCount, none.body.firstSeen, none.body.lastSeen, none.body.servicesUsed],
    [0, null, null, []],
  );
});

test('an address that is none is refused before any price', async () => {
  for (const address of ['0x12', `0X${'a'.repeat(40)}`, `0x${'g'.repeat(40)}`]) {
    const { status, body } = await node.get(`/v1/x402/wallet-record/${address}`, { key: null });
    assert.equal([status, body.code], [400, 'invalid-field']);
  }
});

test('the store of the node is whole', async () => {
  await node.stop();
  const { report } = await fsck(node.config.home);
  assert.equal(report.findings, []);
});

test.run();

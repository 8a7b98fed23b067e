import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { outboxClosedTable } from '../../../../node/anchoring/outbox.ts';
import { bodyTable, groupTable } from '../../../../node/records/record-tables.ts';
import { StatusAnswerShape } from '../../../../protocol/api/status.ts';
import { VerifyAnswerShape } from '../../../../protocol/api/verify.ts';
import { nodeId } from '../../../../protocol/ids.ts';
import type { JsonObject } from '../../../../protocol/json/value.ts';
import { isTimestamp, timestampOf } from '../../../../protocol/time.ts';
import { eraseKey, putSeed, seedOf } from '../../../fixtures/payload-keys.ts';
import { TestNetwork } from '../../../fixtures/test-network.ts';
import { API_KEYS } from '../../../fixtures/test-node.ts';
import { until } from '../../../fixtures/until.ts';
import { shapeCheck } from '../answer-shape.ts';
import { requireProblem } from '../problem-shape.ts';

const NODE = nodeId('eu');
/** Whose the key is that requests are sent with by default. */
const ACCOUNT = 'acc_eu_unmetered';
const SHA256 = /^sha256:[0-9a-f]{64}$/;
const network = await TestNetwork.start({ ledger: 'local' });
const node = network.node();
test.after(() => network[Symbol.asyncDispose]());
const requireStatus = shapeCheck(StatusAnswerShape);
const requireVerdict = shapeCheck(VerifyAnswerShape);
let unique = 0;

const confirmed = await node.attest(
  { n: ++unique, output: 'yes' },
  { modelId: 'm', modelVersion: '1', riskLevel: 'low' },
);
const tiered = String((await node.post('/v1/tiered-attest', { sourceId: 's', data: {} })).body.attestationId);
await node.seal();
await until('the first batch is confirmed', async () => (await statusOf(confirmed)).status === 'confirmed');

async function statusOf(id: string): Promise<JsonObject> {
  return (await node.get(`/v1/status/${id}`)).body;
}

/** With a key, so that asking again and again meets no limit of the address. */
async function verdictOf(id: string): Promise<JsonObject> {
  const { status, body, text } = await node.get(`/v1/verify/${id}`);
  assert.is(status, 200, text);
  return body;
}

test('the status of a record that waits', async () => {
  const direct = await statusOf(await node.attest({ n: ++unique }));
  requireStatus(direct);
  assert.is(direct.success, true);
  assert.is(direct.status, 'pending');
  assert.is(direct.tier, 1);
  assert.is(direct.delayed, false);
  for (const name of [
    'anchoredAt',
    'confirmedAt',
    'batchId',
    'leafIndex',
    'merkleRoot',
    'transactionId',
    'hcsSequence',
  ]) {
    assert.is(direct[name], null, name);
  }
  assert.is(direct.consensusTimestamp, null);
  assert.equal(direct.history, [{ status: 'pending', at: direct.submittedAt ?? '' }]);
  const leaf = String((await node.post('/v1/tiered-attest', { sourceId: 's', data: {} })).body.attestationId);
  assert.is((await statusOf(leaf)).status, 'buffered');
});

test('the status of a confirmed record', async () => {
  const status = await statusOf(confirmed);
  requireStatus(status);
  assert.is(status.status, 'confirmed');
  assert.match(String(status.batchId), /^bat_eu_[0-9A-HJKMNP-TV-Z]{26}$/);
  assert.is(status.leafIndex, 0);
  assert.is((await statusOf(tiered)).leafIndex, 1);
  assert.match(String(status.merkleRoot), SHA256);
  assert.is(status.topic, network.ledger.topicId);
  assert.match(String(status.transactionId), /^0\.0\.1001[@-]\d+/);
  // The node's key certificate may be the first message.
  assert.match(String(status.hcsSequence), /^[12]$/);
  assert.match(String(status.consensusTimestamp), /^\d+\.\d{9}$/);
  for (const name of ['anchoredAt', 'confirmedAt', 'submittedAt', 'anchorExpectedBy']) {
    assert.ok(isTimestamp(String(status[name])), name);
  }
  const steps = Array.isArray(status.history) ? status.history : [];
  assert.equal(
    steps.map((step) => (typeof step === 'object' && step !== null && 'status' in step ? step.status : '')),
    ['pending', 'anchored', 'confirmed'],
  );
});

test('no step that the node noted later than the ledger decided stands after its confirmation', async () => {
  const { store } = node.context;
  const { confirmedAt, anchoredAt } = await statusOf(confirmed);
  const [[, row] = []] = await Array.fromAsync(outboxClosedTable.under(store, []));
  assert.ok(row);
  const late = timestampOf(Date.parse(String(confirmedAt)) + 3_600_000);
  const noted = row.history.filter(({ status }) => status !== 'submitted');
  for (const [history, anchored] of [
    // The node was killed before it noted that the ledger took its message, and read it back an hour later.
    [noted.toSpliced(-1, 1, { status: 'confirmed', at: late }), confirmedAt],
    // It gave the message up, and queued it again, when it was decided already.
    [row.history.toSpliced(-1, 0, { status: 'queued', at: late }), anchoredAt],
  ] as const) {
    await store.write([outboxClosedTable.put([row.batch], { ...row, history: [...history] })]);
    const status = await statusOf(confirmed);
    assert.equal(status.history, [
      { status: 'pending', at: status.submittedAt ?? '' },
      { status: 'anchored', at: anchored ?? '' },
      { status: 'confirmed', at: confirmedAt ?? '' },
    ]);
    assert.is(status.anchoredAt, anchored);
  }
  await store.write([outboxClosedTable.put([row.batch], row)]);
});

test('any valid key may ask for the status of any record', async () => {
  assert.is((await node.get(`/v1/status/${confirmed}`, { key: API_KEYS.enterprise })).status, 200);
  const made = await node.post('/v1/keys', { scopes: ['attest:write'] });
  const key = String(made.body.apiKey);
  const { body } = await node.post('/v1/tiered-attest', { sourceId: 'own', data: {} }, { key });
  for (const id of [String(body.attestationId), confirmed]) {
    const { status, text } = await node.get(`/v1/status/${id}`, { key });
    assert.is(status, 200, text);
  }
});

test('an id of what another kind of record makes stands for nothing, whatever record has its number', async () => {
  const as = (prefix: string): string => confirmed.replace('att', prefix);
  for (const prefix of ['ses', 'ovr', 'inc', 'rtl', 'era', 'sys', 'reg']) {
    const paths = ['verify', 'status', 'bundles', 'proofs', 'attestations', 'certificates'];
    for (const path of paths.map((name) => `/v1/${name}/${as(prefix)}`)) {
      requireProblem(await node.get(path), 'attestation-not-found', path);
    }
    requireProblem(await node.post(`/v1/bundles/${as(prefix)}/share`, {}), 'attestation-not-found', prefix);
    const links = { relatedAttestationIds: [as(prefix)] };
    requireProblem(
      await node.post('/v1/tiered-attest', { sourceId: 's', data: {}, ...links }),
      'attestation-not-found',
      prefix,
      'relatedAttestationIds',
    );
    const erasure = { attestationIds: [as(prefix)], legalBasis: 'a request', requestedBy: 'a person' };
    requireProblem(await node.post('/v1/erasures', erasure), 'attestation-not-found', prefix, 'attestationIds');
  }
  const { body } = await node.post('/v1/session/start', { sourceId: 's' });
  const { body: verdict } = await node.get(`/v1/verify/${String(body.sessionId)}`);
  assert.equal([verdict.attestationId, verdict.recordKind], [body.attestationId, 'session_start']);
});

test('the verdict on a confirmed record carries both field sets, for anyone', async () => {
  const { body: verdict } = await node.get(`/v1/verify/${confirmed}`, { key: null });
  requireVerdict(verdict);
  assert.equal([verdict.found, verdict.verified, verdict.sigValid], [true, true, true]);
  assert.is(verdict.hcsSequence, (await statusOf(confirmed)).hcsSequence);
  assert.is(verdict.seqNum, Number(verdict.hcsSequence));
  assert.is(verdict.securityLevel, 'ML-DSA-65');
  assert.is(verdict.source, 'merkle-forest');
  assert.is(verdict.status, 'confirmed');
  assert.is(verdict.ledger, network.ledger.network);
  assert.is(verdict.payloadState, 'available');
  assert.equal(verdict.cryptoVerification, { verified: true, checks: checks(true) });
  assert.equal(verdict.complianceStatus, {
    article12_1: true,
    article12_2: true,
    article12_3b: false,
    article14: false,
  });
  assert.ok(isTimestamp(String(verdict.confirmedAt)));
  assert.match(String(verdict.sourceIdHash), SHA256);
  assert.equal(verdict.problems, []);
  assert.is((await verdictOf(tiered)).verified, true);
});

test('the verdict on a record that waits: everything holds but the ledger', async () => {
  const verdict = await verdictOf(await node.attest({ n: ++unique }));
  requireVerdict(verdict);
  assert.equal([verdict.verified, verdict.sigValid, verdict.status], [false, true, 'pending']);
  assert.equal([verdict.seqNum, verdict.confirmedAt, verdict.hcsSequence], [null, null, null]);
  assert.equal(verdict.cryptoVerification, { verified: false, checks: checks(true) });
});

test('the public verdict shows no payload, source or account', async () => {
  const secret = 'nobody-may-read-this';
  const id = await node.attest({ secret }, { sourceId: secret });
  for (const text of [(await node.get(`/v1/verify/${id}`, { key: null })).text, await node.metrics()]) {
    assert.not.match(text, secret);
  }
  assert.not.match((await node.get(`/v1/verify/${id}`, { key: null })).text, ACCOUNT);
});

test('an erased payload leaves the proof', async () => {
  const id = await sealedRecord();
  await eraseKey(node.context.store, id);
  const verdict = await verdictOf(id);
  assert.equal([verdict.verified, verdict.payloadState, verdict.verifiedScope], [true, 'erased', 'record-only']);
  assert.equal(verdict.cryptoVerification, { verified: true, checks: { ...checks(true), payloadHashMatch: false } });
  requireProblem(await node.get(`/v1/bundles/${id}?disclosure=1`), 'payload-erased', 'erased');
  assert.is((await node.get(`/v1/bundles/${id}`)).status, 200);
});

test('a changed byte of a stored record is a verdict of false, whether it can still be read or not', async () => {
  for (const [from, to] of [
    ['"eventType":"DECISION"', '"eventType":"DECISIOM"'],
    ['"eventType":"DECISION"', '"eventType:"DECISION"'],
    ['"kind":"decision"', '"kind":"decisioN"'],
    ['"kind":"decision"', '"kind":"incident"'],
  ] as const) {
    const id = await sealedRecord();
    const seq = node.context.intake.recorded;
    const body = (await bodyTable.get(node.context.store, NODE, seq)) ?? '';
    assert.ok(body.includes(from));
    await node.context.store.write([bodyTable.put([NODE, seq], body.replace(from, to))]);
    const verdict = await verdictOf(id);
    assert.equal([verdict.found, verdict.verified], [true, false], to);
    requireVerdict(verdict);
    assert.equal(Object.values(verdict.complianceStatus ?? {}), [false, false, false, false]);
    assert.ok(Array.isArray(verdict.problems) && verdict.problems.length > 0);
    await node.context.store.write([bodyTable.put([NODE, seq], body)]);
    assert.is((await verdictOf(id)).verified, true);
  }
});

test('a changed receipt or payload is a verdict of false', async () => {
  const id = await sealedRecord();
  const seq = node.context.intake.recorded;
  const { store } = node.context;
  const receipt = await groupTable.get(store, NODE, seq);
  if (receipt === undefined) throw new Error('no receipt');
  const statement = receipt.statement.replace('"size":1', '"size":2');
  await store.write([groupTable.put([NODE, seq], { ...receipt, statement })]);
  assert.is((await verdictOf(id)).verified, false);
  await store.write([groupTable.put([NODE, seq], receipt)]);
  const seed = await seedOf(store, id);
  await putSeed(store, id, new Uint8Array(32));
  const verdict = await verdictOf(id);
  assert.equal([verdict.verified, verdict.payloadState, verdict.sigValid], [false, 'available', true]);
  await putSeed(store, id, seed ?? new Uint8Array());
  assert.is((await verdictOf(id)).verified, true);
});

test('Prefer: wait answers with the status reached', async () => {
  const before = node.context.intake.recorded;
  const soon = node.post(
    '/v1/attest',
    { sourceId: 's', data: { n: ++unique } },
    { headers: { prefer: 'respond-async, wait=20' } },
  );
  await until('the record is there', () => node.context.intake.recorded > before);
  await node.seal();
  const { status, body, headers } = await soon;
  assert.equal([status, body.status], [200, 'confirmed']);
  assert.is(headers.get('preference-applied'), 'wait=20');
  const started = performance.now();
  const late = await node.post('/v1/tiered-attest', { sourceId: 's', data: {} }, { headers: { prefer: 'wait=1' } });
  assert.is(late.body.status, 'buffered');
  assert.ok(performance.now() - started >= 900);
  for (const prefer of ['wait', 'wait=-1', 'wait=0', 'waiting=5', 'wait=x']) {
    const answer = await node.post('/v1/tiered-attest', { sourceId: 's', data: {} }, { headers: { prefer } });
    assert.equal([answer.body.status, answer.headers.get('preference-applied')], ['buffered', null], prefer);
  }
});

async function sealedRecord(): Promise<string> {
  await node.seal();
  const id = await node.attest({ n: ++unique });
  await node.seal();
  await until(`${id} is confirmed`, async () => (await verdictOf(id)).status === 'confirmed');
  return id;
}

function checks(value: boolean): JsonObject {
  return { leafRederived: value, payloadHashMatch: value, proofWalk: value, bundleBinding: value, sigValid: value };
}

test.run();

import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { AgentKeyCipher } from '../../../../node/governance/agents/agent-key-cipher.ts';
import { agentKeyTable } from '../../../../node/governance/agents/agent-tables.ts';
import { fsck } from '../../../../node/fsck/fsck.ts';
import { readNodeKeys } from '../../../../node/keys/node-keys.ts';
import type { Evidence } from '../../../../node/verification/evidence.ts';
import { Store } from '../../../../node/store/store.ts';
import { encodeBase64url, encodeHex } from '../../../../protocol/bytes.ts';
import { checkAgent } from '../../../../protocol/evidence/agent.ts';
import { recordId } from '../../../../protocol/ids.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../../protocol/json/value.ts';
import type { AttestationRecord } from '../../../../protocol/chain/record.ts';
import { nobleSuite } from '../../../../protocol/suite/noble.ts';
import { filesHolding } from '../../../fixtures/store-files.ts';
import { TestNetwork } from '../../../fixtures/test-network.ts';
import { API_KEYS, type TestNode } from '../../../fixtures/test-node.ts';
import { until } from '../../../fixtures/until.ts';
import { requireProblem } from '../../http/problem-shape.ts';
import { accepted, freshKey, Registry, spoken } from './agent-fixture.ts';

const network = await TestNetwork.start({ nodes: ['eu', 'us'] });
const eu = network.node('eu');
const us = network.node('us');
test.after(() => network[Symbol.asyncDispose]());
const registry = new Registry(eu);
let unique = 0;

const newId = (): string => `agent-${++unique}`;
const decision = (agentId: string, more: JsonObject = {}): JsonObject => ({
  sourceId: 'loans',
  data: { n: ++unique, output: 'yes' },
  agentId,
  ...more,
});

/** Undefined where the node has none, and reaches nobody who has. */
function evidenceFor(node: TestNode, id: JsonValue | undefined): Promise<Evidence | undefined> {
  return node.context.evidence(recordId(String(id)));
}

async function evidenceAt(node: TestNode, id: JsonValue | undefined): Promise<Evidence> {
  const evidence = await evidenceFor(node, id);
  if (evidence === undefined) throw new Error(`${node.config.id} has no ${String(id)}`);
  return evidence;
}

async function record(node: TestNode, id: JsonValue | undefined): Promise<AttestationRecord> {
  return (await evidenceAt(node, id)).record;
}

/** The other suite's opinion on the agent of a record, from the records that this node holds. */
async function agentOf(node: TestNode, id: JsonValue | undefined) {
  const subject = await record(node, id);
  const maker = await record(node, subject.links.agent);
  return checkAgent(nobleSuite, subject, [{ record: maker, holds: true, speaks: true }]);
}

async function seedsOf(agentId: string): Promise<Uint8Array[]> {
  const { payloadKey } = await readNodeKeys(eu.config.home);
  const agentKeyCipher = new AgentKeyCipher(payloadKey);
  const seeds: Uint8Array[] = [];
  const agent = (await eu.context.agents.find(agentId))?.keys.at(-1)?.keyId.slice('sha256:'.length);
  for await (const [parts, sealed] of agentKeyTable.under(eu.context.store, [])) {
    if (parts[1] === agent) seeds.push(agentKeyCipher.open(agentKeyTable.key(...parts), sealed));
  }
  return seeds;
}

test('a decision made for an agent carries its signature, and another node says whose it is', async () => {
  const agentId = newId();
  const { keyId, attestationId } = await registry.registered({ agentId });
  const direct = accepted(await eu.post('/v1/attest', decision(agentId)));
  const tiered = accepted(await eu.post('/v1/tiered-attest', decision(agentId)));
  const { claims, links, sourceId } = await record(eu, direct.attestationId);
  assert.equal([claims.agentId, claims.agentKeyId, links.agent, sourceId], [agentId, keyId, attestationId, 'loans']);
  await eu.seal();
  for (const { attestationId: id } of [direct, tiered]) {
    await until(`us holds ${String(id)}`, async () => (await evidenceFor(us, id))?.isHeld === true);
    const said = { agentId, keyId: keyId ?? null, signature: 'valid' };
    assert.equal(await agentOf(us, id), said);
    const { body } = await us.get(`/v1/verify/${String(id)}`, { key: null });
    assert.equal([body.agent, body.sigValid], [said, true]);
  }
});

test('of a decision that is not sent round yet another node asks for the record of its agent too, and may lack others', async () => {
  const agentId = newId();
  const { keyId } = await registry.registered({ agentId });
  const { attestationId: id } = accepted(await eu.post('/v1/attest', decision(agentId)));
  await until('us to reach eu', async () => (await evidenceFor(us, id)) !== undefined);
  assert.is((await evidenceAt(us, id)).isHeld, false);
  const { body } = await us.get(`/v1/verify/${String(id)}`, { key: null });
  assert.equal([body.agent, body.sigValid], [{ agentId, keyId, signature: 'valid' }, true]);
  assert.is(Object(body.links).truncated, true);
  const { body: own } = await eu.get(`/v1/verify/${String(id)}`, { key: null });
  assert.is(Object(own.links).truncated, false);
});

test('a decision without an agent says nothing of one', async () => {
  const { attestationId } = accepted(await eu.post('/v1/attest', { sourceId: 'loans', data: { n: ++unique } }));
  const { body } = await eu.get(`/v1/verify/${String(attestationId)}`, { key: null });
  assert.is(body.agent, null);
});

test('decisions that race with rotations are each signed by the key in force', async () => {
  const agentId = newId();
  await registry.registered({ agentId });
  const decisions = Array.from({ length: 40 }, async (_, i) => {
    if (i % 10 === 5) accepted(await registry.change(agentId, 'rotate'));
    return accepted(await eu.post('/v1/tiered-attest', decision(agentId)));
  });
  const made = await Promise.all(decisions);
  const keys = new Set<string>();
  for (const { attestationId } of made) {
    const verdict = await agentOf(eu, attestationId);
    assert.is(verdict?.signature, 'valid');
    keys.add(String(verdict?.keyId));
    const { seq, links } = await record(eu, attestationId);
    const { keys: all = [] } = (await eu.context.agents.find(agentId)) ?? {};
    const used = all.findIndex(({ record: id }) => id === links.agent);
    const next = all[used + 1];
    assert.ok(next === undefined || seq < (await record(eu, next.record)).seq, 'made before its key was replaced');
  }
  assert.ok(keys.size > 1, 'rotations came in between');
});

test('a decision of an agent that holds its own key comes with salt and signature', async () => {
  const agentId = newId();
  const key = await registry.selfHeld(agentId);
  const data = { n: ++unique, input: { a: 1 }, output: 'no' };
  const speech = await spoken(key, agentId, 'loans', data);
  const { attestationId } = accepted(await eu.post('/v1/attest', { sourceId: 'loans', data, ...speech }));
  assert.is((await agentOf(eu, attestationId))?.signature, 'valid');
  const { body } = await eu.get(`/v1/bundles/${String(attestationId)}?partial=1&disclosure=1`);
  const { disclosure } = body;
  assert.is(isJsonObject(disclosure ?? null) ? (disclosure as JsonObject).salt : null, speech.agentSalt ?? null);
  const verdict = await eu.get(`/v1/verify/${String(attestationId)}`, { key: null });
  assert.equal(
    [verdict.body.payloadState, verdict.body.agent],
    ['available', { agentId, keyId: key.keyId, signature: 'valid' }],
  );
});

test('what an agent did not sign is not recorded', async () => {
  const agentId = newId();
  const key = await registry.selfHeld(agentId);
  const data = { n: ++unique };
  const speech = await spoken(key, agentId, 'loans', data);
  const stranger = await spoken(freshKey(), agentId, 'loans', data);
  const before = eu.context.intake.recorded;
  const cases: readonly [what: string, body: JsonObject, field: string][] = [
    ['no salt', { agentId }, 'agentSalt'],
    ['no signature', { agentId, agentSalt: speech.agentSalt ?? null }, 'agentSignature'],
    ['a short salt', { ...speech, agentSalt: 'AAAA' }, 'agentSalt'],
    ['a salt of other letters', { ...speech, agentSalt: `${'A'.repeat(42)}=` }, 'agentSalt'],
    ['another salt', { ...speech, agentSalt: 'A'.repeat(43) }, 'agentSignature'],
    ['another key', stranger, 'agentSignature'],
    ['other data', { ...speech, data: { n: 0 } }, 'agentSignature'],
    ['another source', { ...speech, sourceId: 'other' }, 'agentSignature'],
  ];
  for (const [what, body, field] of cases) {
    for (const path of ['/v1/attest', '/v1/tiered-attest']) {
      requireProblem(await eu.post(path, { sourceId: 'loans', data, ...body }), 'agent-signature-invalid', what, field);
    }
  }
  const { agentId: _, ...nameless } = speech;
  requireProblem(
    await eu.post('/v1/attest', { sourceId: 'loans', data, ...nameless }),
    'missing-field',
    'no id',
    'agentId',
  );
  const held = newId();
  await registry.registered({ agentId: held });
  const meddling = { sourceId: 'loans', data, ...speech, agentId: held };
  requireProblem(await eu.post('/v1/attest', meddling), 'agent-signature-invalid', 'the node signs', 'agentSalt');
  assert.is(eu.context.intake.recorded, before + 1);
});

test('an agent speaks for its own account alone', async () => {
  const agentId = newId();
  await registry.registered({ agentId });
  const answer = await eu.post('/v1/attest', decision(agentId), { key: API_KEYS.enterprise });
  requireProblem(answer, 'agent-not-found', 'another account', 'agentId');
  requireProblem(await eu.post('/v1/attest', decision('nobody')), 'agent-not-found', 'nobody', 'agentId');
});

test('an agent speaks after a restart, and by a rotated key', async () => {
  const agentId = newId();
  await registry.registered({ agentId });
  const first = accepted(await eu.post('/v1/attest', decision(agentId)));
  const { keyId } = accepted(await registry.change(agentId, 'rotate'));
  await eu.stop();
  await eu.start();
  const second = accepted(await eu.post('/v1/attest', decision(agentId)));
  assert.equal(
    [(await agentOf(eu, first.attestationId))?.signature, await agentOf(eu, second.attestationId)],
    ['valid', { agentId, keyId: keyId ?? null, signature: 'valid' }],
  );
});

test('a key that the node has lost signs nothing until it is rotated', async () => {
  const agentId = newId();
  await registry.registered({ agentId });
  const { store } = eu.context;
  for await (const [key] of store.range({ gte: 'agent-key/', lt: 'agent-key0' })) {
    if (key.includes((await eu.context.agents.find(agentId))?.keys[0]?.keyId.slice(7) ?? '-')) {
      await store.write([{ type: 'del', key }]);
    }
  }
  await eu.stop();
  await eu.start();
  requireProblem(await eu.post('/v1/attest', decision(agentId)), 'agent-key-unavailable', 'lost', 'agentId');
  accepted(await registry.change(agentId, 'rotate'));
  accepted(await eu.post('/v1/attest', decision(agentId)));
});

test('a private key is nowhere in clear, and gone from every file once it was rotated', async () => {
  const agentId = newId();
  await registry.registered({ agentId });
  accepted(await eu.post('/v1/attest', decision(agentId)));
  const { store } = eu.context;
  const [seed] = await seedsOf(agentId);
  if (seed === undefined) throw new Error('no key');
  let sealed: Uint8Array | undefined;
  for await (const [key, value] of store.range({ gte: 'agent-key/', lt: 'agent-key0' })) {
    if (key.includes((await eu.context.agents.find(agentId))?.keys[0]?.keyId.slice(7) ?? '-')) sealed = value;
  }
  if (sealed === undefined) throw new Error('no row');
  const cipher = sealed.subarray(12, 44);
  // Two, where the store is just moving it from its log to a table.
  assert.ok((await filesHolding(store.directory, cipher)).length > 0);
  const texts = [encodeHex(seed), encodeBase64url(seed), Buffer.from(seed).toString('base64')];
  for (const bytes of [seed, ...texts.map((text) => Buffer.from(text))]) {
    assert.equal(await filesHolding(store.directory, bytes), []);
  }
  for (const text of texts) assert.not.match(eu.log.join('\n'), text.replaceAll('+', '\\+'));
  accepted(await registry.change(agentId, 'rotate'));
  await eu.context.purges.look();
  assert.equal(await filesHolding(store.directory, cipher), []);
  const [next] = await seedsOf(agentId);
  assert.ok(next !== undefined && encodeHex(next) !== encodeHex(seed));
});

test('the check of a store opens the keys of agents, and finds those that are out of place', async () => {
  const [active, ended] = [newId(), newId()];
  for (const agentId of [active, ended]) await registry.registered({ agentId });
  accepted(await registry.change(ended, 'deactivate'));
  await eu.stop();
  const whole = await fsck(eu.config.home);
  assert.equal(
    whole.report.findings.filter(({ severity }) => severity === 'problem'),
    [],
  );
  assert.ok(whole.report.counts.agentKeys > 0);
  assert.is(whole.report.counts.agentKeysAbsent, 0);
  const damage: [
    name: string,
    change: (key: string, value: Uint8Array) => { key: string; value: Uint8Array | null },
  ][] = [
    ['a changed row', (key, value) => ({ key, value: value.map((byte, i) => (i === 20 ? byte ^ 1 : byte)) })],
    ['a cut row', (key, value) => ({ key, value: value.subarray(1) })],
    ['a row of no agent', (key, value) => ({ key: key.replace(/[0-9a-f]{4}$/, '0000'), value })],
    ['a row that is not there', (key) => ({ key, value: null })],
  ];
  for (const [what, change] of damage) {
    const found = await findingsAfter(change);
    assert.ok(
      found.some(({ table }) => table === 'agent-key'),
      what,
    );
  }
  await eu.start();
});

async function findingsAfter(
  change: (key: string, value: Uint8Array) => { readonly key: string; readonly value: Uint8Array | null },
) {
  const directory = `${eu.config.home}/store`;
  const undo: { type: 'put' | 'del'; key: string; value?: Uint8Array }[] = [];
  {
    await using store = await Store.open(directory);
    const row = await store.first({ gte: 'agent-key/', lt: 'agent-key0' });
    if (row === undefined) throw new Error('no key');
    const { key, value } = change(...row);
    await store.write([value === null ? { type: 'del', key } : { type: 'put', key, value }]);
    if (key !== row[0]) undo.push({ type: 'del', key });
    undo.push({ type: 'put', key: row[0], value: row[1] });
  }
  const { report } = await fsck(eu.config.home);
  await using store = await Store.open(directory);
  for (const { key, value } of undo) {
    await store.write([value === undefined ? { type: 'del', key } : { type: 'put', key, value }]);
  }
  return report.findings;
}

test.run();

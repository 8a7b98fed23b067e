import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nativeSuite } from '../../../../node/keys/native-suite.ts';
import { AgentAnswerShape, RegisterAgentAnswerShape } from '../../../../protocol/api/agents.ts';
import { decodeBase64url } from '../../../../protocol/bytes.ts';
import { recordId } from '../../../../protocol/ids.ts';
import type { JsonObject } from '../../../../protocol/json/value.ts';
import { eraseKey } from '../../../fixtures/payload-keys.ts';
import { TestNetwork } from '../../../fixtures/test-network.ts';
import { API_KEYS } from '../../../fixtures/test-node.ts';
import {
  demandedText,
  freshKey,
  PARTICULARS,
  PROOF_CONTEXT,
  proofText,
  publicKeyOf,
  Registry,
  signed,
} from '../../governance/agents/agent-fixture.ts';
import { shapeCheck } from '../answer-shape.ts';
import { requireProblem } from '../problem-shape.ts';

const ACCOUNT = 'acc_eu_unmetered';
const OTHER = { key: API_KEYS.enterprise };
const network = await TestNetwork.start();
const node = network.node();
const registry = new Registry(node);
test.after(() => network[Symbol.asyncDispose]());
let unique = 0;

const requireRegistered = shapeCheck(RegisterAgentAnswerShape);
const requireAgent = shapeCheck(AgentAnswerShape);

function newId(): string {
  return `agent ${++unique}/ü`;
}

test('a registration makes a key that the node holds, and a DID', async () => {
  const agentId = newId();
  const body = await registry.registered({ agentId, metadata: { team: 'claims' } });
  requireRegistered(body);
  const encoded = agentId.replace(' ', '%20').replace('/', '%2F').replace('ü', '%C3%BC');
  const base = node.baseUrl;
  assert.is(body.did, `did:web:${base.slice('http://'.length).replace(':', '%3A')}:agents:${encoded}`);
  assert.is(body.didDocumentUrl, `${base}/agents/${encoded}/did.json`);
  assert.equal([body.agentId, body.custody, body.algorithm, body.status], [agentId, 'service', 'ML-DSA-65', 'pending']);
  const publicKey = decodeBase64url(String(body.publicKey));
  assert.is(publicKey.length, 1952);
  assert.is(body.keyId, `sha256:${nativeSuite.sha256Hex(publicKey)}`);
  assert.is(String(body.registrationId).slice(3), String(body.attestationId).slice(3));
  assert.match(String(body.registrationId), /^reg_eu_/);
});

test('the same request again is answered with the first registration, another one is refused', async () => {
  const agentId = newId();
  const first = await registry.registered({ agentId });
  const before = node.context.intake.recorded;
  assert.equal(await registry.registered({ agentId }), first);
  assert.equal(await registry.registered({ permittedUses: PARTICULARS.permittedUses, agentId }), first);
  requireProblem(await registry.register({ agentId, displayName: 'Other' }), 'agent-exists', 'other name', 'agentId');
  requireProblem(await registry.register({ agentId, metadata: {} }), 'agent-exists', 'more');
  requireProblem(await registry.register({ agentId }, OTHER), 'agent-exists', 'the same from another account');
  assert.is(node.context.intake.recorded, before, 'nothing was recorded');
});

test('many who register one agent at once make one registration', async () => {
  const agentId = newId();
  const before = node.context.intake.recorded;
  const same = await Promise.all(Array.from({ length: 12 }, () => registry.register({ agentId })));
  assert.is(new Set(same.map(({ text }) => text)).size, 1);
  const contested = newId();
  const answers = await Promise.all(
    Array.from({ length: 12 }, (_, i) =>
      registry.register({ agentId: contested, displayName: `name ${i % 4}` }, i % 2 === 0 ? {} : OTHER),
    ),
  );
  const accepted = answers.filter(({ status }) => status === 200);
  assert.is(new Set(accepted.map(({ body }) => body.attestationId)).size, 1);
  for (const answer of answers) if (answer.status !== 200) requireProblem(answer, 'agent-exists', 'contested');
  assert.is(node.context.intake.recorded, before + 2);
});

test('a request of another form is refused by its field', async () => {
  const valid = { agentId: 'x', ...PARTICULARS };
  const long = (length: number) => 'x'.repeat(length);
  const cases: readonly [member: string, value: JsonObject[string] | undefined][] = [
    ['agentId', undefined],
    ['agentId', ''],
    ['agentId', ' x'],
    ['agentId', 'x '],
    ['agentId', 'a\nb'],
    ['agentId', '.'],
    ['agentId', '..'],
    ['agentId', long(257)],
    ['agentId', 7],
    ['displayName', undefined],
    ['displayName', ''],
    ['displayName', long(201)],
    ['jurisdiction', ''],
    ['jurisdiction', long(65)],
    ['permittedUses', []],
    ['permittedUses', 'all'],
    ['permittedUses', Array.from({ length: 51 }, () => 'x')],
    ['metadata', 'x'],
    ['metadata', []],
    ['publicKey', 'x'],
    ['publicKey', long(2604)],
    ['proofOfPossession', long(4412)],
  ];
  for (const [member, value] of cases) {
    const body = Object.fromEntries(
      Object.entries({ ...valid, [member]: value }).filter(([, given]) => given !== undefined),
    );
    const answer = await node.post('/v1/agents/register', body);
    const field = member === 'proofOfPossession' ? 'publicKey' : member;
    const code = value === undefined || member === 'proofOfPossession' ? 'missing-field' : 'invalid-field';
    requireProblem(answer, code, `${member} ${JSON.stringify(value)?.slice(0, 40)}`, field);
  }
  requireProblem(
    await registry.register({ agentId: 'x', permittedUses: [long(201)] }),
    'invalid-field',
    'use',
    'permittedUses.0',
  );
  const notBase64url = `${publicKeyOf(freshKey()).slice(0, -1)}_`;
  requireProblem(
    await registry.register({ agentId: 'x', publicKey: notBase64url }),
    'invalid-field',
    'stray bits',
    'publicKey',
  );
  requireProblem(
    await registry.register({ agentId: 'x', metadata: { big: long(17_000) } }),
    'payload-too-large',
    'metadata',
    'metadata',
  );
});

test('an agent that holds its own key must show it, and is told how', async () => {
  const agentId = newId();
  const key = freshKey();
  const publicKey = publicKeyOf(key);
  const missing = await registry.register({ agentId, publicKey });
  requireProblem(missing, 'agent-signature-invalid', 'no proof', 'proofOfPossession');
  const text = demandedText(missing);
  assert.is(text, proofText(ACCOUNT, agentId, key.keyId, null));
  assert.ok(String(missing.body.detail).includes(text) && String(missing.body.detail).includes(PROOF_CONTEXT));
  const wrong = [
    await signed(freshKey(), text, PROOF_CONTEXT),
    await signed(key, text, 'meridian/agent/1'),
    await signed(key, proofText(ACCOUNT, 'another', key.keyId, null), PROOF_CONTEXT),
    await signed(key, proofText('acc_eu_enterprise', agentId, key.keyId, null), PROOF_CONTEXT),
  ];
  for (const proofOfPossession of wrong) {
    requireProblem(
      await registry.register({ agentId, publicKey, proofOfPossession }),
      'agent-signature-invalid',
      'wrong proof',
    );
  }
  const first = await registry.registered({
    agentId,
    publicKey,
    proofOfPossession: await signed(key, text, PROOF_CONTEXT),
  });
  assert.equal([first.custody, first.keyId, first.publicKey], ['self', key.keyId, publicKey]);
  const again = { agentId, publicKey, proofOfPossession: await signed(key, text, PROOF_CONTEXT) };
  assert.equal(await registry.registered(again), first, 'a proof is another at every signing');
});

test('what is known of an agent, for its account alone', async () => {
  const agentId = newId();
  const { attestationId, did, keyId, publicKey } = await registry.registered({ agentId, metadata: { team: 'claims' } });
  const path = `/v1/agents/${encodeURIComponent(agentId)}`;
  const { status, body } = await node.get(path);
  assert.is(status, 200);
  requireAgent(body);
  assert.equal([body.displayName, body.jurisdiction, body.permittedUses], ['Triage', 'EU', ['sort claims']]);
  assert.equal([body.metadata, body.payloadState, body.agentStatus], [{ team: 'claims' }, 'available', 'active']);
  assert.equal([body.did, body.attestationId], [did, attestationId]);
  const key = { keyId, publicKey, validFrom: body.createdAt, validUntil: null, attestationId };
  assert.equal([body.currentKey, body.keys], [key, [key]]);
  requireProblem(await node.get(path, OTHER), 'agent-not-found', 'of another account');
  requireProblem(await node.get('/v1/agents/nobody'), 'agent-not-found', 'of nobody');
  requireProblem(await node.get('/v1/agents/%20x'), 'invalid-field', 'no id', 'agentId');
  requireProblem(await node.get(path, { key: null }), 'api-key-missing', 'without a key');
});

test('once the payload of a registration is erased, what it said is null and the agent stays', async () => {
  const agentId = newId();
  const { attestationId } = await registry.registered({ agentId });
  await eraseKey(node.context.store, String(attestationId));
  const { body } = await registry.agent(agentId);
  requireAgent(body);
  assert.equal([body.displayName, body.jurisdiction, body.permittedUses, body.metadata], [null, null, null, null]);
  assert.equal([body.payloadState, body.agentStatus], ['erased', 'active']);
  assert.ok(body.currentKey !== null);
  requireProblem(await registry.register({ agentId }), 'agent-exists', 'there is nothing to compare with any more');
});

test('a DID document of nobody is 404, and one is served below both roots', async () => {
  requireProblem(await node.get('/agents/nobody/did.json', { key: null }), 'agent-not-found', 'nobody');
  requireProblem(await node.get('/agents/%20/did.json', { key: null }), 'invalid-field', 'no id', 'agentId');
  const agentId = newId();
  await registry.registered({ agentId });
  const path = `/agents/${encodeURIComponent(agentId)}/did.json`;
  assert.equal((await node.get(`/verify${path}`, { key: null })).body, await registry.documentOf(agentId));
});

test('who may do what: by scope, and by source', async () => {
  const [mine, agentId] = [newId(), newId()];
  await registry.registered({ agentId });
  const reading = await registry.keyWith({ scopes: ['proof:read'] });
  requireProblem(await registry.register({ agentId: mine }, reading), 'scope-forbidden', 'register');
  requireProblem(await registry.change(agentId, 'rotate', {}, reading), 'scope-forbidden', 'rotate');
  requireProblem(await registry.change(agentId, 'deactivate', {}, reading), 'scope-forbidden', 'deactivate');
  const writing = await registry.keyWith({ scopes: ['governance:write'] });
  requireProblem(await registry.agent(agentId, writing), 'scope-forbidden', 'read');
  const bound = await registry.keyWith({ scopes: ['governance:write', 'proof:read'], sources: [mine] });
  requireProblem(await registry.change(agentId, 'rotate', {}, bound), 'scope-forbidden', 'another source', 'agentId');
  requireProblem(await registry.agent(agentId, bound), 'scope-forbidden', 'read', 'agentId');
  assert.is((await registry.register({ agentId: mine }, bound)).status, 200);
});

test('the records of an agent stand under its id as their source', async () => {
  const agentId = newId();
  const { attestationId } = await registry.registered({ agentId });
  const evidence = await node.context.evidence(recordId(String(attestationId)));
  const { record } = evidence ?? {};
  assert.equal([record?.kind, record?.sourceId, record?.sourceSeq], ['agent_registration', agentId, 1]);
  const { agentId: named, custody, given } = record?.claims ?? {};
  assert.equal(
    [named, custody, given],
    [agentId, 'service', ['agentId', 'displayName', 'jurisdiction', 'permittedUses']],
  );
});

test.run();

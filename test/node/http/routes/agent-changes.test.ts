import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  AgentAnswerShape,
  DeactivateAgentAnswerShape,
  RotateAgentAnswerShape,
} from '../../../../protocol/api/agents.ts';
import { MAX_AGENT_KEYS } from '../../../../protocol/agents/agent.ts';
import { recordId } from '../../../../protocol/ids.ts';
import { TestNetwork } from '../../../fixtures/test-network.ts';
import { API_KEYS } from '../../../fixtures/test-node.ts';
import {
  demandedText,
  freshKey,
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

const requireRotated = shapeCheck(RotateAgentAnswerShape);
const requireDeactivated = shapeCheck(DeactivateAgentAnswerShape);
const requireAgent = shapeCheck(AgentAnswerShape);

function newId(): string {
  return `agent ${++unique}/ü`;
}

test('a rotation keeps the DID, and the key before in its document', async () => {
  const agentId = newId();
  const first = await registry.registered({ agentId });
  const answer = await registry.change(agentId, 'rotate', { reason: 'yearly', zork: 1 });
  assert.is(answer.status, 200, answer.text);
  requireRotated(answer.body);
  const { body } = answer;
  assert.equal([body.did, body.registrationId], [first.did, first.registrationId]);
  assert.equal([body.previousKeyId, body.custody], [first.keyId, 'service']);
  assert.is.not(body.keyId, first.keyId);
  assert.equal(body.warnings, ['zork: not a documented field; signed under additional']);
  const document = await registry.documentOf(agentId);
  const methods = Array.isArray(document.verificationMethod) ? document.verificationMethod : [];
  assert.equal(methods.length, 2);
  assert.equal(document.assertionMethod, [`${String(first.did)}#${String(body.keyId)}`]);
  const { body: agent } = await registry.agent(agentId);
  const [before, now] = Array.isArray(agent.keys) ? agent.keys : [];
  assert.equal(before, {
    keyId: first.keyId ?? null,
    publicKey: first.publicKey ?? null,
    validFrom: first.createdAt ?? null,
    validUntil: body.rotatedAt ?? null,
    attestationId: first.attestationId ?? null,
  });
  assert.equal(agent.currentKey, now);
  requireProblem(
    await registry.change(agentId, 'rotate', { publicKey: publicKeyOf(freshKey()) }),
    'invalid-field',
    'own key',
  );
  requireProblem(await registry.change(agentId, 'rotate', {}, OTHER), 'agent-not-found', 'another account');
  requireProblem(await registry.change('nobody', 'rotate'), 'agent-not-found', 'nobody');
});

test('the same idempotency key rotates once', async () => {
  const agentId = newId();
  await registry.registered({ agentId });
  const ask = { headers: { 'idempotency-key': `rotate-${agentId.length}-${unique}` } };
  const first = await registry.change(agentId, 'rotate', {}, ask);
  const second = await registry.change(agentId, 'rotate', {}, ask);
  assert.equal(second.body, first.body);
  const other = newId();
  await registry.registered({ agentId: other });
  requireProblem(await registry.change(other, 'rotate', {}, ask), 'idempotency-conflict', 'another agent');
});

test('a key that the agent holds is replaced with the consent of both keys', async () => {
  const agentId = newId();
  const key = await registry.selfHeld(agentId);
  const next = freshKey();
  const text = proofText(ACCOUNT, agentId, next.keyId, key.keyId);
  const governance = await registry.keyWith({ scopes: ['governance:write'] });
  const publicKey = publicKeyOf(next);
  requireProblem(await registry.change(agentId, 'rotate', {}, governance), 'missing-field', 'no key', 'publicKey');
  const unproven = await registry.change(agentId, 'rotate', { publicKey }, governance);
  requireProblem(unproven, 'agent-signature-invalid', 'no proof', 'proofOfPossession');
  assert.is(demandedText(unproven), text);
  const proofOfPossession = await signed(next, text, PROOF_CONTEXT);
  const forced = await registry.change(agentId, 'rotate', { publicKey, proofOfPossession }, governance);
  requireProblem(forced, 'agent-signature-invalid', 'no consent', 'previousKeySignature');
  const own = await signed(next, text, PROOF_CONTEXT);
  const forged = { publicKey, proofOfPossession, previousKeySignature: own };
  requireProblem(
    await registry.change(agentId, 'rotate', forged),
    'agent-signature-invalid',
    'forged',
    'previousKeySignature',
  );
  const same = { publicKey: publicKeyOf(key), proofOfPossession, previousKeySignature: own };
  requireProblem(await registry.change(agentId, 'rotate', same), 'invalid-field', 'the key in force', 'publicKey');
  const previousKeySignature = await signed(key, text, PROOF_CONTEXT);
  const agreed = await registry.change(
    agentId,
    'rotate',
    { publicKey, proofOfPossession, previousKeySignature },
    governance,
  );
  assert.is(agreed.status, 200, agreed.text);
  assert.equal([agreed.body.keyId, agreed.body.custody], [next.keyId, 'self']);
});

test('a lost key is replaced by a key of the account that may administer, and the record shows it', async () => {
  const agentId = newId();
  const key = await registry.selfHeld(agentId);
  const next = freshKey();
  const text = proofText(ACCOUNT, agentId, next.keyId, key.keyId);
  const body = { publicKey: publicKeyOf(next), proofOfPossession: await signed(next, text, PROOF_CONTEXT) };
  const answer = await registry.change(agentId, 'rotate', body);
  assert.is(answer.status, 200, answer.text);
  const evidence = await node.context.evidence(recordId(String(answer.body.attestationId)));
  assert.equal(evidence?.record.claims.given, ['proofOfPossession', 'publicKey']);
  assert.equal(evidence?.record.links.agent?.slice(3), String(answer.body.registrationId).slice(3));
});

test('of two rotations at once each replaces what the other put in force, or is refused', async () => {
  const agentId = newId();
  const first = await registry.registered({ agentId });
  const answers = await Promise.all(Array.from({ length: 5 }, () => registry.change(agentId, 'rotate')));
  const replaced = answers.map(({ body }) => body.previousKeyId);
  const made = answers.map(({ body }) => body.keyId);
  assert.is(new Set(replaced).size, 5);
  assert.equal(new Set([...replaced, ...made]).size, 6);
  assert.ok(replaced.includes(first.keyId ?? null));
});

test('a deactivation is the end: of signing, rotating and deactivating; the document stays', async () => {
  const agentId = newId();
  const first = await registry.registered({ agentId });
  const answers = await Promise.all([
    registry.change(agentId, 'deactivate', { reason: 'gone' }),
    registry.change(agentId, 'deactivate'),
  ]);
  const [done, late] = answers.sort((a, b) => a.status - b.status);
  if (done === undefined || late === undefined) throw new Error('no answers');
  requireDeactivated(done.body);
  assert.equal([done.body.agentStatus, done.body.keyId], ['deactivated', first.keyId]);
  requireProblem(late, 'agent-inactive', 'twice');
  assert.is(late.body.deactivatedAt, done.body.deactivatedAt);
  requireProblem(await registry.change(agentId, 'rotate'), 'agent-inactive', 'rotation');
  requireProblem(await node.post('/v1/attest', { sourceId: 's', data: {}, agentId }), 'agent-inactive', 'decision');
  requireProblem(
    await registry.register({ agentId, displayName: 'Next' }),
    'agent-exists',
    'its id is not given again',
  );
  const document = await registry.documentOf(agentId);
  assert.equal([document.id, document.deactivated, document.assertionMethod], [first.did, true, []]);
  const { body } = await registry.agent(agentId);
  requireAgent(body);
  assert.equal([body.agentStatus, body.currentKey, body.deactivatedAt], ['deactivated', null, done.body.deactivatedAt]);
});

test('the keys of an agent are limited in number, and its document holds them all', async () => {
  const agentId = newId();
  await registry.registered({ agentId });
  const answers = await Promise.all(Array.from({ length: MAX_AGENT_KEYS }, () => registry.change(agentId, 'rotate')));
  const refused = answers.filter(({ status }) => status !== 200);
  assert.is(refused.length, 1);
  for (const answer of refused) requireProblem(answer, 'agent-keys-exhausted', 'one too many', 'agentId');
  const { verificationMethod } = await registry.documentOf(agentId);
  assert.is(Array.isArray(verificationMethod) ? verificationMethod.length : 0, MAX_AGENT_KEYS);
  assert.is((await registry.change(agentId, 'deactivate')).status, 200);
});

test.run();

import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { agentOf, currentKey } from '../../../protocol/agents/agent.ts';
import { didDocument } from '../../../protocol/agents/did.ts';
import { hashText } from '../../../protocol/hash.ts';
import type { Claims } from '../../../protocol/chain/claims.ts';
import type { AttestationRecord } from '../../../protocol/chain/record.ts';
import { encodeSignature } from '../../../protocol/statement/statement.ts';
import { nobleSuite } from '../../../protocol/suite/noble.ts';
import type { RecordDraft } from '../../fixtures/federation-record.ts';
import { EU, made, US } from '../evidence/case.ts';

const AGENT = 'triage';
const DID = 'did:web:eu.example:agents:triage';

function keyClaims(name: string) {
  const agentPublicKey = encodeSignature(new TextEncoder().encode(name));
  return { agentKeyId: hashText(nobleSuite, name), agentPublicKey, custody: 'service' } as const;
}

function registered(more: Partial<RecordDraft> = {}): AttestationRecord {
  const claims = { agentId: AGENT, ...keyClaims('first'), ...more.claims };
  return made({ kind: 'agent_registration', ...more, claims }, 1);
}

function event(
  registration: AttestationRecord,
  claims: Partial<Claims>,
  seconds: number,
  more: Partial<RecordDraft> = {},
) {
  const draft = { kind: 'key_event', links: { agent: registration.id }, ...more } as const;
  return made({ ...draft, claims: { agentId: AGENT, ...claims } }, seconds, more.sourceId === 'us' ? US : EU);
}

const rotated = (registration: AttestationRecord, name: string, seconds: number, more: Partial<RecordDraft> = {}) =>
  event(registration, { keyEvent: 'agent-rotated', ...keyClaims(name) }, seconds, more);
const deactivated = (registration: AttestationRecord, seconds: number) =>
  event(registration, { keyEvent: 'agent-deactivated' }, seconds);

test('a registration alone is an agent with its first key in force', () => {
  const registration = registered();
  const agent = agentOf(registration, []);
  assert.is(agent?.agentId, AGENT);
  assert.is(agent?.deactivatedAt, null);
  assert.equal(
    agent?.keys.map(({ validFrom, validUntil, record }) => [validFrom, validUntil, record]),
    [[registration.submittedAt, null, registration.id]],
  );
});

test('each rotation ends the key before and names the record that made the next one known', () => {
  const registration = registered();
  const events = [rotated(registration, 'second', 20), rotated(registration, 'third', 30)];
  const agent = agentOf(registration, events);
  const [first, second] = events;
  if (agent === undefined || first === undefined || second === undefined) throw new Error('no agent');
  assert.equal(
    agent.keys.map(({ keyId, validUntil, record }) => [keyId, validUntil, record]),
    [
      [keyClaims('first').agentKeyId, first.submittedAt, registration.id],
      [keyClaims('second').agentKeyId, second.submittedAt, first.id],
      [keyClaims('third').agentKeyId, null, second.id],
    ],
  );
  assert.is(currentKey(agent)?.record, second.id);
});

test('a deactivation ends the last key, and what comes after it changes nothing', () => {
  const registration = registered();
  const end = deactivated(registration, 20);
  const agent = agentOf(registration, [end, rotated(registration, 'late', 30)]);
  if (agent === undefined) throw new Error('no agent');
  assert.equal([agent.keys.length, agent.deactivatedAt], [1, end.submittedAt]);
  assert.is(currentKey(agent), undefined);
  const { assertionMethod, deactivated: isDeactivated } = didDocument(agent, DID);
  assert.equal([assertionMethod, isDeactivated], [[], true]);
});

test('records of another node, account, agent or kind say nothing about an agent', () => {
  const registration = registered();
  const strangers = [
    rotated(registration, 'a', 20, { sourceId: 'us' }),
    rotated(registration, 'b', 20, { account: 'acc_other' }),
    rotated(registration, 'c', 20, { kind: 'decision' }),
    rotated(registration, 'd', 20, { links: { agent: registered().id } }),
    event(registration, { keyEvent: 'agent-rotated', ...keyClaims('e'), agentId: 'other' }, 20),
    event(registration, { keyEvent: 'audit-head' }, 20),
    event(registration, { keyEvent: 'agent-rotated', custody: 'service' }, 20),
  ];
  assert.equal(agentOf(registration, strangers), agentOf(registration, []));
});

test('what is no registration makes no agent', () => {
  const { agentKeyId, agentPublicKey, custody } = keyClaims('first');
  for (const record of [
    registered({ kind: 'decision' }),
    made({ kind: 'agent_registration', claims: { agentId: AGENT, custody } }),
    made({ kind: 'agent_registration', claims: { agentKeyId, agentPublicKey, custody } }),
    made({ kind: 'agent_registration', claims: { agentId: AGENT, agentKeyId, agentPublicKey } }),
  ]) {
    assert.is(agentOf(record, []), undefined);
  }
});

test('a DID document holds every key with its time, and asserts by the one in force', () => {
  const registration = registered();
  const rotation = rotated(registration, 'second', 20);
  const agent = agentOf(registration, [rotation]);
  if (agent === undefined) throw new Error('no agent');
  const [first, second] = agent.keys.map(({ keyId, publicKey }) => ({ keyId, publicKey }));
  const method = ({ keyId, publicKey }: { keyId: string; publicKey: string }) => ({
    id: `${DID}#${keyId}`,
    type: 'JsonWebKey',
    controller: DID,
    publicKeyJwk: { kty: 'AKP', alg: 'ML-DSA-65', kid: keyId, use: 'sig', pub: publicKey },
  });
  if (first === undefined || second === undefined) throw new Error('no keys');
  assert.equal(didDocument(agent, DID), {
    id: DID,
    verificationMethod: [
      { ...method(first), validFrom: registration.submittedAt, revoked: rotation.submittedAt },
      { ...method(second), validFrom: rotation.submittedAt },
    ],
    assertionMethod: [`${DID}#${second.keyId}`],
  });
});

test.run();

import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nativeSigner, nativeSuite } from '../../../node/keys/native-suite.ts';
import { utf8 } from '../../../protocol/bytes.ts';
import { checkAgent } from '../../../protocol/evidence/agent.ts';
import { AGENT_CONTEXT, agentStatement, agentStatementText } from '../../../protocol/statement/agent-statement.ts';
import type { Claims } from '../../../protocol/chain/claims.ts';
import type { AttestationRecord } from '../../../protocol/chain/record.ts';
import { encodeSignature } from '../../../protocol/statement/statement.ts';
import { nobleSuite } from '../../../protocol/suite/noble.ts';
import type { Signer, SigningContext } from '../../../protocol/suite/suite.ts';
import { seedOf } from '../../fixtures/federation-member.ts';
import { holding, made } from './case.ts';

const agent = nativeSigner(seedOf('agent'));
const other = nativeSigner(seedOf('another agent'));
const registration = registrationOf(agent);
const record = await signedBy(agent, made(draftOf(registration)));

test('a record that its agent signed is the agent’s, in both suites', () => {
  for (const suite of [nativeSuite, nobleSuite]) {
    const verdict = checkAgent(suite, record, holding(registration));
    assert.equal(verdict, { agentId: 'triage', keyId: agent.keyId, signature: 'valid' });
  }
});

test('a record of no agent’s signature is nobody’s', () => {
  const { agentSignature: _, ...claims } = record.claims;
  assert.is(checkAgent(nativeSuite, { ...record, claims }, holding(registration)), null);
  assert.is(checkAgent(nativeSuite, made({}), holding(registration)), null);
  assert.is(checkAgent(nativeSuite, registration, holding(registration)), null);
});

test('a rotation makes a key known as a registration does', () => {
  const claims = { ...registration.claims, keyEvent: 'agent-rotated' } as const;
  const rotation = { ...registration, kind: 'key_event', claims } as const;
  assert.is(signatureOf(record, rotation), 'valid');
  assert.is(signatureOf(record, { ...rotation, claims: registration.claims }), 'unknown-key');
  const deactivated = { ...rotation, claims: { ...claims, keyEvent: 'agent-deactivated' } } as const;
  assert.is(signatureOf(record, deactivated), 'unknown-key');
});

test('the key is unknown without a record, of the same account and agent, that made it known and holds', () => {
  assert.is(signatureOf(record), 'unknown-key');
  assert.is(
    checkAgent(nativeSuite, record, [{ record: registration, holds: false, speaks: true }])?.signature,
    'unknown-key',
  );
  const { agentPublicKey: _, ...keyless } = registration.claims;
  const strangers: AttestationRecord[] = [
    { ...registration, account: 'acc_else' },
    { ...registration, id: made({}).id },
    { ...registration, kind: 'decision' },
    { ...registration, claims: { ...registration.claims, agentId: 'another' } },
    { ...registration, claims: { ...registration.claims, agentKeyId: other.keyId } },
    { ...registration, claims: keyless },
    { ...registration, claims: { ...registration.claims, agentPublicKey: encodeSignature(other.publicKey) } },
    { ...registration, claims: { ...registration.claims, agentPublicKey: encodeSignature(agent.publicKey.slice(1)) } },
    { ...registration, claims: { ...registration.claims, agentPublicKey: encodeSignature(new Uint8Array(4000)) } },
  ];
  for (const [i, stranger] of strangers.entries()) assert.is(signatureOf(record, stranger), 'unknown-key', `${i}`);
});

test('a signature over anything else is invalid', async () => {
  const { dataHash, inputHash } = record.claims;
  if (dataHash === undefined || inputHash === undefined) throw new Error('a decision has hashes');
  const { dataHash: _, ...dataless } = record.claims;
  const changed: AttestationRecord[] = [
    { ...record, sourceId: 'else' },
    { ...record, claims: { ...record.claims, dataHash: inputHash } },
    { ...record, claims: dataless },
    claiming({ agentSignature: encodeSignature(new Uint8Array(3309)) }),
    claiming({ agentSignature: encodeSignature(new Uint8Array(3308)) }),
    claiming({ agentSignature: encodeSignature(new Uint8Array(1)) }),
    await signedBy(other, record, AGENT_CONTEXT, agent),
    await signedBy(agent, record, 'meridian/group/1'),
  ];
  for (const [i, one] of changed.entries()) assert.is(signatureOf(one, registration), 'invalid', `${i}`);
});

test('a signature of an impossible length is invalid whatever is known of the key', () => {
  assert.is(signatureOf(claiming({ agentSignature: encodeSignature(new Uint8Array(9)) })), 'invalid');
});

test('a signature without an agent or a key is invalid, and names what there is', () => {
  const { agentId: _, agentKeyId: __, ...bare } = record.claims;
  assert.equal(checkAgent(nativeSuite, { ...record, claims: bare }, holding(registration)), {
    agentId: null,
    keyId: null,
    signature: 'invalid',
  });
});

test('the statement is canonical, closed and signed as no other kind', () => {
  const said = { agent: 'a', dataHash: record.payloadHash, keyId: agent.keyId, sourceId: 's' };
  const text = agentStatementText(said);
  assert.is(
    text,
    `{"agent":"a","dataHash":"${said.dataHash}","keyId":"${said.keyId}","sourceId":"s","type":"agent","v":1}`,
  );
  assert.equal(agentStatement.parse(text), { v: 1, type: 'agent', ...said });
  assert.is(agentStatement.context, 'meridian/agent/1');
  assert.throws(() => agentStatement.parse(text.replace('"v":1', '"v":1,"w":1')));
});

function draftOf({ id }: AttestationRecord) {
  return { links: { agent: id }, claims: { agentId: 'triage', agentKeyId: agent.keyId } };
}

function registrationOf({ keyId, publicKey }: Signer): AttestationRecord {
  const claims = { agentId: 'triage', agentKeyId: keyId, agentPublicKey: encodeSignature(publicKey) };
  return made({ kind: 'agent_registration', payload: { agentId: 'triage' }, claims }, 1);
}

function claiming(claims: Partial<Claims>): AttestationRecord {
  return { ...record, claims: { ...record.claims, ...claims } };
}

/** Signed by one key in the name of another. */
async function signedBy(
  signer: Signer,
  unsigned: AttestationRecord,
  context: SigningContext = AGENT_CONTEXT,
  named: Signer = signer,
): Promise<AttestationRecord> {
  const { dataHash } = unsigned.claims;
  if (dataHash === undefined) throw new Error('a decision has a data hash');
  const { sourceId } = unsigned;
  const text = agentStatementText({ agent: 'triage', dataHash, keyId: named.keyId, sourceId });
  const agentSignature = encodeSignature(await signer.sign(utf8(text), context));
  return { ...unsigned, claims: { ...unsigned.claims, agentSignature } };
}

function signatureOf(one: AttestationRecord, ...linked: readonly AttestationRecord[]): string | undefined {
  return checkAgent(nativeSuite, one, holding(...linked))?.signature;
}

test.run();

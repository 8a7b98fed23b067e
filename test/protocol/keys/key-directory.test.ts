import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nativeSigner, nativeSuite } from '../../../node/keys/native-suite.ts';
import { keyCertificateStatement } from '../../../protocol/keys/certificate.ts';
import { KeyDirectory } from '../../../protocol/keys/key-directory.ts';
import { KeyError, type KeyFault } from '../../../protocol/keys/key-error.ts';
import { type Revocation, revocationStatement } from '../../../protocol/log/revocation.ts';
import { encodeSignature, type SignedStatement, signStatement } from '../../../protocol/statement/statement.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { certifyKey, seedOf } from '../../fixtures/federation-member.ts';
import { TestFederation } from '../../fixtures/federation.ts';

const federation = await TestFederation.create({ signerOf: nativeSigner });
const eu = federation.member('eu');
const us = federation.member('us');
const sealedAt = federation.now;

test('a certified key belongs to its member, and to no other', () => {
  const keys = directory();
  keys.addCertificate(eu.key.signed);
  assert.equal(keys.get(eu.node, eu.key.signer.keyId)?.certificate, eu.key.certificate);
  assert.is(keys.get(us.node, eu.key.signer.keyId), undefined);
  assert.is(keys.of(eu.node).length, 1);
  assert.equal(keys.of(us.node), []);
});

test('of two certificates of a key the one that covers more counts, in whichever order they come', async () => {
  const wide = eu.key.signed;
  const narrow = await certifyKey(eu.node, eu.identity, eu.key.signer, { validFrom: timestampOf(0), seqFrom: 9 });
  for (const order of [
    [wide, narrow.signed],
    [narrow.signed, wide],
  ]) {
    const keys = directory();
    for (const signed of order) keys.addCertificate(signed);
    assert.equal(keys.get(eu.node, eu.key.signer.keyId)?.signed, wide);
  }
});

test('a certificate for another purpose is none of a signing key', async () => {
  const { identity, key } = eu;
  const agent = await signStatement(
    keyCertificateStatement,
    { ...key.certificate, purpose: 'agent' as const },
    identity,
  );
  assert.throws(() => directory().addCertificate(agent), isFault('not-for-signing'));
});

test('of two revocations from one time on all keep the same', async () => {
  const terms = { compromisedSince: timestampOf(sealedAt) };
  const [one, other] = [await revoke(terms), await revoke({ ...terms, issuedAt: timestampOf(sealedAt + 1) })];
  const kept = [
    [one, other],
    [other, one],
  ].map((order) => {
    const keys = directory();
    for (const signed of order) keys.addRevocation(signed);
    return keys.revocation(eu.node, eu.key.signer.keyId)?.signed.statement;
  });
  assert.is(kept[0], kept[1]);
});

test('the earliest revocation counts, in whichever order they come', async () => {
  const early = await revoke({ compromisedSince: timestampOf(sealedAt - 5000) });
  const late = await revoke({ compromisedSince: timestampOf(sealedAt + 5000) });
  for (const order of [
    [early, late],
    [late, early],
  ]) {
    const keys = directory();
    for (const signed of order) keys.addRevocation(signed);
    assert.equal(keys.revocation(eu.node, eu.key.signer.keyId)?.signed, early);
  }
});

test('nobody else may have a rotated key; a compromise told of later counts all the same', async () => {
  const rotated = await revoke({ reason: 'rotated', compromisedSince: null });
  const compromised = await revoke({ compromisedSince: timestampOf(sealedAt) });
  const { keyId } = eu.key.signer;
  const keys = directory();
  keys.addRevocation(rotated);
  assert.is(keys.revocation(eu.node, keyId)?.revocation.reason, 'rotated');
  assert.is(keys.compromisedSince(eu.node, keyId), null);
  for (const order of [
    [rotated, compromised],
    [compromised, rotated],
  ]) {
    const both = directory();
    for (const signed of order) both.addRevocation(signed);
    assert.is(both.compromisedSince(eu.node, keyId), timestampOf(sealedAt));
  }
});

test('a revocation names a time exactly where its key was compromised', async () => {
  for (const terms of [{ reason: 'rotated' }, { compromisedSince: null }] as const) {
    const signed = await revoke(terms);
    assert.throws(() => directory().addRevocation(signed), isFault('revocation-malformed'));
  }
});

test('a statement by any identity key that a roster names for the node is the node’s', async () => {
  const moving = await TestFederation.create({ nodes: ['eu', 'us'], signerOf: nativeSigner });
  const old = moving.member('eu');
  const fresh = nativeSigner(seedOf('a new identity'));
  const members = moving.members.map(({ member }) =>
    member.node === old.node ? { ...member, identityKey: encodeSignature(fresh.publicKey) } : member,
  );
  moving.addRoster({ members });
  const { chain } = moving;
  const keys = new KeyDirectory(nativeSuite, () => chain);
  const again = await certifyKey(old.node, fresh, old.key.signer, { validFrom: timestampOf(0), seqFrom: 7 });
  for (const signed of [again.signed, old.key.signed]) keys.addCertificate(signed);
  const certificates = keys.certificates(old.node, old.key.signer.keyId);
  assert.equal(
    certificates.map(({ signed }) => signed),
    [old.key.signed, again.signed],
  );
  const at = timestampOf(moving.now);
  const terms = { v: 2, type: 'revocation', node: old.node, reason: 'compromised', compromisedSince: at } as const;
  const revocation = { ...terms, keyId: old.key.signer.keyId, issuedAt: at };
  keys.addRevocation(await signStatement(revocationStatement, revocation, fresh));
  assert.is(keys.compromisedSince(old.node, old.key.signer.keyId), at);
  const other = { ...revocation, issuedAt: timestampOf(moving.now + 1) };
  const stranger = await signStatement(revocationStatement, other, nativeSigner(seedOf('a stranger')));
  assert.throws(() => keys.addRevocation(stranger), isFault('revocation-unsigned'));
});

test('certificates and revocations that do not hold are refused, and leave no trace', async () => {
  const terms = { validFrom: timestampOf(0), seqFrom: 1 };
  const stranger = nativeSigner(new Uint8Array(32).fill(7));
  const strangers = await certifyKey(eu.node, stranger, eu.key.signer, terms);
  const other = await certifyKey(eu.node, eu.identity, { ...us.key.signer, keyId: eu.key.signer.keyId }, terms);
  const outside = await TestFederation.create({ nodes: ['za'], seed: 'outside', signerOf: nativeSigner });
  const refused: readonly (readonly [KeyFault, (keys: KeyDirectory) => unknown])[] = [
    ['certificate-unsigned', (keys) => keys.addCertificate(strangers.signed)],
    ['key-id-mismatch', (keys) => keys.addCertificate(other.signed)],
    ['unknown-member', (keys) => keys.addCertificate(outside.member('za').key.signed)],
    ['certificate-malformed', (keys) => keys.addCertificate({ ...eu.key.signed, statement: '{}' })],
    ['revocation-malformed', (keys) => keys.addRevocation(eu.key.signed)],
  ];
  for (const [code, add] of refused) {
    const keys = directory();
    assert.throws(() => add(keys), isFault(code), code);
    assert.equal(keys.of(eu.node), []);
  }
  const keys = directory();
  const forged = await revoke({}, us.identity);
  assert.throws(
    () => keys.addRevocation(forged),
    (error: unknown) => error instanceof KeyError && error.code === 'revocation-unsigned',
  );
  assert.is(keys.revocation(eu.node, eu.key.signer.keyId), undefined);
});

function isFault(code: KeyFault): (error: unknown) => boolean {
  return (error) => error instanceof KeyError && error.code === code;
}

function directory(): KeyDirectory {
  const chain = federation.chain;
  return new KeyDirectory(nativeSuite, () => chain);
}

function revoke(terms: Partial<Revocation>, identity = eu.identity): Promise<SignedStatement> {
  const at = timestampOf(sealedAt);
  const base = { v: 2, type: 'revocation', node: eu.node, keyId: eu.key.signer.keyId, reason: 'compromised' } as const;
  return signStatement(revocationStatement, { ...base, compromisedSince: at, issuedAt: at, ...terms }, identity);
}

test.run();

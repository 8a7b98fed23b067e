import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nativeSuite } from '../../../node/keys/native-suite.ts';
import { CertifiedKeys, MAX_CERTIFICATES } from '../../../protocol/chain/certified-keys.ts';
import { hashParts } from '../../../protocol/hash.ts';
import { type NodeId, nodeId } from '../../../protocol/ids.ts';
import { type KeyCertificate, keyCertificateStatement } from '../../../protocol/keys/certificate.ts';
import { KeyError, type KeyFault } from '../../../protocol/keys/key-error.ts';
import type { Base64url } from '../../../protocol/shapes.ts';
import { encodeSignature, isBase64url, type SignedStatement } from '../../../protocol/statement/statement.ts';
import { PUBLIC_KEY_BYTES, SIGNATURE_BYTES } from '../../../protocol/suite/suite.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { certify, testSigner } from '../../fixtures/member-chain.ts';
import { fc } from '../../fixtures/properties.ts';

const EU = nodeId('eu');
const US = nodeId('us');
const AT = timestampOf(Date.UTC(2026, 0, 1));
const FIRST = testSigner('identity/1');
const SECOND = testSigner('identity/2');
const KEY = testSigner('signing');
const OF_FIRST = encodeSignature(FIRST.publicKey);
const OF_SECOND = encodeSignature(SECOND.publicKey);
const BOTH: readonly Base64url[] = [OF_FIRST, OF_SECOND];

test('a key covers the records of its node from the one on that its certificate names', async () => {
  const keys = new CertifiedKeys(nativeSuite);
  const key = keys.add(await certificate({ seqFrom: 5 }), () => BOTH);
  assert.equal(key?.publicKey, KEY.publicKey);
  assert.is(keys.covering(EU, KEY.keyId, 5, BOTH), key);
  assert.is(keys.covering(EU, KEY.keyId, 4, BOTH), undefined);
  assert.is(keys.covering(US, KEY.keyId, 5, BOTH), undefined);
  assert.is(keys.covering(EU, FIRST.keyId, 5, BOTH), undefined);
});

test('a later certificate never narrows what one before covered, and one for less is not kept', async () => {
  const keys = new CertifiedKeys(nativeSuite);
  const narrow = await certificate({ seqFrom: 9 });
  const wide = await certificate({ seqFrom: 5 });
  assert.ok(keys.add(narrow, () => BOTH));
  assert.ok(keys.add(wide, () => BOTH));
  assert.is(
    keys.add(narrow, () => BOTH),
    null,
  );
  assert.is(
    keys.add(wide, () => BOTH),
    null,
  );
  assert.ok(keys.covering(EU, KEY.keyId, 5, BOTH));
  assert.is(keys.of(EU).length, 1);
  assert.is(keys.of(EU)[0]?.signed.statement, wide.statement);
});

test('what an identity key certified counts only where that identity key does', async () => {
  const keys = new CertifiedKeys(nativeSuite);
  keys.add(await certificate({ seqFrom: 9 }), () => BOTH);
  keys.add(await certificate({ seqFrom: 1 }, SECOND), () => BOTH);
  assert.is(keys.of(EU).length, 2);
  assert.is(keys.covering(EU, KEY.keyId, 5, [OF_FIRST]), undefined);
  assert.ok(keys.covering(EU, KEY.keyId, 9, [OF_FIRST]));
  assert.ok(keys.covering(EU, KEY.keyId, 5, [OF_SECOND]));
  assert.ok(keys.covering(EU, KEY.keyId, 5, BOTH));
  assert.is(keys.covering(EU, KEY.keyId, 100, []), undefined);
});

test('whatever the order of certificates, the same ones are kept, and all that any of them covers is covered', async () => {
  const all: SignedStatement[] = [];
  for (const identity of [FIRST, SECOND]) {
    for (const seqFrom of [3, 1, 7]) {
      for (const validFrom of [AT, timestampOf(0)]) all.push(await certificate({ seqFrom, validFrom }, identity));
    }
  }
  fc.assert(
    fc.property(fc.shuffledSubarray(all, { minLength: all.length }), fc.nat({ max: all.length }), (order, count) => {
      const keys = new CertifiedKeys(nativeSuite);
      let least = Infinity;
      for (const signed of order.slice(0, count)) {
        const key = keys.add(signed, () => BOTH);
        least = Math.min(least, key?.certificate.seqFrom ?? least);
        assert.is(keys.covering(EU, KEY.keyId, 7, BOTH) !== undefined, true);
        assert.is(keys.covering(EU, KEY.keyId, least, BOTH) !== undefined, true);
      }
      for (const signed of order) keys.add(signed, () => BOTH);
      const kept = keys
        .of(EU)
        .map(({ signed }) => signed.statement)
        .toSorted();
      assert.is(kept.length, 2);
      const once = new CertifiedKeys(nativeSuite);
      for (const signed of all) once.add(signed, () => BOTH);
      assert.equal(
        kept,
        once
          .of(EU)
          .map(({ signed }) => signed.statement)
          .toSorted(),
      );
    }),
    { numRuns: 30 },
  );
});

test('a certificate that says less than it must is refused with its fault', async () => {
  const good = await certificate({ seqFrom: 1 });
  await refuses('certificate-unsigned', good, [OF_SECOND]);
  await refuses('unknown-member', good, []);
  await refuses('certificate-unsigned', await certificate({ node: US }, SECOND), [OF_FIRST]);
  await refuses('certificate-unsigned', { ...good, signature: OF_FIRST }, BOTH);
  await refuses('certificate-unsigned', good, [text('A')]);
  await refuses('certificate-malformed', { ...good, statement: `${good.statement} ` }, BOTH);
  await refuses('certificate-malformed', { ...good, statement: 'x'.repeat(10_000) }, BOTH);
  await refuses('certificate-malformed', { ...good, signature: text('A'.repeat(10_000)) }, BOTH);
  await refuses('certificate-malformed', await certificate({ publicKey: text('A') }), BOTH);
  await refuses('key-id-mismatch', await certificate({ keyId: SECOND.keyId }), BOTH);
  const short = hashParts(nativeSuite, new Uint8Array(3));
  await refuses('key-id-mismatch', await certificate({ publicKey: text('AAAA'), keyId: short }), BOTH);
  await refuses('not-for-signing', await certificate({ purpose: 'agent' }), BOTH);
});

test('a node that certifies without end is told to stop, and the others go on', async () => {
  const keys = new CertifiedKeys({ ...nativeSuite, verify: () => true });
  const signature = encodeSignature(new Uint8Array(SIGNATURE_BYTES));
  const addKey = (node: NodeId, number: number) => {
    const publicKey = new Uint8Array(PUBLIC_KEY_BYTES);
    new DataView(publicKey.buffer).setUint32(0, number);
    const keyId = hashParts(nativeSuite, publicKey);
    const purpose = 'signing';
    const terms = { v: 1, type: 'key', node, keyId, publicKey: encodeSignature(publicKey), purpose } as const;
    return keys.add(
      { statement: keyCertificateStatement.write({ ...terms, seqFrom: 2, validFrom: AT }), signature },
      () => BOTH,
    );
  };
  for (let number = 0; number < MAX_CERTIFICATES; number++) addKey(EU, number);
  assert.throws(
    () => addKey(EU, MAX_CERTIFICATES),
    (error: unknown) => error instanceof KeyError && error.code === 'too-many',
  );
  assert.is(addKey(EU, 0), null);
  assert.ok(addKey(US, MAX_CERTIFICATES));
  assert.is(keys.of(EU).length, MAX_CERTIFICATES);
});

test('the identity keys are asked for by the node that the certificate names', async () => {
  const keys = new CertifiedKeys(nativeSuite);
  const asked: string[] = [];
  keys.add(await certificate({ node: US }), (node) => {
    asked.push(node);
    return BOTH;
  });
  assert.equal(asked, ['us']);
  assert.is(keys.of(US).length, 1);
  assert.is(keys.of(EU).length, 0);
});

function certificate(terms: Partial<KeyCertificate>, identity = FIRST): Promise<SignedStatement> {
  return certify(identity, KEY, { node: EU, seqFrom: 1, validFrom: AT, ...terms });
}

function text(letters: string): Base64url {
  if (!isBase64url(letters)) throw new RangeError('not base64url');
  return letters;
}

async function refuses(code: KeyFault, signed: SignedStatement, identityKeys: readonly Base64url[]): Promise<void> {
  const keys = new CertifiedKeys(nativeSuite);
  try {
    keys.add(signed, () => identityKeys);
    assert.unreachable(`taken in place of ${code}`);
  } catch (error) {
    if (!(error instanceof KeyError)) throw error;
    assert.is(error.code, code);
  }
  assert.is(keys.of(EU).length, 0);
}

test.run();

import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nativeSigner, nativeSuite } from '../../../node/keys/native-suite.ts';
import { hashText, type Sha256Hash } from '../../../protocol/hash.ts';
import { nodeId } from '../../../protocol/ids.ts';
import { KeyError } from '../../../protocol/keys/key-error.ts';
import { KnownRevocations, MAX_OPEN_REVOKED_KEYS } from '../../../protocol/keys/known-revocations.ts';
import { MAX_REVOCATIONS_OF_KEY, MAX_REVOKED_KEYS } from '../../../protocol/log/decision-state.ts';
import { type Revocation, revocationStatement } from '../../../protocol/log/revocation.ts';
import { encodeSignature, type SignedStatement, signStatement } from '../../../protocol/statement/statement.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { seedOf } from '../../fixtures/federation-member.ts';

const EU = nodeId('eu');
const HOUR_MS = 3_600_000;
const identity = nativeSigner(seedOf('identity'));
const KEY = nativeSigner(seedOf('signing')).keyId;
const identityKeys = [encodeSignature(identity.publicKey)];
/** More than are kept of one key, the one that reaches furthest back first; the last one only rotates. */
const reaching: SignedStatement[] = [];
for (let hour = 0; hour <= MAX_REVOCATIONS_OF_KEY; hour++) {
  reaching.push(await revoke({ compromisedSince: timestampOf(hour * HOUR_MS) }));
}
const rotated = await revoke({ reason: 'rotated', compromisedSince: null });

test('any number that the ledger names is kept, in whichever order they come and whatever comes after', () => {
  const named = new Set([rotated, ...reaching].map(hashOf));
  for (const order of [
    [rotated, ...reaching],
    [...reaching.toReversed(), rotated],
  ]) {
    const known = new KnownRevocations(nativeSuite, ({ hash }) => named.has(hash));
    for (const signed of order) add(known, signed);
    assert.equal(textsOf(known), [...reaching, rotated].map(textOf));
  }
});

test('one that the ledger names gives way to none, though others reach further back', () => {
  const named = new Set<Sha256Hash>();
  const known = new KnownRevocations(nativeSuite, ({ hash }) => named.has(hash));
  add(known, rotated);
  named.add(hashOf(rotated));
  for (const signed of reaching.toReversed()) {
    try {
      add(known, signed);
    } catch (error) {
      assert.ok(error instanceof KeyError && error.code === 'too-many');
    }
  }
  assert.equal(textsOf(known), [...reaching.slice(0, MAX_REVOCATIONS_OF_KEY), rotated].map(textOf));
  assert.is(known.of(EU, KEY)[0]?.signed, reaching[0]);
});

test('of those that it does not name, all keep the same: the ones that reach furthest back', () => {
  for (const order of [[rotated, ...reaching].toReversed(), [...reaching.toReversed(), rotated]]) {
    const known = new KnownRevocations(nativeSuite, () => false);
    for (const signed of order) {
      try {
        add(known, signed);
      } catch (error) {
        assert.ok(error instanceof KeyError && error.code === 'too-many');
      }
    }
    assert.equal(textsOf(known), reaching.slice(0, MAX_REVOCATIONS_OF_KEY).map(textOf));
  }
});

test('one that is refused for want of room is taken once the ledger names it, and no signature is checked before', () => {
  let checked = 0;
  const suite: typeof nativeSuite = {
    ...nativeSuite,
    verify: (...terms) => {
      checked++;
      return nativeSuite.verify(...terms);
    },
  };
  const named = new Set<Sha256Hash>();
  const known = new KnownRevocations(suite, ({ hash }) => named.has(hash));
  for (const signed of reaching.slice(0, MAX_REVOCATIONS_OF_KEY)) add(known, signed);
  checked = 0;
  assert.throws(() => add(known, rotated), isFull);
  assert.is(checked, 0);
  named.add(hashOf(rotated));
  assert.is(add(known, rotated).dropped, null);
  assert.is(known.of(EU, KEY).length, MAX_REVOCATIONS_OF_KEY + 1);
});

test('a node revokes no more keys than can be revoked, and few that the ledger does not name', () => {
  const named = new Set<Sha256Hash>();
  const known = new KnownRevocations({ ...nativeSuite, verify: () => true }, ({ hash }) => named.has(hash));
  const ofKey = (n: number): SignedStatement => {
    const keyId = hashText(nativeSuite, `key ${n}`);
    return {
      ...rotated,
      statement: revocationStatement.write({ ...revocationStatement.parse(rotated.statement), keyId }),
    };
  };
  for (let n = 0; n < MAX_OPEN_REVOKED_KEYS; n++) add(known, ofKey(n));
  assert.throws(() => add(known, ofKey(MAX_OPEN_REVOKED_KEYS)), isFull);
  assert.is(add(known, ofKey(0)).dropped, null);
  for (let n = 0; n < MAX_REVOKED_KEYS; n++) named.add(hashOf(ofKey(n)));
  for (let n = 0; n < MAX_REVOKED_KEYS; n++) add(known, ofKey(n));
  assert.throws(() => add(known, ofKey(MAX_REVOKED_KEYS)), isFull);
  assert.is(known.ofNode(EU).length, MAX_REVOKED_KEYS);
});

test('one that comes again is not kept twice', () => {
  const known = new KnownRevocations(nativeSuite, () => false);
  assert.is(add(known, rotated).known, add(known, rotated).known);
  assert.is(known.of(EU, KEY).length, 1);
});

function add(known: KnownRevocations, signed: SignedStatement) {
  return known.add(signed, () => identityKeys);
}

function textsOf(known: KnownRevocations): readonly string[] {
  return known.of(EU, KEY).map(({ signed }) => signed.statement);
}

function textOf({ statement }: SignedStatement): string {
  return statement;
}

function hashOf({ statement }: SignedStatement): Sha256Hash {
  return hashText(nativeSuite, statement);
}

function isFull(error: unknown): boolean {
  return error instanceof KeyError && error.code === 'too-many';
}

function revoke(terms: Partial<Revocation>): Promise<SignedStatement> {
  const at = timestampOf(0);
  const base = { v: 2, type: 'revocation', node: EU, keyId: KEY, reason: 'compromised' } as const;
  return signStatement(revocationStatement, { ...base, compromisedSince: at, issuedAt: at, ...terms }, identity);
}

test.run();

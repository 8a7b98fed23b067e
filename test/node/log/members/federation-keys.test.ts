import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { PeerStatementError } from '../../../../node/log/members/peer-statement-error.ts';
import { nativeSigner, nativeSuite } from '../../../../node/keys/native-suite.ts';
import { DECISION_STATE_ROW, decisionStateTable, rosterTextTable } from '../../../../node/log/log-tables.ts';
import { Store } from '../../../../node/store/store.ts';
import { hashText } from '../../../../protocol/hash.ts';
import { nodeId } from '../../../../protocol/ids.ts';
import {
  type DecisionState,
  MAX_REVOCATIONS_OF_KEY,
  type OpenRevocation,
} from '../../../../protocol/log/decision-state.ts';
import { initialState, withRevocation } from '../../../../protocol/log/in-force.ts';
import { nameRevocation } from '../../../../protocol/log/open-names.ts';
import { revocationStatement } from '../../../../protocol/log/revocation.ts';
import { encodeSignature, type SignedStatement } from '../../../../protocol/statement/statement.ts';
import { type Timestamp, timestampOf } from '../../../../protocol/time.ts';
import { certifyKey, seedOf } from '../../../fixtures/federation-member.ts';
import { consensusOf } from '../../../fixtures/federation-topic.ts';
import { openKeys } from '../../../fixtures/federation-keys.ts';
import { TestFederation } from '../../../fixtures/federation.ts';
import { temporaryDirectory } from '../../intake/intake-fixture.ts';

const HOUR_MS = 3_600_000;

test('the certificates of a key by two identity keys are both kept, in whichever order they come', async () => {
  const federation = await fast();
  const { node, member, identity, key } = federation.member('eu');
  const fresh = nativeSigner(seedOf('a new identity'));
  const members = federation.members.map((each) =>
    each.node === node ? { ...member, identityKey: encodeSignature(fresh.publicKey) } : each.member,
  );
  federation.addRoster({ members });
  const terms = { validFrom: timestampOf(0), seqFrom: 1 };
  const [old, later] = [
    await certifyKey(node, identity, key.signer, terms),
    await certifyKey(node, fresh, key.signer, terms),
  ];
  for (const order of [
    [old, later],
    [later, old],
  ]) {
    await using directory = await temporaryDirectory();
    await using store = await Store.open(join(directory.path, 'store'));
    const keys = await openKeys(store, federation.given);
    for (const { signed } of order) assert.ok(await keys.learnCertificate(signed));
    for (const { signed } of order) assert.not.ok(await keys.learnCertificate(signed));
    const reopened = await openKeys(store, federation.given);
    for (const { directory: known } of [keys, reopened]) {
      for (const signer of [identity, fresh]) {
        const by = encodeSignature(signer.publicKey);
        assert.is(known.covering(node, key.signer.keyId, 1, [by])?.identityKey, by);
      }
    }
    assert.is(reopened.digest(node), keys.digest(node));
  }
});

test('a revocation that was decided is served for ever, whatever others of the same key come after it', async () => {
  const federation = await fast();
  await using directory = await temporaryDirectory();
  await using store = await Store.open(join(directory.path, 'store'));
  const { node, key } = federation.member('eu');
  const decided = await federation.revokeKey('eu', { reason: 'rotated', compromisedSince: null });
  const further = await Promise.all(
    Array.from({ length: MAX_REVOCATIONS_OF_KEY + 1 }, (_, hour) => revoked(federation, timestampOf(hour * HOUR_MS))),
  );
  await decide(store, federation, decided);
  const keys = await openKeys(store, federation.given);
  assert.ok(keys.lacksRevocation(node));
  assert.ok(await keys.learnRevocation(decided));
  assert.not.ok(keys.lacksRevocation(node));
  for (const signed of further.toReversed()) assert.ok(await keys.learnRevocation(signed));
  const reopened = await openKeys(store, federation.given);
  for (const { directory: known, statements } of [keys, reopened].map((of) => ({
    directory: of.directory,
    statements: of.statements([node]),
  }))) {
    const texts = statements.revocations.map(({ statement }) => statement);
    assert.ok(texts.includes(decided.statement));
    assert.is(texts.length, MAX_REVOCATIONS_OF_KEY + 1);
    assert.is(known.revocation(node, key.signer.keyId)?.signed.statement, further[0]?.statement);
  }
});

test('one that was refused for want of room is taken once the log has decided it', async () => {
  const federation = await fast();
  await using directory = await temporaryDirectory();
  await using store = await Store.open(join(directory.path, 'store'));
  const keys = await openKeys(store, federation.given);
  const rotated = await federation.revokeKey('eu', { reason: 'rotated', compromisedSince: null });
  for (let hour = 0; hour < MAX_REVOCATIONS_OF_KEY; hour++) {
    await keys.learnRevocation(await revoked(federation, timestampOf(hour * HOUR_MS)));
  }
  try {
    await keys.learnRevocation(rotated);
    assert.unreachable();
  } catch (error) {
    assert.ok(error instanceof PeerStatementError && error.fault === 'too-many');
  }
  await decide(store, federation, rotated);
  const reopened = await openKeys(store, federation.given);
  assert.ok(await reopened.learnRevocation(rotated));
});

test('a store that holds more revocations of a key than there is room for, as names of them fell, opens', async () => {
  const federation = await fast();
  await using directory = await temporaryDirectory();
  await using store = await Store.open(join(directory.path, 'store'));
  const { node } = federation.member('eu');
  const all = await Promise.all(
    Array.from({ length: 4 * MAX_REVOCATIONS_OF_KEY }, (_, hour) => revoked(federation, timestampOf(hour * HOUR_MS))),
  );
  await writeState(
    store,
    federation,
    all.map(nameOf).reduce(nameByUs, initialState(nativeSuite, federation.genesis.statement)),
  );
  const keys = await openKeys(store, federation.given);
  for (const signed of all) assert.ok(await keys.learnRevocation(signed));
  await writeState(store, federation, initialState(nativeSuite, federation.genesis.statement));
  const reopened = await openKeys(store, federation.given);
  assert.is(reopened.statements([node]).revocations.length, MAX_REVOCATIONS_OF_KEY);
});

test('a store whose member was named by another identity key in a roster that is given no more opens', async () => {
  const federation = await fast();
  const { node, member, key } = federation.member('eu');
  const before = federation.given;
  const fresh = nativeSigner(seedOf('a new identity'));
  const identityKey = encodeSignature(fresh.publicKey);
  federation.addRoster({
    members: federation.members.map((each) => (each.node === node ? { ...member, identityKey } : each.member)),
  });
  await using directory = await temporaryDirectory();
  await using store = await Store.open(join(directory.path, 'store'));
  const keys = await openKeys(store, federation.given);
  const { signed } = await certifyKey(node, fresh, key.signer, { validFrom: timestampOf(0), seqFrom: 1 });
  assert.ok(await keys.learnCertificate(signed));
  const reopened = await openKeys(store, before);
  assert.equal(reopened.statements([node]).certificates, []);
  assert.ok((await openKeys(store, federation.given)).statements([node]).certificates.length > 0);
});

function fast(): Promise<TestFederation> {
  return TestFederation.create({ nodes: ['eu', 'us', 'jp'], signerOf: nativeSigner });
}

function revoked(federation: TestFederation, compromisedSince: Timestamp): Promise<SignedStatement> {
  return federation.revokeKey('eu', { compromisedSince });
}

/** The store's log has the revocation in force. */
async function decide(store: Store, federation: TestFederation, signed: SignedStatement): Promise<void> {
  const genesis = initialState(nativeSuite, federation.genesis.statement);
  await writeState(store, federation, withRevocation(genesis, nameOf(signed), 0, consensusOf(federation.now)));
}

/** What names it on the ledger. */
function nameOf({ statement: text }: SignedStatement): OpenRevocation {
  const { node, keyId } = revocationStatement.parse(text);
  return { node, keyId, statement: hashText(nativeSuite, text) };
}

/** A member has named the revocation, which is not in force. */
function nameByUs(state: DecisionState, name: OpenRevocation): DecisionState {
  return { ...state, open: nameRevocation(state.open, nodeId('us'), name) };
}

async function writeState(store: Store, federation: TestFederation, state: DecisionState): Promise<void> {
  await store.write([
    decisionStateTable.put([DECISION_STATE_ROW], state),
    rosterTextTable.put([state.federation], federation.genesis.statement),
  ]);
}

test.run();

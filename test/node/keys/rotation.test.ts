import { readdir, truncate } from 'node:fs/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { fsck } from '../../../node/fsck/fsck.ts';
import { readKeyFile } from '../../../node/keys/key-file.ts';
import { nativeSigner, nativeSuite } from '../../../node/keys/native-suite.ts';
import { NextKey } from '../../../node/keys/next-key.ts';
import { certifySigningKey, keyDirectory, readNodeKeys } from '../../../node/keys/node-keys.ts';
import { readGroup } from '../../../node/records/record-reader.ts';
import { certificateTable } from '../../../node/log/members/federation-keys.ts';
import type { Store } from '../../../node/store/store.ts';
import { hashText, type Sha256Hash } from '../../../protocol/hash.ts';
import { nodeId } from '../../../protocol/ids.ts';
import { decisionText } from '../../../protocol/log/decision.ts';
import { revocationStatement } from '../../../protocol/log/revocation.ts';
import { signStatement } from '../../../protocol/statement/statement.ts';
import { isConsensusTimestamp, timestampOf } from '../../../protocol/time.ts';
import { parseBundle } from '../../../protocol/verdict/parse.ts';
import { TestNetwork } from '../../fixtures/test-network.ts';
import type { TestNode } from '../../fixtures/test-node.ts';
import { until } from '../../fixtures/until.ts';

const EU = nodeId('eu');
/** A clock that is wrong for a moment. In milliseconds. */
const AHEAD_MS = 30_000;
const clock = { aheadMs: 0 };
const network = await TestNetwork.start({
  nodes: ['eu', 'us'],
  ledger: 'local',
  quorum: 1,
  overrides: { now: () => Date.now() + clock.aheadMs },
});
const [eu, us] = [network.node('eu'), network.node('us')];
test.after(() => network[Symbol.asyncDispose]());

/** Attests, seals and waits until both nodes say that the record is verified and witnessed. */
async function provenRecord(): Promise<string> {
  const id = await eu.attest({ input: Math.random(), decision: 'yes' });
  await eu.seal();
  for (const node of [eu, us]) {
    await until(`${node.config.id} to verify`, async () => {
      const { body } = await node.get(`/v1/verify/${id}`);
      return body.verified === true && body.witnessed === true;
    });
  }
  return id;
}

async function fileKey(node: TestNode): Promise<string> {
  return nativeSigner(await readKeyFile(keyDirectory(node.config.home), 'signing')).keyId;
}

async function restarted(): Promise<void> {
  await eu.stop();
  const { report } = await fsck(eu.config.home);
  assert.equal(
    report.findings.filter(({ severity }) => severity !== 'note'),
    [],
  );
  await eu.start();
}

/** What the disk does with the write that keeps a certificate, once. */
function breakCertificateWrite(store: Store, fate: 'refused' | 'kept-unsaid'): () => void {
  const write = store.write.bind(store);
  store.write = async (operations) => {
    const isCertificate = operations.some(({ key }) => key.startsWith(`${certificateTable.name}/`));
    if (!isCertificate || fate === 'kept-unsaid') await write(operations);
    if (isCertificate) throw new Error('the disk refused');
  };
  return () => {
    store.write = write;
  };
}

test('a rotation under load refuses nothing; what either key signed verifies everywhere', async () => {
  const before = await provenRecord();
  const { ownKeys } = eu.context;
  const old = ownKeys.keyId;
  const load = { stop: false, accepted: 0 };
  const callers = Array.from({ length: 8 }, async () => {
    while (!load.stop) {
      await eu.attest({ input: Math.random(), decision: 'yes' });
      load.accepted++;
    }
  });
  await until('some load', () => load.accepted > 20);
  const started = performance.now();
  const { keyId } = await ownKeys.rotate();
  const took = performance.now() - started;
  const atRotation = load.accepted;
  await until('more load', () => load.accepted > atRotation + 20);
  load.stop = true;
  await Promise.all(callers);
  console.log(`rotation: ${Math.round(took)} ms, ${load.accepted} records beside it, refused 0`);
  assert.is.not(keyId, old);
  assert.is(await fileKey(eu), keyId);
  const after = await provenRecord();
  for (const node of [eu, us]) {
    for (const id of [before, after]) assert.is((await node.get(`/v1/verify/${id}`)).body.verified, true);
  }
  const group = await readGroup(eu.context.store, EU, eu.context.intake.recorded);
  assert.is(group?.group.keyId, keyId);
});

test('a decision that claims another time than the ledger gave is refused by a node that read it', async () => {
  const path = `/v1/bundles/${await provenRecord()}`;
  const { body } = await eu.get(path);
  const { decision } = parseBundle(body);
  assert.is((await us.post('/v1/bundles/verify', body)).body.verified, true);
  if (decision === null) return assert.unreachable();
  const value = decisionText.parse(decision.text);
  const [seconds = '0', nanos = '0'] = value.consensusTimestamp.split('.');
  const earlier = `${BigInt(seconds) - 3600n}.${nanos}`;
  if (!isConsensusTimestamp(earlier)) return assert.unreachable();
  const backDated = decisionText.write({ ...value, consensusTimestamp: earlier });
  const ahead = decisionText.write({ ...value, index: 999_999 });
  for (const text of [backDated, ahead]) {
    const { body: verdict } = await us.post('/v1/bundles/verify', { ...body, decision: { ...decision, text } });
    assert.is(verdict.verified, false);
    assert.match(JSON.stringify(verdict.problems), '"code":"known-otherwise"');
  }
});

test('a crash before the key is certified: the file is thrown away and the old key signs', async () => {
  const { keyId } = eu.context.ownKeys;
  await new NextKey(keyDirectory(eu.config.home), null).create();
  await restarted();
  assert.is(eu.context.ownKeys.keyId, keyId);
  assert.not.ok((await readdir(keyDirectory(eu.config.home))).includes('signing.next.key'));
});

test('a crash in the middle of the key file: the same', async () => {
  const { keyId } = eu.context.ownKeys;
  const next = new NextKey(keyDirectory(eu.config.home), null);
  await next.create();
  await truncate(next.path, 40);
  await restarted();
  assert.is(eu.context.ownKeys.keyId, keyId);
  await provenRecord();
});

test('a crash between certificate and file: the next start ends the rotation', async () => {
  const own = await readNodeKeys(eu.config.home);
  const next = await new NextKey(keyDirectory(eu.config.home), null).create();
  const { sealer, keys } = eu.context;
  const at = timestampOf(Date.now());
  const certificate = await certifySigningKey(EU, { ...own, signer: next }, at, sealer.unsealedFrom);
  await keys.learnCertificate(certificate);
  await restarted();
  assert.is(eu.context.ownKeys.keyId, next.keyId);
  assert.is(await fileKey(eu), next.keyId);
  await provenRecord();
});

for (const fate of ['refused', 'kept-unsaid'] as const) {
  test(`a certificate whose write is ${fate}: the old key signs on, and the next rotation succeeds`, async () => {
    const { ownKeys, store } = eu.context;
    const before = ownKeys.keyId;
    const mend = breakCertificateWrite(store, fate);
    await ownKeys.rotate().then(
      () => assert.unreachable(),
      (error: unknown) => assert.match(String(error), /refused/),
    );
    mend();
    assert.is(ownKeys.keyId, before);
    await eu.attest({ input: Math.random(), decision: 'meanwhile' });
    const { keyId } = await ownKeys.rotate();
    assert.is(ownKeys.keyId, keyId);
    assert.is.not(keyId, before);
    assert.is((await Array.fromAsync(certificateTable.under(store, [EU, keyId]))).length, 1);
    await restarted();
    assert.is(eu.context.ownKeys.keyId, keyId);
    await provenRecord();
  });
}

test('a clock that steps back after a rotation makes no signature void', async () => {
  const { ownKeys, keys } = eu.context;
  clock.aheadMs = AHEAD_MS;
  const { validFrom, keyId } = await ownKeys.rotate();
  clock.aheadMs = 0;
  await provenRecord();
  const group = await readGroup(eu.context.store, EU, eu.context.intake.recorded);
  assert.is(group?.group.keyId, keyId);
  assert.ok(Date.now() < Date.parse(validFrom));
  assert.is(keys.directory.get(EU, keyId)?.certificate.validFrom, validFrom);
});

/** Whether the log of the other node has the revocation, by its text. */
function isInForce(keyId: Sha256Hash, text: string): boolean {
  const hash = hashText(nativeSuite, text);
  return us.context.federationLog.state.revoked[EU]?.[keyId]?.some(({ statement }) => statement === hash) === true;
}

test('the key in use is replaced before it is revoked, and peers and ledger are told', async () => {
  const { ownKeys } = eu.context;
  const old = ownKeys.keyId;
  const { replacedBy, revocation } = await ownKeys.revoke(old, timestampOf(Date.now()), 'drill');
  assert.is(ownKeys.keyId, replacedBy);
  await until('the revocation at the peer', () => us.context.keys.directory.revocation(EU, old) !== undefined);
  const statement = us.context.keys.directory.revocation(EU, old)?.signed.statement ?? '';
  await until('the revocation in force', () => isInForce(old, statement));
  assert.is(revocation.keyId, old);
  const later = await ownKeys.revoke(old, timestampOf(Date.now()), 'again');
  assert.equal(later, { revocation, replacedBy: null });
  assert.is(revocation.reason, 'compromised');
  const earlier = timestampOf(Date.parse(revocation.compromisedSince ?? '') - 1000);
  assert.is((await ownKeys.revoke(old, earlier, 'it was before')).revocation.compromisedSince, earlier);
  await until('the earlier one at the peer', () => {
    return us.context.keys.directory.revocation(EU, old)?.revocation.compromisedSince === earlier;
  });
  await provenRecord();
  await restarted();
  assert.is(eu.context.ownKeys.keyId, replacedBy);
});

test('a key in use that is rotated is replaced, revoked and on the ledger, and all that it signed stands', async () => {
  const { ownKeys } = eu.context;
  const id = await provenRecord();
  const old = ownKeys.keyId;
  const { replacedBy, revocation } = await ownKeys.revoke(old, null, 'a new key every year');
  assert.equal([revocation.reason, revocation.compromisedSince], ['rotated', null]);
  assert.is(ownKeys.keyId, replacedBy);
  const revoked = () => us.context.keys.directory.revocation(EU, old);
  await until('the revocation at the peer', () => revoked() !== undefined);
  const text = revoked()?.signed.statement ?? '';
  assert.not.match(text, 'every year');
  await until('the revocation in force', () => isInForce(old, text));
  for (const node of [eu, us]) assert.is((await node.get(`/v1/verify/${id}`)).body.verified, true);
  assert.equal(await ownKeys.revoke(old, null, 'again'), { revocation, replacedBy: null });
  await provenRecord();
  await restarted();
});

test('records that wait while the key is replaced are sealed by the next alone, so that the old one takes none of them along', async () => {
  const { ownKeys } = eu.context;
  const old = ownKeys.keyId;
  const waiting = await eu.attest({ input: Math.random(), decision: 'yes' });
  const since = timestampOf(Date.now());
  const { keyId } = await ownKeys.rotate();
  const later = await eu.attest({ input: Math.random(), decision: 'yes' });
  await eu.seal();
  await ownKeys.revoke(old, since, 'stolen before any of it was on the ledger');
  await until('the revocation in force', () => {
    const text = us.context.keys.directory.revocation(EU, old)?.signed.statement;
    return text !== undefined && isInForce(old, text);
  });
  for (const node of [eu, us]) {
    for (const id of [waiting, later]) {
      await until(
        `${node.config.id} to verify`,
        async () => (await node.get(`/v1/verify/${id}`)).body.verified === true,
      );
    }
  }
  const last = eu.context.intake.recorded;
  for (const seq of [last - 1, last]) {
    const [own, held] = await Promise.all([eu, us].map(({ context }) => readGroup(context.store, EU, seq)));
    assert.is(own?.group.keyId, keyId);
    assert.equal(held, own);
  }
  await restarted();
});

test('a key that the holder of the identity key revoked elsewhere signs nothing more, and is replaced', async () => {
  const { ownKeys } = eu.context;
  const { identity } = await readNodeKeys(eu.config.home);
  const at = timestampOf(Date.now());
  const terms = { v: 2, type: 'revocation', node: EU, keyId: ownKeys.keyId, reason: 'compromised' } as const;
  const signed = await signStatement(revocationStatement, { ...terms, compromisedSince: at, issuedAt: at }, identity);
  await us.context.keys.learnRevocation(signed);
  await us.context.federation.announceKey('revocation', signed);
  await until('another key', () => ownKeys.keyId !== terms.keyId);
  await provenRecord();
});

test('a key that was revoked while its node was down is replaced before anything is signed', async () => {
  const old = eu.context.ownKeys.keyId;
  const { identity } = await readNodeKeys(eu.config.home);
  await eu.stop();
  const at = timestampOf(Date.now());
  const terms = { v: 2, type: 'revocation', node: EU, keyId: old, reason: 'compromised' } as const;
  const signed = await signStatement(revocationStatement, { ...terms, compromisedSince: at, issuedAt: at }, identity);
  await us.context.keys.learnRevocation(signed);
  await eu.start();
  await until('another key', () => eu.context.ownKeys.keyId !== old);
  await provenRecord();
});

test('no key of the node, and no time to come, can be revoked', async () => {
  const { ownKeys } = eu.context;
  const stray = us.context.ownKeys.keyId;
  const later = timestampOf(Date.now() + 60_000);
  for (const [keyId, since] of [
    [stray, timestampOf(0)],
    [ownKeys.keyId, later],
  ] as const) {
    await ownKeys.revoke(keyId, since, 'no').then(
      () => assert.unreachable(),
      (error: unknown) => assert.match(String(error), /OwnKeyError/),
    );
  }
});

test.run();

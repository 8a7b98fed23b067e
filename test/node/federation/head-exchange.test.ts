import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { HeadExchange, MAX_UNFOUNDED } from '../../../node/federation/head-exchange.ts';
import { PeerFaults } from '../../../node/log/peer-faults.ts';
import { TransportError } from '../../../node/transport/errors.ts';
import { PageClient } from '../../../node/federation/page-client.ts';
import { encodeItem, readStatus, status } from '../../../node/federation/page-forms.ts';
import { PeerStatementError } from '../../../node/log/members/peer-statement-error.ts';
import { nativeSigner, nativeSuite } from '../../../node/keys/native-suite.ts';
import { hashText } from '../../../protocol/hash.ts';
import { nodeId } from '../../../protocol/ids.ts';
import { envelopeStatement } from '../../../protocol/chain/envelope.ts';
import { MAX_OPEN_REVOKED_KEYS } from '../../../protocol/keys/known-revocations.ts';
import { type Revocation, revocationStatement } from '../../../protocol/log/revocation.ts';
import { signStatement } from '../../../protocol/statement/statement.ts';
import { openKeys } from '../../fixtures/federation-keys.ts';
import { certifyKey } from '../../fixtures/federation-member.ts';
import { MemberNetwork } from './member-network.ts';
import { type MemberFixture, silent } from './member-fixture.ts';
import { until } from '../../fixtures/until.ts';

const NODES = ['eu', 'us', 'jp'];

test('after a partition, bodies converge though no gossip comes back', async () => {
  await using network = await MemberNetwork.create(NODES);
  await network.start(...NODES);
  network.wire.cut('jp');
  for (const node of ['eu', 'us', 'jp']) for (let i = 0; i < 3; i++) await network.seal(node);
  await network.holds('eu', 'us', 3);
  assert.is(network.memberFixture('jp').chains.head(network.id('eu')).batch, 0);
  network.wire.heal('jp');
  for (const name of NODES) for (const node of NODES) await network.holds(name, node, 3);
});

test('certificates, and revocations of known keys, made behind a partition converge', async () => {
  await using network = await MemberNetwork.create(NODES);
  await network.start(...NODES);
  const us = network.memberFixture('us');
  const { directory } = network.memberFixture('jp').keys;
  network.wire.cut('jp');
  await network.federation.rotateKey('eu');
  const { keyId } = network.federation.member('eu').key.signer;
  for (const certificate of network.federation.certificates) await us.keys.learnCertificate(certificate);
  network.wire.heal('jp');
  await until('the certificate', () => directory.get(network.id('eu'), keyId) !== undefined);
  network.wire.cut('jp');
  await us.keys.learnRevocation(await network.federation.revokeKey('eu'));
  network.wire.heal('jp');
  await until('the revocation', () => directory.revocation(network.id('eu'), keyId) !== undefined);
});

test('what peers compare of keys does not grow with their number, and only whose keys differ are pulled', async () => {
  await using network = await MemberNetwork.create(NODES);
  await network.start(...NODES);
  const us = network.memberFixture('us');
  const { directory } = network.memberFixture('jp').keys;
  await until('all to have met', () => network.wire.others('jp').length === 2);
  network.wire.cut('jp');
  for (let i = 0; i < 20; i++) await network.federation.rotateKey('eu');
  for (const certificate of network.federation.certificates) await us.keys.learnCertificate(certificate);
  assert.is(us.keys.digests().length, NODES.length);
  network.wire.heal('jp');
  await until('the certificates', () => directory.of(network.id('eu')).length === 21);
  assert.is(us.keys.digest(network.id('eu')), network.memberFixture('jp').keys.digest(network.id('eu')));
  const pulled = network.wire.pages.flatMap(({ request }) => (request.want === 'keys' ? [request.node] : []));
  assert.equal([...new Set(pulled)], ['eu']);
});

test('of two certificates for one key every member keeps the one that covers more, in memory and on the disk', async () => {
  await using network = await MemberNetwork.create(NODES);
  const us = await network.open('us', { certified: false });
  const { node, identity, key } = network.federation.member('eu');
  const late = await certifyKey(node, identity, key.signer, { validFrom: network.federation.tick(), seqFrom: 2 });
  assert.ok(await us.keys.learnCertificate(late.signed));
  assert.ok(await us.keys.learnCertificate(key.signed));
  assert.not.ok(await us.keys.learnCertificate(late.signed));
  assert.equal(us.keys.directory.get(node, key.signer.keyId)?.signed, key.signed);
  const reopened = await openKeys(us.store, network.federation.given);
  assert.equal(reopened.directory.get(node, key.signer.keyId)?.signed, key.signed);
});

test('of an answer whose statements do not hold, few signatures are checked; one among them hides no other', async () => {
  await using network = await MemberNetwork.create(NODES);
  await network.start(...NODES);
  const us = network.memberFixture('us');
  const jp = network.id('jp');
  const forgedBy = () =>
    us.federation.faults.all().find(({ peer, fault }) => peer === jp && fault === 'forged')?.count ?? 0;
  await until('all to have met', () => network.wire.others('us').length === 2);
  network.wire.cut('us');
  const [certificate] = network.federation.certificates;
  if (certificate === undefined) throw new Error('no certificate');
  const { node, identity, key } = network.federation.member('eu');
  const other = nativeSigner(new Uint8Array(32).fill(7));
  const terms = { validFrom: network.federation.tick(), seqFrom: 1 };
  const { signed } = await certifyKey(node, other, key.signer, terms);
  const unsigned = encodeItem({ kind: 'certificate', signed });
  const fresh = encodeItem({ kind: 'certificate', signed: (await certifyKey(node, identity, other, terms)).signed });
  network.wire.distortions.set('jp', async function* (_frames, request) {
    if (request.want !== 'keys') return;
    yield* [unsigned, fresh];
    for (let i = 0; i < 500; i++) yield unsigned;
  });
  // What jp says of its keys differs from what is known here.
  const unseen = nativeSigner(new Uint8Array(32).fill(8));
  await network.memberFixture('jp').keys.learnCertificate((await certifyKey(node, identity, unseen, terms)).signed);
  network.wire.heal('us', 'jp');
  await until('the one that holds', () => us.keys.directory.get(node, other.keyId) !== undefined);
  const pulls = () => network.wire.pages.filter(({ from, request }) => from === 'us' && request.want === 'keys').length;
  await until('two answers', () => pulls() >= 2);
  assert.ok(forgedBy() <= pulls() * MAX_UNFOUNDED, `${forgedBy()} signatures`);
});

test('a pull of keys that fails keeps nothing else of a peer from being exchanged, and is made again soon', async () => {
  await using network = await MemberNetwork.create(NODES);
  const us = await network.open('us', { certified: false });
  const jp = await network.open('jp');
  await jp.hold(await network.batch('eu'));
  await jp.federation.start();
  const faults = new PeerFaults(Date.now);
  const leads: string[] = [];
  let exchanged = 0;
  const transport = network.wire.transport('us', NODES, () => 'ignore');
  await using exchange = new HeadExchange({
    ...us,
    faults,
    transport,
    pages: new PageClient(transport),
    random: () => 0,
    log: silent,
    onLead: (node, _peer, batch) => leads.push(`${node} ${batch}`),
    onRival: async () => {},
    onProof: async () => {},
    onExchanged: () => exchanged++,
  });
  let isBroken = true;
  let failed = 0;
  network.wire.distortions.set('jp', async function* (frames, request) {
    if (isBroken && request.want === 'keys' && request.node === 'us') {
      failed++;
      throw new TransportError('failed', 'the answer broke off');
    }
    yield* frames;
  });
  await transport.start();
  // The one question: nothing else makes this member ask again.
  exchange.exchange(network.id('jp'));
  const certified = (node: string) => us.keys.directory.of(network.id(node)).length > 0;
  await until('the others', () => certified('eu') && certified('jp') && leads.includes('eu 1'));
  await until('another attempt', () => failed >= 2);
  assert.not.ok(certified('us'));
  assert.is(exchanged, 0);
  isBroken = false;
  await until('the keys whose pull failed', () => certified('us') && exchanged === 1);
});

test('statements that there is no room for are not pulled again, until either side knows another', async () => {
  await using network = await MemberNetwork.create(NODES);
  const [us, jp] = [await network.open('us'), await network.open('jp')];
  const eu = network.id('eu');
  // A member gives two of the others as many revocations of keys that it made up as either keeps, each its own.
  await revokeMadeUp(network, us, MAX_OPEN_REVOKED_KEYS);
  await revokeMadeUp(network, jp, MAX_OPEN_REVOKED_KEYS);
  await jp.federation.start();
  let exchanged = 0;
  const transport = network.wire.transport('us', NODES, () => 'ignore');
  await using exchange = new HeadExchange({
    ...us,
    faults: new PeerFaults(Date.now),
    transport,
    pages: new PageClient(transport),
    random: () => 0,
    log: silent,
    onLead: () => {},
    onRival: async () => {},
    onProof: async () => {},
    onExchanged: () => exchanged++,
  });
  await transport.start();
  const asked = () => {
    return network.wire.pages.filter(({ from, request }) => from === 'us' && request.want === 'keys').length;
  };
  const exchangeOnce = async (): Promise<number> => {
    const before = exchanged;
    exchange.exchange(network.id('jp'));
    await until('an exchange', () => exchanged > before);
    return asked();
  };
  // One forged statement among them changes nothing.
  const [forged] = network.federation.certificates;
  if (forged === undefined) return assert.unreachable();
  network.wire.distortions.set('jp', async function* (frames, request) {
    if (request.want === 'keys') yield encodeItem({ kind: 'certificate', signed: { ...forged, statement: '{}' } });
    yield* frames;
  });
  assert.equal([await exchangeOnce(), await exchangeOnce()], [1, 1]);
  network.wire.distortions.delete('jp');
  assert.is.not(us.keys.digest(eu), jp.keys.digest(eu));
  await network.federation.rotateKey('eu');
  for (const certificate of network.federation.certificates) await jp.keys.learnCertificate(certificate);
  assert.equal([await exchangeOnce(), await exchangeOnce()], [2, 2]);
  assert.is(us.keys.directory.of(eu).length, 2, 'what there is room for came');
});

test('a status that names a node twice is refused', () => {
  const head = { node: nodeId('eu'), batch: 1, envelope: hashText(nativeSuite, 'an envelope') };
  const key = { node: nodeId('eu'), hash: head.envelope };
  const once = { heads: [head], keys: [key], equivocations: [] };
  assert.equal(readStatus(status.encode(once)), once);
  for (const twice of [
    { ...once, heads: [head, { ...head, batch: 2 }] },
    { ...once, keys: [key, key] },
  ]) {
    assert.throws(
      () => readStatus(status.encode(twice)),
      (error: unknown) => error instanceof PeerStatementError,
    );
  }
});

test('two halves that were told two stories find out when they meet', async () => {
  await using network = await MemberNetwork.create(['eu', 'us', 'jp', 'ca']);
  await network.start('us', 'jp', 'ca');
  network.wire.cut('us', 'jp');
  network.wire.cut('us', 'ca');
  const batch = await network.batch('eu');
  await network.memberFixture('us').hold(batch);
  const second = { ...batch.envelope, sealedAt: network.federation.tick() };
  const { signer } = network.federation.member('eu').key;
  const signed = await signStatement(envelopeStatement, second, signer);
  await network.memberFixture('jp').hold(Object.assign(Object.create(batch), { envelope: second, signed }));
  network.wire.heal('us', 'jp');
  for (const name of ['us', 'jp', 'ca']) {
    await until(`${name} to know`, () => network.memberFixture(name).equivocations.accuses(network.id('eu')));
  }
});

test('a fork below the head is found when the longer half is pulled', async () => {
  await using network = await MemberNetwork.create(NODES);
  await network.start('us', 'jp');
  network.wire.cut('us');
  const first = await network.batch('eu');
  const other = { ...first.envelope, sealedAt: network.federation.tick() };
  const { signer } = network.federation.member('eu').key;
  const signed = await signStatement(envelopeStatement, other, signer);
  await network.memberFixture('us').hold(Object.assign(Object.create(first), { envelope: other, signed }));
  await network.memberFixture('jp').hold(first);
  await network.memberFixture('jp').hold(await network.batch('eu'));
  network.wire.heal('us');
  await until('us to know', () => network.memberFixture('us').equivocations.accuses(network.id('eu')));
  assert.is(network.memberFixture('us').chains.head(network.id('eu')).batch, 1);
});

test('who was away when an equivocation was found learns of it', async () => {
  await using network = await MemberNetwork.create(NODES);
  await network.start('eu', 'us');
  const batch = await network.seal('eu');
  await network.holds('us', 'eu', 1);
  const { signer } = network.federation.member('eu').key;
  const second = await signStatement(
    envelopeStatement,
    { ...batch.envelope, sealedAt: network.federation.tick() },
    signer,
  );
  await network.memberFixture('us').hear({ type: 'envelope', signed: second }, network.id('eu'));
  await network.stop('eu');
  await network.start('jp');
  await network.holds('jp', 'eu', 1);
  await until('jp to know', () => network.memberFixture('jp').equivocations.proves(network.id('eu'), 1));
});

test('a peer that claims heads which it cannot show changes nothing', async () => {
  await using network = await MemberNetwork.create(NODES);
  await network.start('us', 'jp');
  network.wire.cut('us');
  const batch = await network.batch('eu');
  await network.memberFixture('us').hold(batch);
  // A head in memory alone: the store behind it has no such envelope.
  network
    .memberFixture('jp')
    .chains.advance({ ...batch, signed: { ...batch.signed, statement: `${batch.signed.statement} ` } });
  network.wire.heal('us');
  await until('the question', () =>
    network.wire.pages.some(({ from, request }) => from === 'us' && request.want === 'envelope'),
  );
  assert.equal(network.memberFixture('us').equivocations.all(), []);
});

test.run();

/** Has a member learn revocations by `eu` of so many keys that nobody has. */
async function revokeMadeUp(
  { federation }: MemberNetwork,
  { keys, node }: MemberFixture,
  count: number,
): Promise<void> {
  const { node: of, identity } = federation.member('eu');
  const issuedAt = federation.tick();
  for (let i = 0; i < count; i++) {
    const revocation: Revocation = {
      v: 2,
      type: 'revocation',
      node: of,
      keyId: hashText(nativeSuite, `${node} ${i}`),
      reason: 'rotated',
      compromisedSince: null,
      issuedAt,
    };
    await keys.learnRevocation(await signStatement(revocationStatement, revocation, identity));
  }
}

import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { decodeItem, encodeItem } from '../../../node/federation/page-forms.ts';
import { decodeUtf8 } from '../../../protocol/bytes.ts';
import { cosignatureStatement } from '../../../protocol/statement/cosignature.ts';
import { envelopeStatement } from '../../../protocol/chain/envelope.ts';
import { signStatement } from '../../../protocol/statement/statement.ts';
import { MemberNetwork } from './member-network.ts';
import { storeBatch } from './member-rooms.ts';
import { anotherKind } from './rebuilding.ts';
import { until } from '../../fixtures/until.ts';

const NODES = ['eu', 'us', 'jp'];

test('a batch is cosigned by every other member, who tell each other, and never by its own node', async () => {
  await using network = await MemberNetwork.create(NODES);
  await network.start(...NODES);
  const batch = await network.seal('eu');
  for (const name of NODES) for (const witness of ['us', 'jp']) await network.cosigned(name, 'eu', witness, 1);
  const eu = network.rooms('eu');
  await eu.federation.witnessBacklog();
  const cosignatures = await eu.cosignatures.of(network.id('eu'), 1);
  const parsed = cosignatures.map(({ statement }) => cosignatureStatement.parse(statement));
  assert.equal(
    parsed.map(({ witness }) => witness),
    ['jp', 'us'],
  );
  assert.ok(parsed.every(({ envelope }) => envelope === batch.hash));
});

test('an announced envelope alone is not cosigned: only a body that was checked is', async () => {
  await using network = await MemberNetwork.create(NODES);
  await network.start('us', 'jp');
  const batch = await network.batch('eu');
  // `jp` holds the batch and serves it with one record changed.
  await network.rooms('jp').hold(batch);
  network.wire.distortions.set('jp', async function* (frames) {
    for await (const frame of frames) {
      const item = decodeItem(frame);
      yield item.kind === 'records'
        ? encodeItem({ ...item, records: item.records.map(anotherKind) })
        : frame;
    }
  });
  const us = network.rooms('us');
  assert.is(await us.hear({ type: 'envelope', signed: batch.signed }, network.id('jp')), 'accept');
  await until('the page', () =>
    network.wire.pages.some(({ from, request }) => from === 'us' && request.want === 'chain'),
  );
  await until('the end of it', () => us.federation.catchingUp.length === 0);
  assert.equal(await us.cosignatures.of(network.id('eu'), 1), []);
  assert.is(us.chains.head(network.id('eu')).batch, 0);
});

test('a batch stored by a run that ended before it cosigned is cosigned at the next start', async () => {
  await using network = await MemberNetwork.create(NODES);
  const us = await network.open('us');
  for (let i = 0; i < 3; i++) await storeBatch(us.store, await network.batch('eu'));
  await network.stop('us');
  await network.start('us');
  assert.is(network.rooms('us').cosignatures.watermark(network.id('eu'), network.id('us')), 3);
});

test('a cosignature that could not be stored is made once it can be, with no other batch to remind of it', async () => {
  await using network = await MemberNetwork.create(NODES);
  await network.start('eu', 'us');
  const { store, cosignatures } = network.rooms('us');
  const write = store.write.bind(store);
  let failures = 0;
  store.write = async (operations) => {
    if (!operations.some(({ key }) => key.startsWith('cosignature/'))) return write(operations);
    failures++;
    throw new Error('the disk is full');
  };
  await network.seal('eu');
  await network.holds('us', 'eu', 1);
  await until('the failure', () => failures > 0);
  assert.is(cosignatures.watermark(network.id('eu'), network.id('us')), 0);
  store.write = write;
  await network.cosigned('us', 'eu', 'us', 1);
});

test('many calls at once make one cosignature a batch, and tell of the last alone: peers pull the others', async () => {
  await using network = await MemberNetwork.create(NODES);
  await network.start('us', 'jp');
  const us = network.rooms('us');
  for (let i = 0; i < 5; i++) await us.hold(await network.batch('eu'));
  await Promise.all(Array.from({ length: 6 }, () => us.federation.witnessBacklog()));
  await network.cosigned('jp', 'eu', 'us', 5);
  const gossiped = network.wire.heard.filter(({ topic, from }) => topic === 'cosign' && from === 'us');
  assert.is(gossiped.length, 1);
  const pulled = network.wire.pages.filter(({ from, request }) => from === 'jp' && request.want === 'cosignatures');
  assert.equal(
    pulled.map(({ to, request }) => [to, request.want === 'cosignatures' && request.of]),
    [['us', [{ node: network.id('eu'), witness: network.id('us'), from: 1 }]]],
  );
});

test('nothing is cosigned before the end of the own chain is known', async () => {
  await using network = await MemberNetwork.create(NODES);
  await network.start('eu');
  const us = await network.open('us');
  await us.federation.start();
  await network.seal('eu');
  await network.holds('us', 'eu', 1);
  await until('the catching up to end', () => us.federation.catchingUp.length === 0);
  assert.equal(await us.cosignatures.of(network.id('eu'), 1), []);
  await us.federation.witnessBacklog();
  await network.cosigned('eu', 'eu', 'us', 1);
});

test('a witness that lost its store cosigns no rival of what peers show that it cosigned', async () => {
  await using network = await MemberNetwork.create(NODES);
  const [first, second] = [await network.batch('eu'), await network.batch('eu', { witnesses: ['us'] })];
  const { signer } = network.federation.member('eu').key;
  const envelope = { ...second.envelope, sealedAt: network.federation.tick() };
  const rival = { envelope, signed: await signStatement(envelopeStatement, envelope, signer) };
  const own = network.federation.member('us').key.signer;
  const signedBatches: number[] = [];
  const sign: typeof own.sign = (message, context) => {
    signedBatches.push(cosignatureStatement.parse(decodeUtf8(message)).batch);
    return own.sign(message, context);
  };
  const us = await network.open('us', { signer: () => ({ ...own, sign }) });
  await us.hold(first);
  await us.hold(Object.assign(Object.create(second), rival));
  // The second stands apart: what was cosigned before it is not here.
  for (const cosignature of second.cosignatures) await us.cosignatures.learn(cosignature);
  await us.federation.start();
  await us.federation.witnessBacklog();
  assert.equal(signedBatches, [1]);
  assert.is(us.cosignatures.watermark(network.id('eu'), network.id('us')), 2);
});

test('nothing is cosigned before this node’s own key is certified', async () => {
  await using network = await MemberNetwork.create(NODES, { certified: false });
  await network.open('us');
  const us = network.rooms('us');
  const [usCertificate, euCertificate] = ['us', 'eu'].map((name) => network.federation.member(name).key.signed);
  if (usCertificate === undefined || euCertificate === undefined) throw new Error('no certificates');
  await us.keys.learnCertificate(euCertificate);
  await us.hold(await network.batch('eu'));
  await us.federation.witnessBacklog();
  assert.is(us.cosignatures.watermark(network.id('eu'), network.id('us')), 0);
  await us.keys.learnCertificate(usCertificate);
  await us.federation.witnessBacklog();
  assert.is(us.cosignatures.watermark(network.id('eu'), network.id('us')), 1);
});

test.run();

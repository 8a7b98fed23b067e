import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { INITIAL_HEAD } from '../../../node/anchoring/topic/topic-links.ts';
import { equivocationTable, MAX_PROOFS } from '../../../node/federation/equivocations.ts';
import type { GossipMessage } from '../../../node/federation/gossip-forms.ts';
import type { TopicPoint } from '../../../node/anchoring/ledger/topic-point.ts';
import type { NodeId } from '../../../protocol/ids.ts';
import { utf8 } from '../../../protocol/bytes.ts';
import { type Envelope, envelopeStatement } from '../../../protocol/chain/envelope.ts';
import { type SignedStatement, signStatement } from '../../../protocol/statement/statement.ts';
import type { TestBatch } from '../../fixtures/federation-batch.ts';
import { certifyKey } from '../../fixtures/federation-member.ts';
import { nativeSigner } from '../../../node/keys/native-suite.ts';
import { MemberNetwork } from './member-network.ts';
import { until } from '../../fixtures/until.ts';

const NODES = ['eu', 'us', 'jp'];

/** Another envelope for the batch, well signed by its node. */
function rivalOf(network: MemberNetwork, batch: TestBatch, change: Partial<Envelope> = {}): Promise<SignedStatement> {
  const sealedAt = network.federation.tick();
  const rival = { ...batch.envelope, sealedAt, ...change };
  return signStatement(envelopeStatement, rival, network.federation.member(batch.envelope.node).key.signer);
}

function swapped(a: SignedStatement, b: SignedStatement): SignedStatement {
  return { statement: a.statement, signature: b.signature };
}

test('each kind of message is accepted where it holds, and again when it comes twice', async () => {
  await using network = await MemberNetwork.create(NODES);
  await network.start('us');
  const us = network.memberFixture('us');
  const batch = await network.batch('eu');
  const second = await rivalOf(network, batch);
  await network.federation.rotateKey('eu');
  const revocation = await network.federation.revokeKey('eu');
  const certificate = network.federation.certificates.at(-1);
  if (certificate === undefined) throw new Error('nothing to gossip');
  const messages: GossipMessage[] = [
    { type: 'envelope', signed: batch.signed },
    { type: 'certificate', signed: certificate },
    { type: 'revocation', signed: revocation },
    { type: 'equivocation', proof: { first: batch.signed, second } },
  ];
  for (const message of [...messages, ...messages]) {
    assert.is(await us.hear(message, network.id('eu')), 'accept', message.type);
  }
  assert.equal(us.equivocations.all(), [{ node: 'eu', batch: 1, stands: true }]);
});

test('what no honest member would pass on is rejected', async () => {
  await using network = await MemberNetwork.create(NODES);
  await network.start('us');
  const us = network.memberFixture('us');
  const [eu, jp] = [network.id('eu'), network.id('jp')];
  const batch = await network.batch('eu');
  const group = batch.groups[0]?.signed;
  if (group === undefined) throw new Error('no group');
  const { identity } = network.federation.member('jp');
  const stranger = nativeSigner(new Uint8Array(32).fill(7));
  const terms = { validFrom: network.federation.tick(), seqFrom: 1 };
  const stolen = await certifyKey(eu, identity, stranger, terms);
  const hostile: Record<string, GossipMessage> = {
    'an envelope under another signature': { type: 'envelope', signed: swapped(batch.signed, group) },
    'an envelope that is a group': { type: 'envelope', signed: group },
    'an envelope in another spelling': {
      type: 'envelope',
      signed: { ...batch.signed, statement: ` ${batch.signed.statement}` },
    },
    'a certificate by another member': { type: 'certificate', signed: stolen.signed },
    'a proof of two equal envelopes': { type: 'equivocation', proof: { first: batch.signed, second: batch.signed } },
    'a proof with a forged half': {
      type: 'equivocation',
      proof: { first: batch.signed, second: swapped(await rivalOf(network, batch), group) },
    },
    'a proof of two batches': {
      type: 'equivocation',
      proof: { first: batch.signed, second: (await network.batch('eu')).signed },
    },
  };
  for (const [name, message] of Object.entries(hostile)) assert.is(await us.hear(message, jp), 'reject', name);
  assert.is(await us.federation.receive(utf8('{"type":"envelope"}'), jp), 'reject');
  assert.is(await us.federation.receive(utf8('not JSON'), jp), 'reject');
  assert.is(await us.federation.receive(Uint8Array.of(0xff, 0xfe), jp), 'reject');
  assert.equal(us.equivocations.all(), []);
});

test('what a certificate or roster that is still on its way may cure is ignored, not rejected', async () => {
  await using network = await MemberNetwork.create(NODES);
  await network.start('us');
  await network.federation.rotateKey('eu');
  const { signed } = await network.batch('eu');
  assert.is(await network.memberFixture('us').hear({ type: 'envelope', signed }, network.id('eu')), 'ignore');
});

test('a store that refuses a write blames nobody', async () => {
  await using network = await MemberNetwork.create(NODES);
  await network.start('us');
  const us = network.memberFixture('us');
  const batch = await network.batch('eu');
  const proof = { first: batch.signed, second: await rivalOf(network, batch) };
  us.store.write = () => Promise.reject(new Error('the disk is full'));
  assert.is(await us.hear({ type: 'equivocation', proof }, network.id('jp')), 'ignore');
});

test('an envelope under a key that nobody knows yet is cured by asking its author', async () => {
  await using network = await MemberNetwork.create(NODES);
  await network.start('us', 'eu');
  await network.federation.rotateKey('eu');
  const certificate = network.federation.certificates.at(-1);
  if (certificate) await network.memberFixture('eu').keys.learnCertificate(certificate);
  await network.seal('eu');
  await network.holds('us', 'eu', 1);
  assert.is(network.wire.heard[0]?.verdict, 'ignore');
});

test('two announcements for one batch are an equivocation', async () => {
  await using network = await MemberNetwork.create(NODES);
  await network.start('us', 'jp');
  const batch = await network.batch('eu');
  const us = network.memberFixture('us');
  await us.hear({ type: 'envelope', signed: batch.signed }, network.id('eu'));
  assert.equal(us.equivocations.all(), []);
  await us.hear({ type: 'envelope', signed: await rivalOf(network, batch) }, network.id('eu'));
  assert.equal(us.equivocations.all(), [{ node: 'eu', batch: 1, stands: true }]);
  await until('jp to be told', () => network.memberFixture('jp').equivocations.all().length === 1);
});

test('an announcement that differs from the stored batch is an equivocation, kept over a restart', async () => {
  await using network = await MemberNetwork.create(NODES);
  await network.start('eu', 'us');
  const batch = await network.seal('eu');
  await network.holds('us', 'eu', 1);
  const second = await rivalOf(network, batch);
  await network.memberFixture('us').hear({ type: 'envelope', signed: second }, network.id('eu'));
  assert.ok(network.memberFixture('us').equivocations.accuses(network.id('eu')));
  await network.stop('us');
  await network.start('us');
  const us = network.memberFixture('us');
  assert.equal(us.equivocations.all(), [{ node: 'eu', batch: 1, stands: true }]);
  assert.equal(await equivocationTable.get(us.store, 'eu', 1), { first: batch.signed, second });
});

test('a proof by a compromised key is kept and accuses nobody, and hides none that stands', async () => {
  await using network = await MemberNetwork.create(NODES);
  await network.start('us', 'jp');
  const eu = network.id('eu');
  const us = network.memberFixture('us');
  const batch = await network.batch('eu');
  const rival = await rivalOf(network, batch);
  await us.hear({ type: 'equivocation', proof: { first: batch.signed, second: rival } }, eu);
  assert.ok(us.equivocations.accuses(eu));
  await us.hear({ type: 'revocation', signed: await network.federation.revokeKey('eu') }, eu);
  await until('the proof to fall', () => !us.equivocations.accuses(eu));
  assert.equal(us.equivocations.all(), [{ node: 'eu', batch: 1, stands: false }]);
  await network.federation.rotateKey('eu');
  const certificate = network.federation.certificates.at(-1);
  if (certificate) await us.hear({ type: 'certificate', signed: certificate }, eu);
  const keyId = network.federation.member('eu').key.signer.keyId;
  const terms = { keyId, first: 4, sealedAt: network.federation.tick() };
  const [first, second] = [await rivalOf(network, batch, terms), await rivalOf(network, batch, { ...terms, first: 5 })];
  assert.is(await us.hear({ type: 'equivocation', proof: { first, second } }, eu), 'accept');
  assert.equal(us.equivocations.all(), [{ node: 'eu', batch: 1, stands: true }]);
  assert.equal(await equivocationTable.get(us.store, 'eu', 1), { first, second });
});

test('a member cannot make the others keep any number of proofs; the chain is tainted from the earliest on', async () => {
  await using network = await MemberNetwork.create(NODES);
  await network.start('us');
  const eu = network.id('eu');
  const us = network.memberFixture('us');
  const batch = await network.batch('eu');
  const tell = async (number: number) => {
    const [first, second] = [
      await rivalOf(network, batch, { batch: number }),
      await rivalOf(network, batch, { batch: number }),
    ];
    assert.is(await us.hear({ type: 'equivocation', proof: { first, second } }, eu), 'accept');
  };
  for (let number = 100; number < 100 + MAX_PROOFS; number++) await tell(number);
  await tell(1000);
  assert.not.ok(us.equivocations.knows(eu, 1000));
  await tell(7);
  assert.ok(us.equivocations.proves(eu, 7));
  assert.is(us.equivocations.all().length, MAX_PROOFS);
  assert.is((await Array.fromAsync(equivocationTable.under(us.store, []))).length, MAX_PROOFS);
  // Who came later has what counts, and asks for no more.
  await network.start('jp');
  const jp = network.memberFixture('jp');
  await until('jp to know', () => jp.equivocations.proves(eu, 7));
  await tell(9);
  const asked = () => network.wire.pages.filter(({ request }) => request.want === 'equivocations').length;
  const before = asked();
  network.wire.cut('jp');
  network.wire.heal('jp');
  await network.seal('us');
  await network.holds('jp', 'us', 1);
  assert.is(asked(), before);
});

test('what a member told earlier takes nothing back when somebody passes it on again, and nobody tells for another', async () => {
  const told: [string, number][] = [];
  const onTold = (from: NodeId, { sequence }: TopicPoint) => void told.push([from, sequence]);
  await using network = await MemberNetwork.create(NODES, { onTold });
  const [eu, jp] = [network.id('eu'), network.id('jp')];
  await network.start('us');
  const us = network.memberFixture('us');
  const tell = (at: number, sequence: number): GossipMessage => {
    return { type: 'told', node: eu, at, point: { sequence, runningHash: INITIAL_HEAD.runningHash } };
  };
  assert.is(await us.hear(tell(1_000, 4), eu), 'accept');
  assert.is(await us.hear(tell(3_000, 9), eu), 'accept');
  for (const [at, sequence] of [
    [1_000, 4],
    [2_000, 6],
    [3_000, 2],
  ] as const) {
    assert.is(await us.hear(tell(at, sequence), eu), 'ignore');
  }
  assert.is(await us.hear(tell(4_000, 3), jp), 'reject');
  assert.is(await us.hear(tell(4_000, 8), eu), 'accept');
  assert.equal(told, [
    ['eu', 4],
    ['eu', 9],
    ['eu', 8],
  ]);
});

test('a member that told by a clock that was ahead is heard again once it is back, and by one that was right nothing is taken back', async () => {
  const told: number[] = [];
  await using network = await MemberNetwork.create(NODES, { onTold: (_, { sequence }) => void told.push(sequence) });
  const eu = network.id('eu');
  await network.start('us', 'eu');
  const us = network.memberFixture('us');
  const hear = (at: number, sequence: number) => {
    return us.hear({ type: 'told', node: eu, at, point: { sequence, runningHash: INITIAL_HEAD.runningHash } }, eu);
  };
  const comeBack = (): void => {
    network.wire.cut('eu');
    network.wire.heal('eu');
  };
  const now = Date.now();
  assert.is(await hear(now + 3_600_000, 4), 'accept');
  assert.is(await hear(now - 2_000, 5), 'ignore');
  comeBack();
  assert.is(await hear(now - 2_000, 5), 'accept');
  comeBack();
  assert.is(await hear(now - 3_000, 3), 'ignore');
  assert.equal(told, [4, 5]);
});

test('many rivals at once are one equivocation', async () => {
  await using network = await MemberNetwork.create(NODES);
  await network.start('us');
  const us = network.memberFixture('us');
  const batch = await network.batch('eu');
  const rivals = await Promise.all(Array.from({ length: 8 }, () => rivalOf(network, batch)));
  const messages = [batch.signed, ...rivals].map((signed) => ({ type: 'envelope', signed }) as const);
  const verdicts = await Promise.all(messages.map((message) => us.hear(message, network.id('eu'))));
  assert.ok(verdicts.every((verdict) => verdict === 'accept'));
  assert.equal(us.equivocations.all(), [{ node: 'eu', batch: 1, stands: true }]);
});

test.run();

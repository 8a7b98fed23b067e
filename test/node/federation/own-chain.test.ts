import { setImmediate as turn } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { KeyedLock } from '../../../node/concurrency/keyed-lock.ts';
import {
  type HaltReason,
  OwnChain,
  type OwnChainEvidence,
  type OwnChainOptions,
} from '../../../node/federation/own-chain.ts';
import { decodeItem, encodeItem } from '../../../node/federation/page-forms.ts';
import { RivalSearch } from '../../../node/federation/rival-search.ts';
import { startFrames } from '../../../node/federation/start/start-answers.ts';
import { nativeSigner, nativeSuite } from '../../../node/keys/native-suite.ts';
import { PeerFaults } from '../../../node/log/peer-faults.ts';
import { TransportError } from '../../../node/transport/errors.ts';
import { envelopeStatement } from '../../../protocol/chain/envelope.ts';
import { hashText } from '../../../protocol/hash.ts';
import { nodeId } from '../../../protocol/ids.ts';
import { signStatement } from '../../../protocol/statement/statement.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { certifyKey, seedOf } from '../../fixtures/federation-member.ts';
import { NOTHING_DECIDED } from '../../fixtures/nothing-decided.ts';
import { until } from '../../fixtures/until.ts';
import { FakeNetwork } from './fake-network.ts';
import {
  CHAIN_TABLES,
  fastFederation,
  MemberFixture,
  rowsOf,
  silent,
  storeBatch,
  temporaryHome,
} from './member-fixture.ts';
import { MemberNetwork } from './member-network.ts';

const NODES = ['eu', 'us', 'jp'];
const FOREVER = new AbortController().signal;
/** Both others have answered. */
const bothAnswered = ({ answered }: OwnChainEvidence): boolean => answered.size === 2;

/** `eu` made batches that `us` and `jp` hold; then its store was lost. */
async function lost(batches: number): Promise<MemberNetwork> {
  const network = await MemberNetwork.create(NODES);
  await network.start('us', 'jp');
  for (let i = 0; i < batches; i++) {
    const batch = await network.batch('eu');
    await network.memberFixture('us').hold(batch);
    await network.memberFixture('jp').hold(batch);
  }
  return network;
}

interface Back {
  readonly memberFixture: MemberFixture;
  readonly halts: HaltReason[];
}

/** `eu` starts again, as far as asking for its own chain. */
async function comeBack(network: MemberNetwork, options: Parameters<MemberNetwork['open']>[1] = {}): Promise<Back> {
  const halts: HaltReason[] = [];
  const memberFixture = await network.open('eu', { onHalt: (reason) => halts.push(reason), ...options });
  await memberFixture.federation.start();
  return { memberFixture, halts };
}

/** Its own chain alone, over a store whose replacement, catch-up and clock a test gives. */
function ownChainOf(
  eu: MemberFixture,
  transport: OwnChainOptions['transport'],
  options: Partial<OwnChainOptions>,
): OwnChain {
  const locks = new KeyedLock<MemberFixture['node']>();
  return new OwnChain({
    self: eu.node,
    chains: eu.chains,
    transport,
    locks,
    rivals: new RivalSearch({ keys: eu.keys, transport, locks, signal: FOREVER }),
    decided: NOTHING_DECIDED,
    faults: new PeerFaults(Date.now),
    catchUp: { lead: () => {}, forgive: () => {}, settled: async () => {}, abandon: async () => {} },
    replacement: { outdone: async () => undefined, take: async () => 0 },
    onCheckpoint: async () => {},
    onHalt: () => {},
    log: silent,
    ...options,
  });
}

test('a node whose store was lost takes its own chain back, byte for byte, before it would sign', async () => {
  await using network = await lost(4);
  const { memberFixture, halts } = await comeBack(network, { certified: false });
  assert.is(await memberFixture.federation.recoverOwnChain(FOREVER, bothAnswered), 4);
  assert.equal(
    await rowsOf(memberFixture.store, CHAIN_TABLES),
    await rowsOf(network.memberFixture('us').store, CHAIN_TABLES),
  );
  assert.is(memberFixture.federation.halted, null);
  assert.equal(halts, []);
  const { node, key } = network.federation.member('eu');
  assert.ok(memberFixture.keys.directory.get(node, key.signer.keyId), 'its own certificate came back too');
});

test('a store that was rolled back is brought forward, with the rows that are derived from own records', async () => {
  await using network = await lost(0);
  const eu = await network.open('eu');
  const first = await network.batch('eu');
  const second = await network.batch('eu');
  for (const holder of [eu, network.memberFixture('us'), network.memberFixture('jp')]) {
    await storeBatch(holder.store, first);
  }
  for (const name of ['us', 'jp']) {
    network.memberFixture(name).chains.advance(first);
    await network.memberFixture(name).hold(second);
  }
  await network.stop('eu');
  const seqs: number[] = [];
  const batches: number[] = [];
  const { memberFixture } = await comeBack(network, {
    besidesOwn: {
      group: async (records) => {
        seqs.push(...records.map(({ record }) => record.seq));
        return [{ type: 'put', key: `derived/${records.length}`, value: Uint8Array.of(1) }];
      },
      batch: ({ envelope }) => {
        batches.push(envelope.batch);
        return [];
      },
    },
  });
  assert.is(await memberFixture.federation.recoverOwnChain(FOREVER, bothAnswered), 1);
  assert.equal([seqs, batches], [[4, 5, 6], [2]]);
  assert.ok((await rowsOf(memberFixture.store, ['derived'])).size > 0);
});

test('own batches by a revoked key are taken back as long as the log can decide them', async () => {
  for (const isRevoked of [false, true]) {
    await using network = await lost(1);
    const batch = await network.batch('eu');
    await network.memberFixture('us').hold(batch);
    const signed = await network.federation.revokeKey('eu', { compromisedSince: timestampOf(0) });
    for (const name of ['us', 'jp']) await network.memberFixture(name).keys.learnRevocation(signed);
    const [first] = network.federation.batches('eu');
    const decided = {
      envelopeOf: async (_: string, number: number) => (number === 1 ? first?.hash : undefined),
      isRevoked: () => isRevoked,
    };
    const { memberFixture, halts } = await comeBack(network, { decided });
    assert.is(await memberFixture.federation.recoverOwnChain(FOREVER, bothAnswered), isRevoked ? 1 : 2);
    assert.equal(halts, []);
  }
});

test('a start waits until what it is told suffices, and no longer', async () => {
  await using network = await lost(0);
  network.wire.cut('eu', 'jp');
  const { memberFixture } = await comeBack(network);
  network.wire.cut('eu', 'jp');
  let looks = 0;
  const recovering = memberFixture.federation.recoverOwnChain(FOREVER, (evidence) => {
    looks++;
    return bothAnswered(evidence);
  });
  await until('some looks', () => looks > 3);
  network.wire.heal('eu', 'jp');
  assert.is(await recovering, 0);
});

test('members that start at once answer each other', async () => {
  await using network = await MemberNetwork.create(NODES);
  const all = await Promise.all(NODES.map((name) => network.open(name)));
  const recovered = all.map(async ({ federation }) => {
    await federation.start();
    return federation.recoverOwnChain(FOREVER, bothAnswered);
  });
  assert.equal(await Promise.all(recovered), [0, 0, 0]);
});

test('a start that is called off rejects and takes nothing up', async () => {
  await using network = await MemberNetwork.create(NODES);
  const { memberFixture } = await comeBack(network);
  const calledOff = AbortSignal.timeout(50);
  await memberFixture.federation
    .recoverOwnChain(calledOff, () => false)
    .then(
      () => assert.unreachable(),
      () => assert.ok(calledOff.aborted),
    );
});

test('peers that claim more of our chain than they can show do not hold up the start, and what they can show is taken', async () => {
  await using network = await lost(1);
  const batch = network.federation.batches('eu')[0];
  if (batch === undefined) throw new Error('no batch');
  const envelope = { ...batch.envelope, batch: 90 };
  for (const name of ['us', 'jp']) network.memberFixture(name).chains.advance({ envelope, signed: batch.signed });
  const { memberFixture, halts } = await comeBack(network);
  assert.is(await memberFixture.federation.recoverOwnChain(FOREVER, bothAnswered), 1);
  assert.equal(halts, []);
});

test('a peer that fails when it is asked to prove a longer chain has not answered yet', async () => {
  await using network = await lost(2);
  let failures = 0;
  for (const name of ['us', 'jp']) {
    network.wire.distortions.set(name, async function* (frames, { want }) {
      if (want === 'envelope' && failures++ < 3) throw new TransportError('timeout', 'no answer in time');
      yield* frames;
    });
  }
  const { memberFixture } = await comeBack(network);
  const heard: number[] = [];
  const taken = await memberFixture.federation.recoverOwnChain(FOREVER, (evidence) => {
    if (memberFixture.chains.head(network.id('eu')).batch === 0) heard.push(evidence.answered.size);
    return bothAnswered(evidence);
  });
  assert.is(taken, 2);
  assert.ok(
    heard.every((count) => count < 2),
    'a restored copy would have signed a second history',
  );
});

test('a peer that serves our chain falsely is passed over for one that does not', async () => {
  await using network = await lost(3);
  network.wire.distortions.set('us', async function* (frames) {
    for await (const frame of frames) {
      const item = decodeItem(frame);
      yield item.kind === 'records' ? encodeItem({ ...item, records: item.records.toReversed() }) : frame;
    }
  });
  const { memberFixture, halts } = await comeBack(network);
  assert.is(await memberFixture.federation.recoverOwnChain(FOREVER, bothAnswered), 3);
  assert.equal(halts, []);
});

test('a node whose store disagrees with its own signature at its peers signs nothing more, then and ever after', async () => {
  await using network = await lost(2);
  const eu = await network.open('eu');
  const [first] = network.federation.batches('eu');
  if (first === undefined) throw new Error('no batch');
  const { signer } = network.federation.member('eu').key;
  const envelope = { ...first.envelope, sealedAt: network.federation.tick() };
  const signed = await signStatement(envelopeStatement, envelope, signer);
  await storeBatch(eu.store, Object.assign(Object.create(first), { envelope, signed }));
  await network.stop('eu');
  for (let start = 0; start < 2; start++) {
    const { memberFixture, halts } = await comeBack(network);
    await memberFixture.federation.recoverOwnChain(FOREVER, bothAnswered);
    await until('the halt', () => memberFixture.federation.halted !== null);
    assert.equal(halts, ['forked']);
    await until('the proof', () => memberFixture.equivocations.accuses(network.id('eu')));
    await network.stop('eu');
  }
  await until('us to know', () => network.memberFixture('us').equivocations.accuses(network.id('eu')));
});

test('a peer that comes later and holds more of our chain stops the node, on proof alone', async () => {
  await using network = await lost(2);
  network.wire.cut('eu');
  const { memberFixture, halts } = await comeBack(network);
  network.wire.cut('eu');
  assert.is(await memberFixture.federation.recoverOwnChain(FOREVER, () => true), 0);
  assert.is(memberFixture.federation.halted, null);
  network.wire.heal('eu', 'jp');
  await until('the halt', () => memberFixture.federation.halted === 'behind');
  assert.equal(halts, ['behind']);
});

test('a node that was removed takes its chain back as any other does, before it would seal its last records', async () => {
  await using network = await lost(2);
  const members = network.federation.members.map(({ member }) => member).filter(({ node }) => node !== 'eu');
  network.federation.addRoster({ members, quorum: 1 });
  const { memberFixture, halts } = await comeBack(network);
  assert.is(await memberFixture.federation.recoverOwnChain(FOREVER, bothAnswered), 2);
  assert.equal(halts, ['removed']);
});

test('what comes to light late stops the node also where it does not follow what it holds', async () => {
  await using home = await temporaryHome();
  const federation = await fastFederation(NODES);
  await using eu = await MemberFixture.open(home.path, federation, 'eu');
  const [first, second] = [await federation.sealBatch('eu', [{}]), await federation.sealBatch('eu', [{}])];
  const rival = { ...first.envelope, sealedAt: federation.tick() };
  const signed = await signStatement(envelopeStatement, rival, federation.member('eu').key.signer);
  eu.chains.advance({ envelope: rival, signed });
  const network = new FakeNetwork();
  const us = network.transport('us', NODES, () => 'accept');
  us.serve('batches', async function* () {
    yield encodeItem({ kind: 'envelope', signed: second.signed });
  });
  await us.start();
  const transport = network.transport('eu', NODES, () => 'accept');
  await transport.start();
  const halts: HaltReason[] = [];
  const ownChain = ownChainOf(eu, transport, { onHalt: (reason) => halts.push(reason) });
  assert.is(await ownChain.recover(FOREVER, () => true), 0);
  ownChain.noteClaim(nodeId('us'), 2);
  await until('the halt', () => halts.length > 0);
  assert.equal(halts, ['behind']);
});

test('a member whose claim turns out to be forged is asked for it no more', async () => {
  await using home = await temporaryHome();
  const federation = await fastFederation(NODES);
  await using eu = await MemberFixture.open(home.path, federation, 'eu');
  const [batch, other] = [await federation.sealBatch('eu', [{}]), await federation.sealBatch('eu', [{}])];
  const network = new FakeNetwork();
  const us = network.transport('us', NODES, () => 'accept');
  let asked = 0;
  us.serve('batches', async function* () {
    asked++;
    yield encodeItem({ kind: 'envelope', signed: { ...batch.signed, signature: other.signed.signature } });
  });
  await us.start();
  const transport = network.transport('eu', NODES, () => 'accept');
  await transport.start();
  const ownChain = ownChainOf(eu, transport, {});
  ownChain.noteClaim(nodeId('us'), 1);
  let looks = 0;
  assert.is(await ownChain.recover(FOREVER, () => ++looks > 2), 0);
  assert.equal([asked, ownChain.halted], [1, null]);
});

test('an own batch that is sealed while a member shows it is no news, and stops nothing', async () => {
  await using home = await temporaryHome();
  const federation = await fastFederation(NODES);
  await using eu = await MemberFixture.open(home.path, federation, 'eu');
  const batch = await federation.sealBatch('eu', [{}]);
  const network = new FakeNetwork();
  const us = network.transport('us', NODES, () => 'accept');
  us.serve('batches', async function* () {
    yield encodeItem({ kind: 'envelope', signed: batch.signed });
  });
  await us.start();
  const transport = network.transport('eu', NODES, () => 'accept');
  await transport.start();
  const halts: HaltReason[] = [];
  let isShown = false;
  const ownChain = ownChainOf(eu, transport, {
    onHalt: (reason) => halts.push(reason),
    decided: {
      ...NOTHING_DECIDED,
      async envelopeOf() {
        eu.chains.advance(batch);
        isShown = true;
        return undefined;
      },
    },
  });
  assert.is(await ownChain.recover(FOREVER, () => true), 0);
  ownChain.noteClaim(nodeId('us'), 1);
  await until('us to show it', () => isShown);
  await turn();
  assert.equal([halts, ownChain.halted], [[], null]);
});

test('a start is over only once nothing of the own chain is being pulled, and what came last is looked at again', async () => {
  await using home = await temporaryHome();
  const federation = await fastFederation(NODES);
  await using eu = await MemberFixture.open(home.path, federation, 'eu');
  const batch = await federation.sealBatch('eu', [{}]);
  const transport = new FakeNetwork().transport('eu', NODES, () => 'accept');
  const heads: number[] = [];
  const ownChain = ownChainOf(eu, transport, {
    catchUp: {
      lead: () => {},
      forgive: () => {},
      settled: async () => {},
      abandon: async () => eu.chains.advance(batch),
    },
  });
  const taken = await ownChain.recover(FOREVER, () => heads.push(eu.chains.head(eu.node).batch) > 0);
  assert.equal([taken, heads], [1, [0, 1]]);
});

test('a decided batch that no member can show ends the chain, once all have answered and had time to fetch it', async () => {
  await using home = await temporaryHome();
  const federation = await fastFederation(NODES);
  await using eu = await MemberFixture.open(home.path, federation, 'eu');
  const batch = await federation.sealBatch('eu', [{}]);
  await eu.hold(batch);
  const network = new FakeNetwork();
  for (const name of ['us', 'jp']) {
    const other = network.transport(name, NODES, () => 'accept');
    other.serve('start', async function* () {
      yield* startFrames({ batch: 1, checkpoints: [] });
    });
    // Of the number it has what eu has: nobody has what was decided.
    other.serve('batches', async function* () {
      yield encodeItem({ kind: 'envelope', signed: batch.signed });
    });
    await other.start();
  }
  const transport = network.transport('eu', NODES, () => 'accept');
  await transport.start();
  const clock = { now: 0 };
  const halts: HaltReason[] = [];
  const garbage = hashText(nativeSuite, 'garbage');
  const ownChain = ownChainOf(eu, transport, {
    decided: { envelopeOf: async () => garbage, isRevoked: () => false },
    replacement: {
      outdone: async () => ({ held: batch, decided: garbage }),
      take: () => Promise.reject(new Error('nobody shows anything')),
    },
    monotonic: () => clock.now,
    onHalt: (reason) => halts.push(reason),
  });
  ownChain.noteCompared(nodeId('us'));
  let looks = 0;
  await ownChain.recover(FOREVER, ({ answered, held }) => {
    assert.is(held, 0);
    looks++;
    if (looks === 2) ownChain.noteCompared(nodeId('jp'));
    // Long, and one of them has not answered: it may be the one that has it.
    if (looks === 1) clock.now += 3_600_000;
    if (answered.size === 2) clock.now += 10_000;
    assert.equal(halts, []);
    return true;
  });
  assert.equal(halts, ['closed']);
  assert.ok(looks > 4, 'they had time');
});

test('a decided batch that a member shows is not lost, however long it takes to come', async () => {
  await using home = await temporaryHome();
  const federation = await fastFederation(NODES);
  await using eu = await MemberFixture.open(home.path, federation, 'eu');
  const batch = await federation.sealBatch('eu', [{}]);
  await eu.hold(batch);
  const { identity } = federation.member('eu');
  const key = await certifyKey(eu.node, identity, nativeSigner(seedOf('anew')), {
    validFrom: federation.tick(),
    seqFrom: 1,
  });
  await eu.keys.learnCertificate(key.signed);
  const anew = await signStatement(envelopeStatement, { ...batch.envelope, keyId: key.signer.keyId }, key.signer);
  const decided = hashText(nativeSuite, anew.statement);
  const network = new FakeNetwork();
  const us = network.transport('us', ['eu', 'us'], () => 'accept');
  us.serve('start', async function* () {
    yield* startFrames({ batch: 1, checkpoints: [] });
  });
  us.serve('batches', async function* () {
    yield encodeItem({ kind: 'envelope', signed: anew });
  });
  await us.start();
  const transport = network.transport('eu', ['eu', 'us'], () => 'accept');
  await transport.start();
  const clock = { now: 0 };
  const halts: HaltReason[] = [];
  let tries = 0;
  const ownChain = ownChainOf(eu, transport, {
    decided: { envelopeOf: async () => decided, isRevoked: () => false },
    replacement: {
      outdone: async () => (tries < 4 ? { held: batch, decided } : undefined),
      async take() {
        clock.now += 20_000;
        if (++tries < 4) throw new TransportError('timeout', 'a slow line');
        return 1;
      },
    },
    monotonic: () => clock.now,
    onHalt: (reason) => halts.push(reason),
  });
  ownChain.noteCompared(nodeId('us'));
  const taken = await ownChain.recover(FOREVER, ({ answered }) => {
    clock.now += 500;
    return answered.size === 1;
  });
  assert.equal([taken, tries, halts], [1, 4, []]);
});

test.run();

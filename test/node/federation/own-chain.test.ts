import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type HaltReason, type OwnChainEvidence } from '../../../node/federation/own-chain.ts';
import { decodeItem, encodeItem } from '../../../node/federation/page-forms.ts';
import { TransportError } from '../../../node/transport/errors.ts';
import { envelopeStatement } from '../../../protocol/chain/envelope.ts';
import { signStatement } from '../../../protocol/statement/statement.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { until } from '../../fixtures/until.ts';
import type { MemberFixture } from './member-fixture.ts';
import { CHAIN_TABLES, rowsOf, storeBatch } from './member-fixture.ts';
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
  const written: Promise<unknown>[] = [];
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
      onWritten: () => void written.push(rowsOf(memberFixture.store, ['derived'])),
    },
  });
  assert.is(await memberFixture.federation.recoverOwnChain(FOREVER, bothAnswered), 1);
  assert.equal([seqs, batches], [[4, 5, 6], [2]]);
  const derived = await rowsOf(memberFixture.store, ['derived']);
  assert.ok(derived.size > 0);
  assert.equal((await Promise.all(written)).at(-1), derived, 'told once they are there');
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

test.run();

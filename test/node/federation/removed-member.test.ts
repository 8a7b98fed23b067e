import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Decided } from '../../../node/log/decidable.ts';
import { LEAVE_MOST_MS, Leaving } from '../../../node/federation/leaving.ts';
import { pageRequest } from '../../../node/federation/page-forms.ts';
import { type KnownCheckpoint, readCheckpoint } from '../../../node/log/known-checkpoint.ts';
import { nativeSuite } from '../../../node/keys/native-suite.ts';
import type { DecisionState } from '../../../protocol/log/decision-state.ts';
import { initialState } from '../../../protocol/log/in-force.ts';
import { nodeId } from '../../../protocol/ids.ts';
import { FederationLog } from '../../fixtures/federation-log.ts';
import { envelopeStatement } from '../../../protocol/chain/envelope.ts';
import { signStatement } from '../../../protocol/statement/statement.ts';
import type { TestBatch } from '../../fixtures/federation-batch.ts';
import { MemberNetwork } from './member-network.ts';
import { until } from '../../fixtures/until.ts';

const NODES = ['eu', 'us', 'ca', 'jp'];
const OTHERS = ['eu', 'us', 'ca'];

/** A log that decided these batches, and no others. */
function logOf(batches: readonly TestBatch[]): Decided {
  const decided = new Map(batches.map(({ envelope: { node, batch }, hash }) => [`${node}/${batch}`, hash]));
  return { envelopeOf: async (node, batch) => decided.get(`${node}/${batch}`), isRevoked: () => false };
}

test('batches of a removed node are taken like any other, for they may be rescued', async () => {
  await using network = await MemberNetwork.create(NODES);
  const jp = network.id('jp');
  const members = network.federation.members.map(({ member }) => member).filter(({ node }) => node !== jp);
  network.federation.addRoster({ members, quorum: 2 });
  await network.start(...OTHERS);
  const batches: TestBatch[] = [];
  for (let i = 0; i < 3; i++) batches.push(await network.batch('jp'));
  for (const batch of batches) {
    await network.memberFixture('eu').hold(batch);
    await network.memberFixture('eu').federation.announce(batch);
  }
  for (const name of ['us', 'ca']) await network.holds(name, 'jp', 3);
});

test('in the place of a batch that was decided no other is taken, though a member offers it', async () => {
  await using network = await MemberNetwork.create(OTHERS);
  const [first, second] = [await network.batch('eu'), await network.batch('eu')];
  const rival = { ...second.envelope, sealedAt: network.federation.tick() };
  const signed = await signStatement(envelopeStatement, rival, network.federation.member('eu').key.signer);
  const decided = logOf([first, second]);
  for (const name of OTHERS) await (await network.open(name, { decided })).federation.start();
  const us = network.memberFixture('us');
  await us.hold(first);
  await us.hold(Object.assign(Object.create(second), { envelope: rival, signed }));
  const ca = network.memberFixture('ca');
  await us.federation.announce(Object.assign(Object.create(second), { envelope: rival, signed }));
  await network.holds('ca', 'eu', 1);
  await until('ca to have asked for the rival', () =>
    network.wire.pages.some(({ from, to, request }) => from === 'ca' && to === 'us' && request.want === 'chain'),
  );
  await network.memberFixture('eu').hold(first);
  await network.memberFixture('eu').hold(second);
  await network.memberFixture('eu').federation.announce(second);
  await network.holds('ca', 'eu', 2);
  assert.is(ca.chains.head(network.id('eu')).hash, second.hash);
});

test('one that leaves is heard of itself alone, and served its own chain alone', async () => {
  await using network = await MemberNetwork.create(NODES);
  const jp = network.id('jp');
  const [own, other] = [await network.batch('jp'), await network.batch('eu')];
  const members = network.federation.members.map(({ member }) => member).filter(({ node }) => node !== jp);
  network.federation.addRoster({ members, quorum: 2 });
  await network.start('us');
  const us = network.memberFixture('us');
  assert.is(await us.hear({ type: 'envelope', signed: own.signed }, jp), 'accept');
  assert.is(await us.hear({ type: 'envelope', signed: other.signed }, jp), 'ignore');
  assert.is(await us.hear({ type: 'envelope', signed: other.signed }, network.id('ca')), 'accept');
  for (const batch of [own, other]) await us.hold(batch);
  const asker = network.wire.transport('jp', NODES, () => 'ignore');
  await asker.start();
  const pages = (node: string) => {
    const request = pageRequest.encode({ want: 'chain', node: network.id(node), batch: 1, seq: 1 });
    return Array.fromAsync(asker.request('us', 'batches', request)).then(
      (frames) => frames.length > 0,
      () => false,
    );
  };
  assert.equal([await pages('jp'), await pages('eu')], [true, false]);
});

test('a former member is let in until it is done, and for a week at most', async () => {
  const log = await FederationLog.create({ nodes: ['eu', 'us', 'ca', 'jp'], quorum: 1 });
  const node = nodeId('jp');
  await log.record('jp');
  log.addRoster({ members: log.membersWith([], ['jp']) });
  const removedAt = log.size - 1;
  const rosters = log.rosters.map(({ roster }) => roster);
  const member = log.rosters[0]?.roster.members.find((each) => each.node === node);
  const state: DecisionState = {
    ...initialState(nativeSuite, log.roster(1).text),
    rosters: log.rosters.map(({ hash, index }) => ({ hash, index })),
    members: {},
    past: { [node]: { accounts: [], identityKeys: [], last: { batch: 1, envelope: log.genesis, index: 0 } } },
  };
  const fixture = { now: log.now, monotonic: 0, checkpoints: new Map<string, KnownCheckpoint>() };
  const leaving = new Leaving({
    federationLog: { state, entry: async (index) => log.decisions[index] },
    currentRosters: { inForce: { rosters, current: log.roster().roster, member: () => member } },
    checkpoints: { all: () => [...fixture.checkpoints.values()], newest: (name) => fixture.checkpoints.get(name) },
    chains: { head: () => ({ batch: 1, hash: null, next: 2 }) },
    now: () => fixture.now,
    monotonic: () => fixture.monotonic,
    leaveMs: 10,
  });
  const isLetIn = async () =>
    (await leaving.members()).some((each) => each.node === node && each.multiaddrs.length === 0);
  assert.ok(await isLetIn());
  fixture.now += LEAVE_MOST_MS - 60_000;
  assert.ok(await isLetIn());
  for (const name of ['jp', 'eu', 'us']) fixture.checkpoints.set(name, readCheckpoint(await log.checkpoint(name)));
  assert.ok(removedAt < log.size);
  assert.ok(await isLetIn(), 'what it sealed last may not be known here');
  fixture.monotonic += 10;
  assert.not.ok(await isLetIn());
  fixture.checkpoints.delete('us');
  assert.ok(await isLetIn());
  fixture.now += 120_000;
  assert.not.ok(await isLetIn(), 'the week is over');
});

test.run();

import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Decided } from '../../../node/federation/decidable.ts';
import type { HaltReason } from '../../../node/federation/own-chain.ts';
import type { AskRosters } from '../../../node/federation/roster-inquiry.ts';
import { nativeSuite } from '../../../node/keys/native-suite.ts';
import { envelopeStatement } from '../../../protocol/chain/envelope.ts';
import type { SignedRoster } from '../../../protocol/keys/signed-roster.ts';
import { hashOfRoster } from '../../../protocol/log/roster.ts';
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
  await using network = await MemberNetwork.create(NODES, { leaveMs: 10 });
  await network.start(...OTHERS);
  const batches: TestBatch[] = [];
  for (let i = 0; i < 3; i++) batches.push(await network.batch('jp'));
  const jp = network.id('jp');
  const members = network.federation.members.map(({ member }) => member).filter(({ node }) => node !== jp);
  const dropping = await network.federation.addRoster({ members, quorum: 2 }, OTHERS);
  assert.is(await network.rooms('us').federation.learnRoster(dropping), 'added');
  for (const name of OTHERS) await network.holdsRoster(name, 2);
  for (const batch of batches) {
    await network.rooms('eu').hold(batch);
    await network.rooms('eu').federation.announce(batch);
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
  const us = network.rooms('us');
  await us.hold(first);
  await us.hold(Object.assign(Object.create(second), { envelope: rival, signed }));
  const ca = network.rooms('ca');
  await us.federation.announce(Object.assign(Object.create(second), { envelope: rival, signed }));
  await network.holds('ca', 'eu', 1);
  await until('ca to have asked for the rival', () =>
    network.wire.pages.some(({ from, to, request }) => from === 'ca' && to === 'us' && request.want === 'chain'),
  );
  await network.rooms('eu').hold(first);
  await network.rooms('eu').hold(second);
  await network.rooms('eu').federation.announce(second);
  await network.holds('ca', 'eu', 2);
  assert.is(ca.chains.head(network.id('eu')).hash, second.hash);
});

test('a member that a roster adds holds what was made before as well as what is made from then on', async () => {
  await using network = await MemberNetwork.create([...OTHERS, 'sg'], {});
  const all = network.federation.members.map(({ member }) => member);
  const without = all.filter(({ node }) => node !== network.id('sg'));
  await network.federation.addRoster({ members: without, quorum: 2 }, OTHERS);
  await network.start(...OTHERS);
  for (let i = 0; i < 3; i++) await network.seal('eu');
  await network.holds('us', 'eu', 3);
  const joining = await network.federation.addRoster({ members: all }, OTHERS);
  await network.rooms('us').federation.learnRoster(joining);
  await network.start('sg');
  for (const name of [...OTHERS, 'sg']) await network.holdsRoster(name, 3);
  await network.holds('sg', 'eu', 3);
  await network.seal('eu');
  for (const name of ['us', 'ca', 'sg']) await network.holds(name, 'eu', 4);
});

test('a node that hears of its removal from the ledger alone asks the members at their public addresses, and halts', async () => {
  const asked: string[] = [];
  let shown: readonly SignedRoster[] = [];
  const askRosters: AskRosters = async (baseUrl, from) => {
    asked.push(baseUrl);
    if (asked.length === 1) throw new Error('this member is down');
    return shown.filter((_, index) => index + 2 >= from);
  };
  await using network = await MemberNetwork.create(NODES, { leaveMs: 10 });
  await network.start('eu');
  let halted: HaltReason | undefined;
  const onHalt = (reason: HaltReason) => void (halted = reason);
  const jp = await network.open('jp', { askRosters, rosterPatienceMs: 10, onHalt });
  await jp.federation.start();
  const members = network.federation.members.map(({ member }) => member).filter(({ node }) => node !== jp.node);
  const dropping = await network.federation.addRoster({ members, quorum: 2 }, OTHERS);
  shown = [dropping];
  await jp.federation.noteLedgerRosters([hashOfRoster(nativeSuite, dropping.statement)]);
  await until('jp to halt', () => halted === 'removed');
  assert.equal(
    asked,
    network.federation.members.flatMap(({ member }) => (member.node === jp.node ? [] : [member.baseUrl])).slice(0, 2),
  );
});

test('a removed node that was told once and ended before it asked hears of it at its next start', async () => {
  let shown: readonly SignedRoster[] = [];
  const askRosters: AskRosters = async (_baseUrl, from) => shown.filter((_, index) => index + 2 >= from);
  await using network = await MemberNetwork.create(NODES, { leaveMs: 10 });
  let halted: HaltReason | undefined;
  const onHalt = (reason: HaltReason) => void (halted = reason);
  const jp = await network.open('jp', { askRosters, rosterPatienceMs: 10, onHalt });
  const members = network.federation.members.map(({ member }) => member).filter(({ node }) => node !== jp.node);
  shown = [await network.federation.addRoster({ members, quorum: 2 }, OTHERS)];
  await jp.federation.start();
  await until('jp to halt', () => halted === 'removed');
});

test.run();

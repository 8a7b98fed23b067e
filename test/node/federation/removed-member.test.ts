import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Decided } from '../../../node/federation/decidable.ts';
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

test.run();

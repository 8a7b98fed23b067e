import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { envelopeStatement } from '../../../protocol/chain/envelope.ts';
import { writeLedgerMessage } from '../../../protocol/log/message.ts';
import { nameEnvelope } from '../../../protocol/log/naming.ts';
import { signStatement } from '../../../protocol/statement/statement.ts';
import { nobleSuite } from '../../../protocol/suite/noble.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { TestTopic, type PlacedMessage } from '../../fixtures/federation-topic.ts';
import { codes, mirrorPage, standing, WatchedWorld } from './watched-world.ts';

/** Longer than any promise that a monitor holds others to. In milliseconds. */
const LATE_MS = 61_000;

function queryOf(path: string): URLSearchParams {
  return new URL(path, 'http://any').searchParams;
}

/** Messages that link to each other, as a ledger of its own would have them. */
function retold(
  messages: readonly PlacedMessage[],
  change: (message: string, index: number) => string,
): PlacedMessage[] {
  const topic = new TestTopic();
  return messages.map(({ message, consensusTimestamp, payer }, i) =>
    topic.submit(change(message, i), Math.floor(Number(consensusTimestamp) * 1000), payer),
  );
}

/** The topic of the world, and after it a message that the ledger never saw: it links. */
async function withTail(world: WatchedWorld): Promise<PlacedMessage[]> {
  const tail = await world.federation.sealBatch('eu', [{}]);
  const extended = [...world.messages, tail.anchor];
  const honest = extended.slice(0, -1).map(({ message }) => message);
  assert.equal(
    honest,
    world.messages.map(({ message }) => message),
  );
  return extended;
}

test('all is well: every message and batch is read, nothing is told', async () => {
  await using world = await WatchedWorld.create();
  for (const node of ['eu', 'us', 'eu']) await world.seal(node);
  await using watched = await world.watch();
  const { monitor, events } = watched;
  const { complete } = await monitor.poll();
  assert.equal([complete, codes(events), standing(monitor), monitor.topicSequence], [true, [], [], 3]);
  assert.equal(monitor.tree, { size: 3, root: await world.log.rootAt(3) });
  assert.equal(
    monitor.heads.find(({ node }) => node === 'eu'),
    { node: 'eu', batch: 2, open: 0 },
  );
});

test('a mirror whose messages do not link lies, is not believed, and is forgiven when it tells the truth', async () => {
  await using world = await WatchedWorld.create();
  await world.seal('eu');
  await world.seal('us');
  world.changes.set('mirror-2', (path) => {
    const page = mirrorPage(world.messages, queryOf(path));
    return JSON.stringify(page, (name, value: unknown) => (name === 'payer_account_id' ? '0.0.666' : value));
  });
  await using watched = await world.watch();
  const { monitor, events } = watched;
  const { complete } = await monitor.poll();
  assert.equal(
    [standing(monitor), complete, monitor.topicSequence],
    [[`mirror-lies ${world.url('mirror-2')}`], true, 2],
  );
  world.changes.delete('mirror-2');
  await world.seal('eu');
  await monitor.poll();
  assert.equal([standing(monitor), monitor.topicSequence, monitor.proofs], [[], 3, []]);
  assert.ok(codes(events).includes('cleared mirror-lies'));
});

test('a mirror that tells another history stands against the other one and the members', async () => {
  await using world = await WatchedWorld.create();
  for (const node of ['eu', 'us']) await world.seal(node);
  const other = retold(world.messages, (message, i) => (i === 0 ? `${message} ` : message));
  world.changes.set('mirror-1', (path) => mirrorPage(other, queryOf(path)));
  await using watched = await world.watch();
  const { monitor } = watched;
  await monitor.poll();
  assert.equal(standing(monitor), [`mirror-lies ${world.url('mirror-1')}`]);
  assert.equal([monitor.topicSequence, monitor.tree.root], [2, await world.log.rootAt(2)]);
});

test('where members keep silent and two mirrors tell two histories, neither is believed', async () => {
  await using world = await WatchedWorld.create();
  for (const node of ['eu', 'us']) await world.seal(node);
  for (const node of ['eu', 'us', 'jp']) world.changes.set(node, (_path, body) => ({ ...body, topic: null }));
  const other = retold(world.messages, (message, i) => (i === 0 ? `${message} ` : message));
  world.changes.set('mirror-1', (path) => mirrorPage(other, queryOf(path)));
  await using watched = await world.watch();
  const { monitor } = watched;
  for (let poll = 0; poll < 3; poll++) {
    const { complete } = await monitor.poll();
    assert.equal([complete, monitor.topicSequence], [false, 0]);
    assert.ok(standing(monitor).includes('mirrors-disagree mirrors'));
  }
  world.changes.delete('mirror-1');
  for (let poll = 0; poll < 3 && monitor.topicSequence === 0; poll++) await monitor.poll();
  assert.equal([monitor.topicSequence, monitor.tree.root], [2, await world.log.rootAt(2)]);
});

test('a tail that one mirror makes up is never taken, though it links, and is told after a minute', async () => {
  await using world = await WatchedWorld.create();
  for (const node of ['eu', 'us', 'jp']) await world.seal(node);
  const extended = await withTail(world);
  world.changes.set('mirror-2', (path) => mirrorPage(extended, queryOf(path)));
  await using watched = await world.watch();
  const { monitor } = watched;
  await monitor.poll();
  world.ahead += LATE_MS;
  await monitor.poll();
  assert.equal([monitor.topicSequence, monitor.tree.size], [3, 3]);
  assert.ok(standing(monitor).includes('mirror-unconfirmed mirrors'), standing(monitor).join());
});

test('of one mirror alone a majority of members must say the same', async () => {
  await using world = await WatchedWorld.create();
  for (const node of ['eu', 'us', 'jp']) await world.seal(node);
  const extended = await withTail(world);
  world.changes.set('mirror-1', (path) => mirrorPage(extended, queryOf(path)));
  await using watched = await world.watch({ mirrors: [world.url('mirror-1')] });
  const { complete } = await watched.monitor.poll();
  assert.equal([complete, watched.monitor.topicSequence, watched.monitor.tree.size], [false, 3, 3]);
});

test('mirrors that are down, slow to follow or speak nonsense are told, and reading goes on with the other', async () => {
  await using world = await WatchedWorld.create();
  await world.seal('eu');
  world.changes.set('mirror-1', () => '{"messages":');
  await using watched = await world.watch();
  const { monitor } = watched;
  const { complete } = await monitor.poll();
  assert.equal([complete, standing(monitor)], [true, [`mirror-failing ${world.url('mirror-1')}`]]);
  // One that holds less says nothing against the other.
  world.changes.set('mirror-1', () => ({ messages: [] }));
  await monitor.poll();
  assert.equal([monitor.alerts, monitor.proofs], [[], []]);
});

test("a second envelope that a node's own account names is told, and proven once a node shows it", async () => {
  await using world = await WatchedWorld.create();
  const batch = await world.seal('eu');
  const { chain } = world.federation;
  const rival = { ...batch.envelope, root: batch.envelope.keyId };
  const signed = await signStatement(envelopeStatement, rival, world.federation.member('eu').key.signer);
  const message = nameEnvelope(nobleSuite, chain.genesis, rival, signed.statement);
  // A stranger may name what it likes.
  world.submit(writeLedgerMessage(message));
  await using watched = await world.watch();
  const { monitor, events } = watched;
  await monitor.poll();
  assert.equal([standing(monitor), monitor.topicSequence], [[], 2]);
  world.name(message, ['eu']);
  await monitor.poll();
  assert.equal([standing(monitor), monitor.proofs], [['rival-named eu/1'], []]);

  // Later one node shows it for that batch.
  world.changes.set('jp', (path, body) => {
    return path.startsWith('/v1/chains/eu') ? { ...body, batches: [{ batch: 1, envelope: signed }] } : body;
  });
  for (let poll = 0; poll < 3 && monitor.proofs.length === 0; poll++) await monitor.poll();
  assert.equal(monitor.proofs, ['two-envelopes-eu-1']);
  assert.ok(codes(events).includes('proof two-envelopes'));
  assert.is(monitor.tree.size, 1, 'it decides nothing');
});

test('a batch that is named and cannot be decided is told after a minute', async () => {
  await using world = await WatchedWorld.create();
  await world.seal('eu');
  const lost = await world.federation.sealBatch('us', [{}]);
  const next = await world.federation.sealBatch('us', [{}]);
  world.messages.push(...retold([...world.messages, next.anchor], (message) => message).slice(1));
  await using watched = await world.watch();
  const { monitor } = watched;
  await monitor.poll();
  assert.equal([standing(monitor), monitor.topicSequence], [[], 2]);
  world.ahead += LATE_MS;
  await monitor.poll();
  assert.equal(standing(monitor), ['anchor-missing us/1', 'batch-undecided us/2']);
  assert.is(lost.envelope.batch, 1);
});

test('a batch that only the ledger names is missing after a minute, and found when a node shows it', async () => {
  await using world = await WatchedWorld.create();
  await world.seal('eu');
  await world.seal('us');
  for (const node of ['eu', 'us', 'jp']) {
    world.changes.set(node, (path, body) => {
      if (path.startsWith('/v1/chains/us')) return { ...body, head: 0, batches: [], nextFrom: null };
      if (path !== '/v1/federation' || !('members' in body) || !Array.isArray(body.members)) return body;
      const members = body.members.map((member) => (member.node === 'us' ? { ...member, head: { batch: 0 } } : member));
      return { ...body, members };
    });
  }
  await using watched = await world.watch();
  const { monitor } = watched;
  await monitor.poll();
  assert.equal(monitor.alerts, [], 'it may be on its way');
  world.ahead += LATE_MS;
  await monitor.poll();
  assert.equal(standing(monitor), ['batch-missing us/1']);
  world.changes.clear();
  await monitor.poll();
  assert.equal([monitor.alerts, monitor.proofs], [[], []]);
});

test('a batch that is not on the ledger after a minute is told, and what it took when it comes at last', async () => {
  await using world = await WatchedWorld.create();
  const { federation } = world;
  await world.seal('us');
  const sealedAt = timestampOf(federation.now);
  for (let second = 0; second < 90; second++) federation.tick();
  await world.seal('eu', { envelope: { sealedAt } });
  const anchor = world.messages.pop();
  await using watched = await world.watch();
  const { monitor, events } = watched;
  await monitor.poll();
  assert.equal(standing(monitor), ['anchor-missing eu/1']);
  if (anchor !== undefined) world.messages.push(anchor);
  await monitor.poll();
  assert.equal(monitor.alerts, []);
  const late = events.find(({ code }) => code === 'anchor-late');
  assert.is(late?.subject, 'eu/1');
  assert.match(late?.detail ?? '', /^on the ledger 9\d(\.\d+)? s after/);
});

test('a batch that says it was sealed in years to come and is not on the ledger is missed all the same', async () => {
  await using world = await WatchedWorld.create();
  await world.seal('eu', { envelope: { sealedAt: timestampOf(world.federation.now + 50 * 365 * 86_400_000) } });
  world.messages.pop();
  await using watched = await world.watch();
  await watched.monitor.poll();
  assert.equal(standing(watched.monitor), []);
  world.ahead += 120_000;
  await watched.monitor.poll();
  assert.equal(standing(watched.monitor), ['anchor-missing eu/1']);
});

test('a batch that says it was sealed after the ledger had it is misdated', async () => {
  await using world = await WatchedWorld.create();
  await world.seal('eu', { envelope: { sealedAt: timestampOf(world.federation.now + 600_000) } });
  await using watched = await world.watch();
  await watched.monitor.poll();
  assert.equal(codes(watched.events), ['notice misdated']);
});

test.run();

import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { writeLedgerMessage } from '../../../protocol/log/message.ts';
import { nameEnvelope } from '../../../protocol/log/naming.ts';
import { hashText } from '../../../protocol/hash.ts';
import { envelopeStatement } from '../../../protocol/chain/envelope.ts';
import { signStatement } from '../../../protocol/statement/statement.ts';
import { nobleSuite } from '../../../protocol/suite/noble.ts';
import { timestampOf } from '../../../protocol/time.ts';
import type { Anchor } from '../../../node/anchoring/anchors.ts';
import { TestTopic } from '../../fixtures/federation-topic.ts';
import { codes, mirrorPage, WatchedWorld } from './watched-world.ts';

/** Longer than any promise that a monitor holds others to. In milliseconds. */
const LATE_MS = 61_000;

function queryOf(path: string): URLSearchParams {
  return new URL(path, 'http://any').searchParams;
}

/** The same messages as another ledger would have them: they link, with other running hashes. */
function retold(messages: readonly Anchor[]): Anchor[] {
  const topic = new TestTopic();
  return messages.map(({ message, consensusTimestamp }, i) =>
    topic.submit(i === 0 ? `${message} ` : message, Math.floor(Number(consensusTimestamp) * 1000)),
  );
}

test('all is well: every message and batch is read, nothing is told', async () => {
  await using world = await WatchedWorld.create();
  for (const node of ['eu', 'us', 'eu']) await world.seal(node);
  const { monitor, events } = await world.watch();
  const { complete } = await monitor.round();
  assert.equal([complete, codes(events), monitor.topicSequence], [true, [], 3]);
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
  const { monitor, events } = await world.watch();
  await monitor.round();
  assert.ok(monitor.alerts.some(({ code, subject }) => code === 'mirror-lies' && subject === world.url('mirror-2')));
  assert.is(monitor.topicSequence, 2, 'the honest one is read on');
  world.changes.delete('mirror-2');
  await world.seal('eu');
  await monitor.round();
  assert.equal([monitor.alerts, monitor.topicSequence, monitor.proofs], [[], 3, []]);
  assert.ok(codes(events).includes('cleared mirror-lies'));
});

test('of two mirrors that tell two histories neither is believed, and reading goes on when they agree', async () => {
  await using world = await WatchedWorld.create();
  for (const node of ['eu', 'us']) await world.seal(node);
  const other = retold(world.messages);
  world.changes.set('mirror-1', (path) => mirrorPage(other, queryOf(path)));
  const { monitor } = await world.watch();
  for (let round = 0; round < 3; round++) {
    const { complete } = await monitor.round();
    assert.is(complete, false);
    assert.ok(monitor.alerts.some(({ code }) => code === 'mirrors-disagree'));
  }
  assert.is(monitor.topicSequence, 0, 'a made-up history is not in the state');
  world.changes.delete('mirror-1');
  assert.is((await monitor.round()).complete, true);
  assert.equal([monitor.alerts, monitor.topicSequence], [[], 2]);
});

test('mirrors that are down, slow to follow or speak nonsense are weather', async () => {
  await using world = await WatchedWorld.create();
  await world.seal('eu');
  world.changes.set('mirror-1', () => '{"messages":');
  const { monitor } = await world.watch();
  const { complete } = await monitor.round();
  assert.equal([complete, monitor.alerts.map(({ code }) => code)], [true, ['mirror-failing']]);
  // One that holds less says nothing against the other.
  world.changes.set('mirror-1', () => ({ messages: [] }));
  await monitor.round();
  assert.equal([monitor.alerts, monitor.proofs], [[], []]);
});

test('an anchor of another envelope than the nodes show is told; one that a node can show is a proof', async () => {
  await using world = await WatchedWorld.create();
  const batch = await world.seal('eu');
  const { chain } = world.federation;
  const rival = { ...batch.envelope, root: batch.envelope.keyId };
  const signed = await signStatement(envelopeStatement, rival, world.federation.member('eu').key.signer);
  world.submit(writeLedgerMessage(nameEnvelope(nobleSuite, chain.genesis, rival, signed.statement)));
  const { monitor } = await world.watch();
  await monitor.round();
  const alert = monitor.alerts.find(({ code }) => code === 'foreign-anchor');
  assert.is(alert?.subject, 'eu/1');
  assert.match(alert?.detail ?? '', hashText(nobleSuite, signed.statement));
  assert.equal(monitor.proofs, [], 'anyone may write to a topic');

  // Later one node shows it for that batch.
  world.changes.set('jp', (path, body) => {
    const shown = { batch: 1, envelope: signed };
    return path.startsWith('/v1/chains/eu') ? { ...body, batches: [shown] } : body;
  });
  await monitor.round();
  assert.equal(monitor.proofs, ['equivocation-eu-eu-1']);
});

test('foreign anchors without end cost the nodes no more than a few requests a round', async () => {
  await using world = await WatchedWorld.create();
  for (let i = 0; i < 12; i++) {
    const { envelope } = await world.seal('eu');
    const text = envelopeStatement.write({ ...envelope, root: envelope.keyId });
    world.submit(writeLedgerMessage(nameEnvelope(nobleSuite, world.federation.chain.genesis, envelope, text)));
  }
  const { monitor } = await world.watch();
  for (let round = 0; round < 4; round++) await monitor.round();
  assert.is(monitor.alerts.filter(({ code }) => code === 'foreign-anchor').length, 12);
  const before = world.asked.length;
  await monitor.round();
  const asked = world.asked.slice(before).filter((path) => path.startsWith('us ')).length;
  assert.ok(asked <= 6, `${asked} requests`);
});

test('a batch that only the ledger names is missing after a minute, and found when a node shows it', async () => {
  await using world = await WatchedWorld.create();
  await world.seal('eu');
  await world.seal('us');
  for (const node of ['eu', 'us', 'jp']) {
    world.changes.set(node, (path, body) => {
      if (path.startsWith('/v1/chains/us')) return { ...body, head: 0, batches: [], nextFrom: null };
      if (path !== '/v1/federation' || !('members' in body) || !Array.isArray(body.members)) return body;
      const empty = { batch: 0, envelope: null, records: 0 };
      return { ...body, members: body.members.map((one) => (one.node === 'us' ? { ...one, head: empty } : one)) };
    });
  }
  const { monitor } = await world.watch();
  await monitor.round();
  assert.equal(monitor.alerts, [], 'it may be on its way');
  world.ahead += LATE_MS;
  await monitor.round();
  assert.equal(
    monitor.alerts.map(({ code, subject }) => `${code} ${subject}`),
    ['batch-missing us/1'],
  );
  world.changes.clear();
  await monitor.round();
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
  const { monitor, events } = await world.watch();
  await monitor.round();
  assert.equal(
    monitor.alerts.map(({ code, subject }) => `${code} ${subject}`),
    ['anchor-missing eu/1'],
  );
  if (anchor !== undefined) world.messages.push(anchor);
  await monitor.round();
  assert.equal(monitor.alerts, []);
  const late = events.find(({ code }) => code === 'anchor-late');
  assert.is(late?.subject, 'eu/1');
  assert.match(late?.detail ?? '', /^on the ledger 9\d(\.\d+)? s after/);
});

test.run();

import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { rosterStatement } from '../../../protocol/log/roster.ts';
import { codes, standing, WatchedWorld } from './watched-world.ts';

/** Longer than any promise that a monitor holds others to. In milliseconds. */
const LATE_MS = 61_000;
const FOUR = ['eu', 'us', 'jp', 'ca'];

/** A roster without `ca`, in force by the ledger. */
function withoutLast(world: WatchedWorld): string {
  const [genesis] = world.federation.chain.rosters;
  const members = genesis?.members.filter(({ node }) => node !== 'ca') ?? [];
  const text = world.federation.addRoster({ members });
  world.name({ type: 'roster', text }, ['eu', 'us', 'jp']);
  return text;
}

test('a roster is in force where a majority named it; who is removed is missed no more', async () => {
  await using world = await WatchedWorld.create(FOUR);
  for (const node of FOUR) await world.seal(node);
  await using watched = await world.watch();
  const { monitor, events } = watched;
  await monitor.poll();
  const text = withoutLast(world);
  world.silent.set('ca', 5);
  await world.seal('eu');
  await monitor.poll();
  const notice = events.find(({ code }) => code === 'roster-in-force');
  assert.equal([notice?.subject, notice?.detail], ['roster 2', 'members eu, us, jp']);
  world.ahead += LATE_MS;
  await monitor.poll();
  assert.equal([standing(monitor), monitor.tree.size], [[], 6]);
  assert.equal(
    monitor.behind.map(({ node }) => node),
    rosterStatement.parse(text).members.map(({ node }) => node),
  );
  // What its own account names from now on decides nothing, and is no rival.
  await world.seal('ca');
  await monitor.poll();
  assert.equal([monitor.tree.size, monitor.heads.find(({ node }) => node === 'ca')?.batch], [6, 1]);
});

test('a removed member counts no more for what others record', async () => {
  await using world = await WatchedWorld.create(FOUR);
  await world.seal('eu');
  await using watched = await world.watch();
  const { monitor } = watched;
  await monitor.poll();
  withoutLast(world);
  world.silent.set('us', 1);
  await world.seal('eu');
  world.ahead += LATE_MS;
  await monitor.poll();
  // Of the three that are left eu has two beside it, and one of them is silent.
  assert.equal(standing(monitor), ['checkpoint-behind us', 'quorum-missing eu/2']);
});

test('the text of a roster in force is asked of every node; where none shows it the log waits and it is told', async () => {
  await using world = await WatchedWorld.create(FOUR);
  await world.seal('eu');
  for (const node of FOUR) {
    world.changes.set(node, (path, body) => (path.startsWith('/v1/rosters') ? { ...body, rosters: [] } : body));
  }
  const text = withoutLast(world);
  await world.seal('eu');
  await using watched = await world.watch();
  const { monitor } = watched;
  const { complete } = await monitor.poll();
  assert.equal([complete, monitor.tree.size], [false, 1]);
  assert.equal(
    standing(monitor).filter((alert) => alert.startsWith('statement')),
    [`statement-withheld ${world.federation.chain.hash}`],
  );
  world.changes.clear();
  world.changes.set('jp', (path, body) => (path.startsWith('/v1/rosters') ? { ...body, rosters: [] } : body));
  await monitor.poll();
  assert.equal([standing(monitor), monitor.tree.size], [[], 3]);
  assert.is(rosterStatement.parse(text).version, 2);
});

test('a node that goes by another roster than the ledger is told', async () => {
  await using world = await WatchedWorld.create(FOUR);
  await world.seal('eu');
  withoutLast(world);
  const genesis = world.federation.chain.genesis;
  world.changes.set('us', (path, body) => (path === '/v1/federation' ? { ...body, roster: { hash: genesis } } : body));
  await using watched = await world.watch();
  await watched.monitor.poll();
  assert.equal(standing(watched.monitor), [], 'it may be reading');
  world.ahead += LATE_MS;
  await watched.monitor.poll();
  assert.equal(standing(watched.monitor), [`roster-differs ${world.url('us')}`]);
});

test('a revocation is told when the ledger put it in force; checkpoints by a compromised key count no more', async () => {
  await using world = await WatchedWorld.create();
  await world.seal('eu');
  const revocation = await world.federation.revokeKey('jp');
  world.name({ type: 'revocation', text: revocation.statement }, ['eu', 'us']);
  await using watched = await world.watch();
  const { monitor, events } = watched;
  await monitor.poll();
  assert.ok(codes(events).includes('notice key-revoked'));
  world.ahead += LATE_MS;
  await monitor.poll();
  assert.equal(standing(monitor), ['checkpoint-behind jp', 'quorum-missing eu/1']);
  await world.federation.rotateKey('jp');
  await monitor.poll();
  await monitor.poll();
  assert.equal(standing(monitor), []);
});

test('a revocation in force whose text no node shows is told after a minute', async () => {
  await using world = await WatchedWorld.create();
  await world.seal('eu');
  const revocation = await world.federation.revokeKey('jp', { reason: 'rotated', compromisedSince: null });
  world.name({ type: 'revocation', text: revocation.statement }, ['eu', 'us']);
  world.federation.revocations.length = 0;
  await using watched = await world.watch();
  const { monitor } = watched;
  await monitor.poll();
  world.ahead += LATE_MS;
  await monitor.poll();
  assert.equal(standing(monitor).filter((alert) => alert.startsWith('statement')).length, 1);
  world.federation.revocations.push(revocation);
  await monitor.poll();
  assert.not.ok(standing(monitor).some((alert) => alert.startsWith('statement')));
});

test.run();

import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { LogDamagedError } from '../../../node/log/federation-log.ts';
import { Store, StoreError } from '../../../node/store/store.ts';
import { TestFederation } from '../../fixtures/federation.ts';
import { askedAfter, codes, standing, WatchedWorld } from './watched-world.ts';

test('a monitor that is started anew reads on where it was, and tells again only what is new', async () => {
  await using world = await WatchedWorld.create();
  const stateDirectory = join(world.directory, 'state');
  for (let i = 0; i < 4; i++) await world.seal('eu');
  world.silent.set('us', 4);
  await world.seal('jp');
  world.ahead = 61_000;
  let since: number | undefined;
  {
    await using watched = await world.watch({ stateDirectory });
    const { monitor } = watched;
    await monitor.poll();
    assert.equal(standing(monitor), ['checkpoint-behind us', 'quorum-missing jp/1']);
    since = monitor.alerts[0]?.since;
  }
  const before = world.asked.length;
  {
    await using watched = await world.watch({ stateDirectory });
    const { monitor, events } = watched;
    assert.equal([monitor.topicSequence, monitor.tree], [5, { size: 5, root: await world.log.rootAt(5) }]);
    world.ahead += 1_000;
    await world.seal('eu');
    await monitor.poll();
    const told = events.map(({ code, subject }) => `${code} ${subject}`);
    assert.equal([told, monitor.alerts[0]?.since, monitor.topicSequence], [['quorum-missing eu/5'], since, 6]);
    assert.is(monitor.heads.find(({ node }) => node === 'eu')?.batch, 5);
  }
  const asked = askedAfter(world.asked.slice(before));
  assert.ok(asked.length > 0 && asked.every((after) => after >= 4), `asked after ${asked.join()}`);
  const envelopes = world.asked.slice(before).filter((path) => path.endsWith(' /v1/chains/eu?from=1'));
  assert.equal(envelopes, [], 'no chain is read from its beginning');
});

test('a proof is told once, and stays known', async () => {
  await using world = await WatchedWorld.create();
  const stateDirectory = join(world.directory, 'state');
  for (let i = 0; i < 3; i++) await world.seal('eu');
  world.lies.set('jp', ({ federation }) => ({ root: federation }));
  for (const expected of [['proof false-checkpoint', 'alert checkpoint-false'], []]) {
    await using watched = await world.watch({ stateDirectory });
    await watched.monitor.poll();
    assert.equal([codes(watched.events), watched.monitor.proofs], [expected, ['false-checkpoint-jp']]);
  }
});

test('a state of another release, or none beside a log, is refused in one line', async () => {
  await using world = await WatchedWorld.create();
  const stateDirectory = join(world.directory, 'state');
  const refusal = async (): Promise<string> => {
    const watched = await world.watch({ stateDirectory }).catch((error: unknown) => error);
    if (watched instanceof StoreError && watched.code === 'format') return watched.message;
    throw new Error('the store is taken', { cause: watched });
  };
  {
    await using watched = await world.watch({ stateDirectory });
    await watched.monitor.poll();
  }
  const row = 'monitor-state/state';
  const line = /^[^\n]*another release of the monitor[^\n]*start with an empty one[^\n]*$/;
  {
    await using store = await Store.open(stateDirectory);
    const text = Buffer.from((await store.get(row)) ?? []).toString();
    await store.write([{ type: 'put', key: row, value: Buffer.from(text.replace('"v":4', '"v":3')) }]);
  }
  assert.match(await refusal(), line);
  {
    await using store = await Store.open(stateDirectory);
    await store.write([{ type: 'del', key: row }]);
  }
  assert.match(await refusal(), line);
});

test('a store of another federation is refused', async () => {
  await using world = await WatchedWorld.create();
  const stateDirectory = join(world.directory, 'state');
  await using watched = await world.watch({ stateDirectory });
  await watched.monitor.poll();
  await watched[Symbol.asyncDispose]();
  const other = await TestFederation.create({ nodes: ['eu', 'us'], seed: 'another' });
  await world.watch({ stateDirectory, rosters: other.given }).then(
    () => assert.unreachable('the log of another federation was taken'),
    (error: unknown) => assert.instance(error, LogDamagedError),
  );
});

test('a round that is called off tells nothing of those who could not answer any more', async () => {
  await using world = await WatchedWorld.create();
  await world.seal('eu');
  await using watched = await world.watch();
  const { monitor, events } = watched;
  world.changes.set('us', () => {
    monitor.stop();
    return null;
  });
  const { complete } = await monitor.poll();
  assert.equal([complete, codes(events), monitor.alerts], [false, [], []]);
  assert.equal(await readdir(world.directory), []);
});

test.run();

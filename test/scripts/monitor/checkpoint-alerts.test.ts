import { readFile } from 'node:fs/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nativeSuite } from '../../../node/keys/native-suite.ts';
import { hashText } from '../../../protocol/hash.ts';
import { judgeProof } from '../../../protocol/proof/judge-proof.ts';
import { parseProofText } from '../../../protocol/proof/parse-proof.ts';
import { codes, standing, WatchedWorld } from './watched-world.ts';

/** Longer than any promise that a monitor holds others to. In milliseconds. */
const LATE_MS = 61_000;
const OTHER_ROOT = hashText(nativeSuite, 'another tree');
const THIRD_ROOT = hashText(nativeSuite, 'a third tree');

function bytesOf(body: object): Buffer {
  if (body instanceof Uint8Array) return Buffer.from(body);
  throw new TypeError('no bytes');
}

async function watchedThree(batches = 3) {
  const world = await WatchedWorld.create();
  for (let i = 0; i < batches; i++) await world.seal('eu');
  return world;
}

test('a member that signs another root is told at once, and proven by the checkpoints of a majority', async () => {
  await using world = await watchedThree();
  world.lies.set('jp', () => ({ root: OTHER_ROOT }));
  await using watched = await world.watch();
  const { monitor, events } = watched;
  await monitor.poll();
  assert.equal(standing(monitor), ['checkpoint-false jp']);
  assert.equal(monitor.proofs, ['false-checkpoint-jp']);
  const proof = events.find(({ kind }) => kind === 'proof');
  if (proof?.kind !== 'proof') throw new Error('no proof');
  const file = parseProofText(await readFile(proof.file, 'utf8'));
  const pin = world.federation.chain.genesis;
  const verdict = judgeProof(nativeSuite, file, { pin });
  assert.equal([verdict.proven, verdict.accused, verdict.misdeed], [true, 'jp', 'false-checkpoint']);
  // It stands, though the member tells the truth again, and is written once.
  world.lies.clear();
  await world.seal('us');
  await monitor.poll();
  assert.ok(standing(monitor).includes('checkpoint-false jp'));
  assert.is(events.filter(({ kind, code }) => kind === 'proof' && code === 'false-checkpoint').length, 1);
});

test('where a majority contradicts what mirrors and members told, the log itself is in doubt, and nobody is accused', async () => {
  await using world = await watchedThree();
  for (const node of ['us', 'jp']) world.lies.set(node, () => ({ root: OTHER_ROOT }));
  await using watched = await world.watch();
  await watched.monitor.poll();
  const told = standing(watched.monitor);
  assert.ok(told.includes('log-contradicted log'), told.join());
  assert.not.ok(
    told.some((alert) => alert.startsWith('checkpoint-false')),
    told.join(),
  );
});

test('a member that signs no more is behind after a minute, and its word is missing to a quorum', async () => {
  await using world = await watchedThree();
  await using watched = await world.watch();
  const { monitor } = watched;
  await monitor.poll();
  world.silent.set('jp', 3);
  await world.seal('eu');
  await monitor.poll();
  assert.equal(standing(monitor), []);
  world.ahead += LATE_MS;
  await monitor.poll();
  // Both others of three are the quorum of what one of them records.
  assert.equal(standing(monitor), ['checkpoint-behind jp', 'quorum-missing eu/4']);
  assert.equal(monitor.behind.find(({ node }) => node === 'jp')?.decisions, 1);
  assert.equal(monitor.heads.find(({ node }) => node === 'eu')?.open, 1);
  world.silent.clear();
  await monitor.poll();
  assert.equal(standing(monitor), []);
});

test('a member that signs for more than the ledger has is told after a minute; two of them that differ at once', async () => {
  await using world = await watchedThree();
  world.lies.set('us', () => ({ size: 9, root: THIRD_ROOT }));
  world.lies.set('jp', () => ({ size: 9, root: OTHER_ROOT }));
  await using watched = await world.watch();
  const { monitor } = watched;
  await monitor.poll();
  assert.ok(standing(monitor).includes('checkpoints-differ jp us'), standing(monitor).join());
  assert.not.ok(standing(monitor).includes('checkpoint-ahead jp'));
  world.ahead += LATE_MS;
  await monitor.poll();
  for (const alert of ['checkpoint-ahead jp', 'checkpoint-ahead us']) {
    assert.ok(standing(monitor).includes(alert), standing(monitor).join());
  }
  assert.equal(monitor.proofs, []);
});

test('a member whose later checkpoint vouches for less is told, and stays told', async () => {
  await using world = await watchedThree();
  await using watched = await world.watch();
  const { monitor, events } = watched;
  await monitor.poll();
  assert.equal(codes(events), []);
  world.lies.set('us', () => ({ vouched: { eu: 2 } }));
  await world.seal('jp');
  await monitor.poll();
  assert.ok(standing(monitor).includes('vouched-less us'), standing(monitor).join());
  world.lies.clear();
  await world.seal('jp');
  await monitor.poll();
  assert.ok(standing(monitor).includes('vouched-less us'));
});

test('a checkpoint that its member did not sign is a lie of who shows it', async () => {
  await using world = await watchedThree();
  world.changes.set('us', (path, body) => {
    if (path !== '/v1/log/checkpoints') return body;
    return JSON.stringify(body).replaceAll('\\"size\\":3', '\\"size\\":2');
  });
  await using watched = await world.watch();
  await watched.monitor.poll();
  assert.equal(standing(watched.monitor), [`node-lies ${world.url('us')}`]);
});

test('a node that serves other tiles than those of the tree is told', async () => {
  await using world = await watchedThree();
  world.changes.set('us', (path, body) => {
    if (!path.startsWith('/v1/log/tile/entries')) return body;
    return Buffer.from(bytesOf(body).toString('latin1').replace('eu', 'us'), 'latin1');
  });
  world.changes.set('jp', (path, body) => {
    return path.startsWith('/v1/log/tile/0') ? Buffer.alloc(bytesOf(body).length, 7) : body;
  });
  await using watched = await world.watch();
  const { monitor } = watched;
  await monitor.poll();
  assert.equal(standing(monitor), [`tile-false ${world.url('jp')}`, `tile-false ${world.url('us')}`]);
  world.changes.clear();
  await monitor.poll();
  assert.equal(standing(monitor), []);
});

test('a node that lacks a tile of the tree that it signed is told', async () => {
  await using world = await watchedThree();
  world.changes.set('us', (path, body, response) => {
    if (!path.startsWith('/v1/log/tile')) return body;
    response.writeHead(404).end();
    return null;
  });
  await using watched = await world.watch();
  await watched.monitor.poll();
  assert.equal(standing(watched.monitor), [`tile-false ${world.url('us')}`]);
});

test('a chain that is held and not derived says so beside its missing quorum', async () => {
  await using world = await watchedThree(2);
  for (const node of ['us', 'jp']) {
    world.lies.set(node, () => ({ vouched: { eu: 1 } }));
    world.changes.set(node, (path, body) => {
      if (path !== '/v1/federation') return body;
      return { ...body, log: { underived: [{ node: 'eu', batch: 2, code: 'source-skipped' }], closed: ['eu'] } };
    });
  }
  await using watched = await world.watch();
  const { monitor } = watched;
  await monitor.poll();
  assert.equal(standing(monitor), ['chain-closed eu']);
  world.ahead += LATE_MS;
  await monitor.poll();
  assert.equal(standing(monitor), ['chain-closed eu', 'chain-not-derived eu/2', 'quorum-missing eu/2']);
  assert.match(monitor.alerts.find(({ code }) => code === 'chain-not-derived')?.detail ?? '', 'source-skipped');
});

test.run();

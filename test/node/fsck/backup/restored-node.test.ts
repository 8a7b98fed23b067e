import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { copyStore } from '../../../../node/fsck/backup/copy-store.ts';
import { readRestorations } from '../../../../node/federation/start/restoration-table.ts';
import { agentKeyTable, agentPart } from '../../../../node/governance/agents/agent-tables.ts';
import { holdTable } from '../../../../node/governance/lock-tables.ts';
import { logEntryTable } from '../../../../node/log/log-tables.ts';
import { purgeDueTable } from '../../../../node/store/due-purges.ts';
import { Store } from '../../../../node/store/store.ts';
import { nodeId, recordId } from '../../../../protocol/ids.ts';
import { requireWholeHome } from '../../../crash/whole-home.ts';
import { filesHolding } from '../../../fixtures/store-files.ts';
import { TestNetwork } from '../../../fixtures/test-network.ts';
import { API_KEYS, type TestNode } from '../../../fixtures/test-node.ts';
import { until } from '../../../fixtures/until.ts';
import { accepted, Registry } from '../../governance/agents/agent-fixture.ts';
import { healthOf, signerOf, waitsOf } from '../../federation/start/starting.ts';

const EU = nodeId('eu');
const NEVER = new AbortController().signal;

/** Puts the copy in the place of a stopped node's store. */
async function roll(node: TestNode, copy: string): Promise<void> {
  const store = join(node.config.home, 'store');
  await rm(store, { recursive: true });
  await cp(copy, store, { recursive: true });
}

/** The federation's log in a copied store. */
async function entriesOf(copy: string): Promise<string[]> {
  await using store = await Store.open(copy);
  return (await Array.fromAsync(logEntryTable.under(store, []))).map(([, { text }]) => text);
}

test('a copy opened while the federation has moved on waits for members and ledger, then goes on where the chain ended', async () => {
  // The clock of the starts stands still: nothing is signed because time has passed.
  await using network = await TestNetwork.start({
    nodes: ['eu', 'us', 'jp'],
    ledger: 'local',
    overrides: { monotonic: () => 0 },
  });
  const [eu, us, jp] = [network.node('eu'), network.node('us'), network.node('jp')];
  const folder = await mkdtemp(join(tmpdir(), 'meridian-copy-'));
  const copy = join(folder, 'store');

  await eu.attest({ input: 1 });
  await eu.seal();
  await until('the decision', () => eu.context.federationLog.size > 0);
  const root = await eu.context.federationLog.rootAt(1);
  const open = await eu.attest({ input: 2 });
  const taken = await copyStore(eu.context.store, copy, EU, Date.now, NEVER);
  assert.equal([taken.held, taken.unsealed], [{ batch: 1, next: 2 }, 1]);
  assert.is((await entriesOf(copy))[0], await eu.context.federationLog.entry(0));
  const later = await eu.attest({ input: 3 });
  await eu.seal();
  const { chains } = us.context;
  await until('us to hold it', () => chains.head(EU).batch === 2 && jp.context.chains.head(EU).batch === 2);
  await until('the anchors', async () => (await eu.context.anchoring.state()).backlog === 0);
  const lost = await eu.attest({ input: 4 });
  await eu.stop();
  await us.stop();
  await jp.stop();

  // All others are down: nothing of the topic is final, and nobody tells anything.
  await roll(eu, copy);
  const starting = eu.start();
  await until('a look', async () => (await waitsOf(eu)).join() === 'ledger,members');
  assert.is(await signerOf(eu), '503 recovering');
  const refused = await eu.post('/v1/attest', { sourceId: 'test', data: {} }, { key: API_KEYS.unmetered });
  assert.equal([refused.status, refused.body.code], [503, 'recovering']);
  assert.is((await eu.get('/v1/federation', { key: null })).status, 200, 'what anyone may read goes on');

  // One of them has everything, but the other one is asked too.
  const usStarts = us.start();
  await until('one answer', async () => {
    const [wait, ...others] = (await healthOf(eu)).waits;
    const expected = { ...wait, for: 'members', answered: ['us'], missing: ['jp'], needed: 1 };
    return others.length === 0 && isDeepStrictEqual(wait, expected);
  });
  assert.is(await signerOf(eu), '503 recovering');
  await Promise.all([starting, usStarts, jp.start()]);
  assert.is(await signerOf(eu), '200 ok');

  const { store } = eu.context;
  assert.is(eu.context.chains.head(EU).batch, 2);
  for (const [id, found] of [
    [open, true],
    [later, true],
    [lost, false],
  ] as const) {
    assert.is((await eu.get(`/v1/verify/${id}`)).body.found, found, id);
  }
  assert.is(await eu.context.federationLog.rootAt(1), root);
  const [row] = await readRestorations(store, EU);
  assert.equal(
    [row?.held, row?.settled?.end],
    [
      { batch: 1, next: 2 },
      { batch: 2, next: 4 },
    ],
  );
  assert.equal(row?.settled?.peers.toSorted(), ['jp', 'us']);
  const next = await eu.attest({ input: 5 });
  assert.is((await eu.context.evidence(recordId(next)))?.record.seq, 4, 'the numbers go on');
  await eu.seal();
  for (const node of [us, jp]) {
    await until('the next batch', () => node.context.chains.head(EU).batch === 3);
    assert.equal(node.context.equivocations.all(), []);
  }
  await eu.stop();
  await requireWholeHome(eu.config.home);
  await rm(folder, { recursive: true });
});

test('keys of agents and holds that ended after a copy was taken end in the restored store, which stays whole', async () => {
  await using network = await TestNetwork.start({ nodes: ['eu', 'us'], ledger: 'local' });
  const [eu, us] = [network.node('eu'), network.node('us')];
  const registry = new Registry(eu);
  for (const agentId of ['ended', 'rotated', 'kept']) await registry.registered({ agentId });
  const keys = await Array.fromAsync(agentKeyTable.under(eu.context.store, []));
  const hold = { regulatoryBasis: 'GDPR', retentionPeriodDays: 1825, scope: 'all', legalHold: true, lockedBy: 'Anna' };
  const placed = accepted(await eu.post('/v1/retention-lock', { sourceId: 'held', ...hold }));
  const other = await registry.keyWith({ name: 'second person', preset: 'compliance' });
  await eu.seal();
  const folder = await mkdtemp(join(tmpdir(), 'meridian-copy-'));
  await copyStore(eu.context.store, join(folder, 'store'), EU, Date.now, NEVER);

  accepted(await registry.change('ended', 'deactivate', { reason: 'it is not used any more' }));
  accepted(await registry.change('rotated', 'rotate', { reason: 'the key was stolen' }));
  const release = { lockId: String(placed.lockId), releasedBy: 'Bert' };
  accepted(await eu.post('/v1/retention-lock/release', release, other));
  await eu.seal();
  await until('us to hold it', () => us.context.chains.head(EU).batch === 2);
  await eu.stop();
  await roll(eu, join(folder, 'store'));
  await eu.start();

  const { store } = eu.context;
  const left = await Array.fromAsync(agentKeyTable.under(store, []), ([[agent]]) => agent);
  assert.equal(left, [agentPart('kept')]);
  assert.equal(await Array.fromAsync(holdTable.under(store, [])), []);
  await until('the purge', async () => (await Array.fromAsync(purgeDueTable.under(store, []))).length === 0);
  for (const [[agent], key] of keys) {
    assert.is((await filesHolding(store.directory, key)).length > 0, agent === agentPart('kept'));
  }
  await eu.stop();
  await requireWholeHome(eu.config.home);
  await rm(folder, { recursive: true });
});

test('with the others and the ledger away a copy signs nothing, and a start that is called off leaves it a copy', async () => {
  await using network = await TestNetwork.start({ nodes: ['eu', 'us'], ledger: 'local' });
  const eu = network.node('eu');
  await eu.attest({ input: 1 });
  const folder = await mkdtemp(join(tmpdir(), 'meridian-copy-'));
  await copyStore(eu.context.store, join(folder, 'store'), EU, Date.now, NEVER);
  await eu.stop();
  await network.node('us').stop();
  network.ledger.local?.ledger.faults.set({ mirrorDown: true });
  await roll(eu, join(folder, 'store'));
  const stop = new AbortController();
  const starting = eu.start(stop.signal);
  await until('a look', async () => (await waitsOf(eu)).join() === 'ledger,members');
  stop.abort();
  await starting.then(
    () => assert.unreachable(),
    () => undefined,
  );
  assert.is(await signerOf(eu), null);
  await requireWholeHome(eu.config.home);
  await rm(folder, { recursive: true });
});

test.run();

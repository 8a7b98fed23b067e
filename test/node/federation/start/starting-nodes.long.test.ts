import { cp, mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { OperatorError, operatorRequest } from '../../../../node/operator/operator-client.ts';
import { readHead } from '../../../../node/records/batch-tables.ts';
import { LEDGER_LIMIT_MS } from '../../../../node/federation/start/node-start.ts';
import { nodeId } from '../../../../protocol/ids.ts';
import { isRevoked } from '../../../../protocol/log/decision-state.ts';
import { type NetworkOptions, TestNetwork } from '../../../fixtures/test-network.ts';
import { TestNode } from '../../../fixtures/test-node.ts';
import { until } from '../../../fixtures/until.ts';
import { inForce, nextRoster, vote } from '../roster-voting.ts';
import { healthOf, signerOf, waitsOf } from './starting.ts';

const EU = nodeId('eu');

/**
 * The clock that starts wait by stands still until a test moves it: what is ready before has not waited for time to
 * pass.
 */
interface Stage {
  readonly network: TestNetwork;
  passed: number;
}

async function stage(options: NetworkOptions): Promise<Stage & AsyncDisposable> {
  const clock = { passed: 0 };
  const network = await TestNetwork.start({
    ledger: 'local',
    overrides: { monotonic: () => clock.passed },
    ...options,
  });
  return Object.assign(clock, { network, [Symbol.asyncDispose]: () => network[Symbol.asyncDispose]() });
}

/** A record and its batch, decided and held by all that are awake. */
async function record(from: TestNode, holders: readonly TestNode[]): Promise<void> {
  await from.attest({ input: from.context.chains.head(EU).batch + 1 });
  await from.seal();
  const { batch } = from.context.chains.head(EU);
  for (const node of holders) {
    await until('the decision', () => node.context.federationLog.state.members.eu?.last?.batch === batch);
    await until('the batch', () => node.context.chains.head(EU).batch === batch);
  }
}

test('a federation that starts for the first time waits for nothing, nor does one that is restarted at once', async () => {
  await using scene = await stage({ nodes: ['eu', 'us', 'jp'] });
  const { network } = scene;
  const all = ['eu', 'us', 'jp'].map((id) => network.node(id));
  const [eu = network.node()] = all;
  await record(eu, all);
  for (const node of all) await node.stop();
  await Promise.all(all.map((node) => node.start()));
  for (const node of all) assert.is(await signerOf(node), '200 ok');
  await record(eu, all);
});

test('a node whose peers are up is ready at once, and one whose peer is away once the ledger was read again after the limit', async () => {
  await using scene = await stage({ nodes: ['eu', 'us', 'jp'] });
  const { network } = scene;
  const [eu, us, jp] = [network.node('eu'), network.node('us'), network.node('jp')];
  await record(eu, [eu, us, jp]);
  await eu.stop();
  await eu.start();
  assert.is(await signerOf(eu), '200 ok');

  await jp.stop();
  await eu.stop();
  const starting = eu.start();
  await until('it to wait for jp alone', async () => (await waitsOf(eu)).join() === 'members');
  const [wait] = (await healthOf(eu)).waits;
  assert.equal(wait, { ...wait, answered: ['us'], missing: ['jp'], needed: 1 });
  assert.is(await signerOf(eu), '503 recovering');
  // Members are told what they ask while the node waits.
  assert.ok(us.context.transport.peers().some(({ node, connected }) => node === EU && connected));
  scene.passed = LEDGER_LIMIT_MS;
  await starting;
  assert.is(await signerOf(eu), '200 ok');
  await record(eu, [eu, us]);
});

test('a key is revoked while its node waits, which signs with another one from the first', async () => {
  await using scene = await stage({ nodes: ['eu', 'us', 'jp'] });
  const { network } = scene;
  const [eu, us, jp] = [network.node('eu'), network.node('us'), network.node('jp')];
  await record(eu, [eu, us, jp]);
  const stolen = eu.context.ownKeys.keyId;
  await jp.stop();
  await eu.stop();
  const starting = eu.start();
  // Where the test fails before, it is called off.
  starting.catch(() => undefined);
  await until('it to wait for jp alone', async () => (await waitsOf(eu)).join() === 'members');
  const socket = join(eu.config.home, 'operator.sock');
  const answer = await operatorRequest(socket, 'POST', '/signing-keys/revoke', { note: 'stolen' });
  const { keyId, replacedBy }: { keyId: string; replacedBy: string } = JSON.parse(answer);
  assert.is(keyId, stolen);
  await until('the revocation in force', () => isRevoked(us.context.federationLog.state, EU, stolen));
  await operatorRequest(socket, 'POST', '/signing-keys/rotate', {}).then(
    () => assert.unreachable(),
    (error: unknown) => assert.ok(error instanceof OperatorError && error.status === 503),
  );
  scene.passed = LEDGER_LIMIT_MS;
  await starting;
  assert.is(eu.context.ownKeys.keyId, replacedBy);
  await record(eu, [eu, us]);
  const last = await readHead(us.context.store, EU);
  assert.is(last?.envelope.keyId, replacedBy);
});

test('a roster is named while a node waits: who is gone for good is dropped by those that are left', async () => {
  await using scene = await stage({ nodes: ['eu', 'us', 'jp'] });
  const { network } = scene;
  const [eu, us, jp] = [network.node('eu'), network.node('us'), network.node('jp')];
  await record(eu, [eu, us, jp]);
  await jp.stop();
  await eu.stop();
  const starting = eu.start();
  starting.catch(() => undefined);
  await until('it to wait for jp alone', async () => (await waitsOf(eu)).join() === 'members');
  const { members } = us.context.keys.currentRosters.inForce.current;
  const next = nextRoster(us, { members: members.filter(({ node }) => node !== 'jp'), quorum: 1 });
  await vote(us, next);
  await vote(eu, next);
  await inForce([us], next);
  scene.passed = LEDGER_LIMIT_MS;
  await starting;
  await inForce([eu], next);
});

test('the operator’s word that this is no copy replaces those who are away', async () => {
  await using scene = await stage({ nodes: ['eu', 'us', 'jp'] });
  const { network } = scene;
  const [eu, us, jp] = [network.node('eu'), network.node('us'), network.node('jp')];
  await record(eu, [eu, us, jp]);
  await jp.stop();
  await eu.stop();
  await using alone = new TestNode({ ...eu.config, startsAlone: true }, { monotonic: () => 0 });
  await alone.start();
  assert.is(await signerOf(alone), '200 ok');
  await record(alone, [alone, us]);
});

test('a federation of one is ready at once where it was stopped in order, and after the limit where it was not', async () => {
  await using scene = await stage({ nodes: ['eu'] });
  const eu = scene.network.node();
  await record(eu, [eu]);
  const folder = await mkdtemp(join(tmpdir(), 'meridian-start-'));
  const store = join(eu.config.home, 'store');
  await cp(store, join(folder, 'store'), { recursive: true });
  await eu.stop();
  await eu.start();
  assert.is(await signerOf(eu), '200 ok');

  // As a kill would have left it.
  await eu.stop();
  await rm(store, { recursive: true });
  await cp(join(folder, 'store'), store, { recursive: true });
  const starting = eu.start();
  await until('it to wait', async () => (await waitsOf(eu)).join() === 'time');
  scene.passed = LEDGER_LIMIT_MS;
  await starting;
  await record(eu, [eu]);
  await rm(folder, { recursive: true });
});

test('a store that was lost is filled from the others before anything is signed, and what was not decided then is', async () => {
  await using scene = await stage({ nodes: ['eu', 'us', 'jp'] });
  const { network } = scene;
  const [eu, us, jp] = [network.node('eu'), network.node('us'), network.node('jp')];
  await record(eu, [eu, us, jp]);
  // The next one reaches the others, and not the ledger.
  network.ledger.local?.ledger.faults.set({ roundPaused: true });
  await eu.attest({ input: 2 });
  await eu.seal();
  for (const node of [us, jp]) await until('the batch', () => node.context.chains.head(EU).batch === 2);
  await eu.stop();
  await rm(join(eu.config.home, 'store'), { recursive: true });
  const starting = eu.start();
  await until('it to wait for the decision', async () => (await waitsOf(eu)).join() === 'decision');
  assert.is(await signerOf(eu), '503 recovering');
  network.ledger.local?.ledger.faults.set({ roundPaused: false });
  await starting;
  assert.is(eu.context.chains.head(EU).batch, 2);
  assert.equal(us.context.equivocations.all(), []);
  await record(eu, [eu, us, jp]);
});

test('who answered a start names in that node’s place only what it told it, or had from it since', async () => {
  await using scene = await stage({ nodes: ['eu', 'us'] });
  const { network } = scene;
  const [eu, us] = [network.node('eu'), network.node('us')];
  await record(eu, [eu, us]);
  await eu.stop();
  await eu.start();
  assert.ok(us.context.starts.mayRescue(EU, 1));
  assert.not(us.context.starts.mayRescue(EU, 2));
  await record(eu, [eu, us]);
  await until('it to be noted', () => us.context.starts.mayRescue(EU, 2));
});

test('a batch that is on the ledger and that nobody who answers holds is waited for: its number is not signed again', async () => {
  await using scene = await stage({ nodes: ['eu', 'us'] });
  const both = ['eu', 'us'].map((id) => scene.network.node(id));
  const [eu = scene.network.node(), us = scene.network.node()] = both;
  const folder = await mkdtemp(join(tmpdir(), 'meridian-start-'));
  const storeOf = ({ config }: TestNode) => join(config.home, 'store');
  const copyOf = ({ config }: TestNode, name: string) => join(folder, `${config.id}-${name}`);
  await record(eu, both);
  for (const node of both) await node.stop();
  for (const node of both) await cp(storeOf(node), copyOf(node, 'old'), { recursive: true });
  await Promise.all(both.map((node) => node.start()));
  await record(eu, both);
  for (const node of both) await node.stop();
  await rename(storeOf(us), copyOf(us, 'new'));
  await rm(storeOf(eu), { recursive: true });
  for (const node of both) await cp(copyOf(node, 'old'), storeOf(node), { recursive: true });

  const starting = eu.start();
  starting.catch(() => undefined);
  await us.start();
  await until('it to wait for the batch', async () => (await waitsOf(eu)).join() === 'batches');
  scene.passed = LEDGER_LIMIT_MS;
  await us.stop();
  assert.equal(
    (await healthOf(eu)).waits.find((wait) => wait.for === 'batches'),
    { for: 'batches', held: 1, known: 2 },
  );
  assert.is(await signerOf(eu), '503 recovering');
  await rm(storeOf(us), { recursive: true });
  await rename(copyOf(us, 'new'), storeOf(us));
  await us.start();
  await starting;
  assert.is(eu.context.chains.head(EU).batch, 2);
  await record(eu, both);
  for (const { context } of both) assert.equal(context.equivocations.all(), []);
  await rm(folder, { recursive: true });
});

test.run();

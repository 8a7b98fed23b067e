import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nodeId, recordId } from '../../../protocol/ids.ts';
import { TestNetwork } from '../../fixtures/test-network.ts';
import type { TestNode } from '../../fixtures/test-node.ts';
import { until } from '../../fixtures/until.ts';
import { confirms, inForce, nextRoster, vote } from '../federation/roster-voting.ts';

const RESCUE_AFTER_MS = 1_000;
const LEAVE_MS = 6_000;

const network = await TestNetwork.start({
  nodes: ['au', 'ca', 'eu', 'jp', 'us'],
  quorum: 2,
  ledger: 'local',
  overrides: { rescue: { afterMs: RESCUE_AFTER_MS }, leaving: { leaveMs: LEAVE_MS } },
});
test.after(() => network[Symbol.asyncDispose]());
const [au, ca, eu, jp, us] = [
  network.node('au'),
  network.node('ca'),
  network.node('eu'),
  network.node('jp'),
  network.node('us'),
];
const remaining = [eu, jp, us];

const removedOf = async (node: TestNode) => (await node.get('/v1/health')).body.removed;
const isVerified = async (node: TestNode, id: string) => (await node.get(`/v1/verify/${id}`)).body.verified === true;
const peersOf = ({ context }: TestNode) => context.transport.peers().map(({ node }) => node);

let [lastOfCa, lastOfAu] = ['', ''];

test('what a removed member recorded last is decided and verified at the others; then it is released, and signs nothing', async () => {
  await confirms(au, [eu]);
  await confirms(ca, [eu]);
  lastOfAu = await au.attest({ recorded: 'before it was switched off' });
  await au.stop();
  lastOfCa = await ca.attest({ recorded: 'and not sealed' });
  const members = ['eu', 'jp', 'us'].map((id) => network.member(id));
  const text = nextRoster(eu, { members, quorum: 1 });
  for (const node of remaining) await vote(node, text);
  await inForce([...remaining, ca], text);
  await until('ca to hear it', async () => (await ca.get('/v1/health')).body.removed !== null);
  assert.is((await ca.post('/v1/attest', { sourceId: 'test', data: { input: 1 } })).status, 503);
  for (const node of remaining) await until('its last record', () => isVerified(node, lastOfCa));
  await until('its release', async () => JSON.stringify(await removedOf(ca)) === '{"released":true}');
  assert.equal(ca.context.sealer.waiting, 0);
  await until('ca to hang up', () => peersOf(ca).length === 0);
  await until('the others to let it in no more', () => remaining.every((node) => !peersOf(node).includes('ca')));
  assert.is(ca.log.filter((line) => line.includes('it may be stopped')).length, 1);
  const health = await ca.get('/v1/health');
  assert.equal([health.status, Object(health.body.checks).signer], [503, 'removed']);
  assert.is((await ca.get(`/v1/proofs/${lastOfCa}`)).status, 200, 'it goes on to serve what it has');
});

test('one that was released starts again, serves, and stays alone', async () => {
  await ca.stop();
  await ca.start();
  assert.equal(await removedOf(ca), { released: true });
  assert.equal(peersOf(ca), []);
  assert.ok(await isVerified(ca, lastOfCa));
  assert.ok((await ca.context.evidence(recordId(lastOfCa)))?.decision);
});

test('one that was removed while it was off comes back, brings what it recorded, and is released', async () => {
  const { past } = eu.context.federationLog.state;
  assert.is(past.au?.last?.batch, 1);
  assert.ok(peersOf(eu).includes('au'), 'it is let in');
  await au.start();
  for (const node of remaining) await until('its last record', () => isVerified(node, lastOfAu));
  await until('its release', async () => JSON.stringify(await removedOf(au)) === '{"released":true}');
  assert.is(eu.context.federationLog.state.past.au?.last?.batch, au.context.chains.head(nodeId('au')).batch);
});

test.run();

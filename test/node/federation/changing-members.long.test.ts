import { writeFile } from 'node:fs/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nodeId } from '../../../protocol/ids.ts';
import { rosterFileValue } from '../../../protocol/keys/roster-file.ts';
import { recordId } from '../../../protocol/ids.ts';
import { readRecord } from '../../../node/records/record-reader.ts';
import { TestNetwork } from '../../fixtures/test-network.ts';
import type { TestNode } from '../../fixtures/test-node.ts';
import { until } from '../../fixtures/until.ts';
import { confirms, inForce, nextRoster, vote } from './roster-voting.ts';

const ZA = nodeId('za');
const NODES = ['eu', 'us', 'ca', 'sg', 'jp'];

/** Of five members three are a majority. */
const network = await TestNetwork.start({
  nodes: NODES,
  later: ['za'],
  quorum: 2,
  ledger: 'local',
  overrides: { leaving: { leaveMs: 1_000 }, rescue: { afterMs: 1_000 } },
});
test.after(() => network[Symbol.asyncDispose]());
const [eu, us, ca, sg, jp] = [
  network.node('eu'),
  network.node('us'),
  network.node('ca'),
  network.node('sg'),
  network.node('jp'),
];
const za = network.node('za');

/** The next roster with these members. */
function rosterOf(node: TestNode, members: readonly string[], quorum: number): string {
  return nextRoster(node, { members: members.map((id) => network.member(id)), quorum });
}

/** Writes what a node knows to the file that all are given at their next start. */
async function giveRosters({ context }: TestNode): Promise<void> {
  await writeFile(network.rosterFile, JSON.stringify(rosterFileValue(context.keys.rosters.given)));
}

async function seqOf(node: TestNode, id: string): Promise<number> {
  return (await readRecord(node.context.store, recordId(id)))?.record.seq ?? 0;
}

test('two of five that are gone for good are dropped by the other three, which go on confirming', async () => {
  await confirms(sg, [eu, us, ca]);
  for (const node of [sg, jp]) await node.stop();
  const remaining = [eu, us, ca];
  await confirms(eu, remaining);
  const text = rosterOf(eu, ['eu', 'us', 'ca'], 1);
  for (const node of remaining) await vote(node, text);
  await inForce(remaining, text);
  // Now that there are three, two of them are enough.
  await ca.stop();
  await confirms(us, [eu, us]);
  await ca.start();
});

test('a new member starts with a roster file, and derives all history by its own log', async () => {
  const text = rosterOf(eu, ['eu', 'us', 'ca', 'za'], 2);
  for (const node of [eu, us]) await vote(node, text);
  await inForce([eu, us, ca], text);
  await giveRosters(us);
  await za.start();
  await inForce([za], text);
  assert.equal(za.context.keys.currentRosters.inForce.hashes, eu.context.keys.currentRosters.inForce.hashes);
  await until('za to vouch for all that eu does', () => {
    const [own, theirs] = [za.context.vouching.vouched(), eu.context.vouching.vouched()];
    return theirs.size >= 3 && [...theirs].every(([node, batch]) => (own.get(node) ?? 0) >= batch);
  });
  await confirms(za, [eu, us, ca, za]);
});

test('a member that is removed hears it, is hung up and signs nothing more; one that returns goes on with its numbers', async () => {
  await confirms(za, [za]);
  const last = await za.attest({ recorded: 'and not sealed' });
  const seq = await seqOf(za, last);
  const without = rosterOf(eu, ['eu', 'us', 'ca'], 1);
  for (const node of [eu, us, ca]) await vote(node, without);
  await inForce([eu, us, ca, za], without);
  await until('za to be halted', () => za.context.federation.halted === 'removed');
  assert.is((await za.post('/v1/attest', { sourceId: 'test', data: { input: 1 } })).status, 503);
  const removedAt = za.context.federationLog.state.rosters.at(-1)?.index ?? Number.POSITIVE_INFINITY;
  await until('the last word of za', () => {
    return [eu, us, ca].every(({ context }) => (context.checkpointStore.newest(ZA)?.checkpoint.size ?? 0) > removedAt);
  });
  await until('what za recorded last', () => {
    return [eu, us, ca].every(({ context }) => context.chains.head(ZA).batch === za.context.chains.head(ZA).batch);
  });
  assert.is(za.context.sealer.waiting, 0);
  await until('za to be alone', () => za.context.transport.peers().every(({ connected }) => !connected));
  await until('za to be hung up', () => eu.context.transport.peers().every(({ node }) => node !== 'za'));
  await za.stop();
  await za.start();
  assert.equal((await za.get('/v1/health')).body.removed, { released: true });
  await za.stop();
  const again = rosterOf(eu, ['eu', 'us', 'ca', 'za'], 2);
  for (const node of [us, ca]) await vote(node, again);
  await inForce([eu, us, ca], again);
  await giveRosters(eu);
  await za.start();
  const next = await confirms(za, [eu, us, ca, za]);
  assert.is(await seqOf(za, next), seq + 1);
  assert.is(za.context.chains.head(nodeId('za')).batch, eu.context.federationLog.state.members.za?.last?.batch);
});

test('a roster file that the ledger came not to is overruled, loudly', async () => {
  const before = eu.context.keys.rosters.given;
  const text = nextRoster(eu, { name: 'decided' });
  const given = { ...before, later: [...before.later, nextRoster(eu, { name: 'only given' })] };
  await za.stop();
  for (const node of [eu, us, ca]) await vote(node, text);
  await inForce([eu, us, ca], text);
  await writeFile(network.rosterFile, JSON.stringify(rosterFileValue(given)));
  await za.start();
  await inForce([za], text);
  await until('the ledger to hold', () => za.context.keys.rosters.current.name === 'decided');
  const { rosterContradiction } = (await za.get('/v1/federation')).body;
  const { version } = za.context.keys.rosters.current;
  assert.is(Object(rosterContradiction).version, version);
  assert.ok(za.log.some((line) => line.includes('ANOTHER ROSTER')));
});

test.run();

import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { OperatorError, operatorRequest } from '../../../node/operator/operator-client.ts';
import { RosterVoteError } from '../../../node/federation/roster-votes.ts';
import { nativeSuite } from '../../../node/keys/native-suite.ts';
import { readNodeKeys } from '../../../node/keys/node-keys.ts';
import { utf8 } from '../../../protocol/bytes.ts';
import { nodeId } from '../../../protocol/ids.ts';
import type { SignedRoster } from '../../../protocol/keys/signed-roster.ts';
import { type Roster, hashOfRoster, rosterStatement } from '../../../protocol/log/roster.ts';
import { encodeSignature } from '../../../protocol/statement/statement.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { TestNetwork } from '../../fixtures/test-network.ts';
import type { TestNode } from '../../fixtures/test-node.ts';
import { until } from '../../fixtures/until.ts';

const NODES = ['eu', 'us', 'jp'];

const network = await TestNetwork.start({ nodes: NODES, ledger: 'local' });
test.after(() => network[Symbol.asyncDispose]());
const nodes = NODES.map((id) => network.node(id));
const [eu, us, jp] = [network.node('eu'), network.node('us'), network.node('jp')];

/** The next roster, with all identity keys: a quorum that signs whatever it likes. */
async function nextRoster(change: Partial<Roster>): Promise<SignedRoster> {
  const { current, hash } = eu.context.keys.rosters;
  const roster: Roster = { ...current, version: current.version + 1, previous: hash, ...change };
  const statement = rosterStatement.write(roster);
  const signatures: SignedRoster['signatures'] = [];
  for (const { config } of nodes) {
    const { identity } = await readNodeKeys(config.home);
    const signature = encodeSignature(await identity.sign(utf8(statement), rosterStatement.context));
    signatures.push({ node: nodeId(config.id), signature });
  }
  return { statement, signatures };
}

async function publish(node: TestNode, { statement, signatures }: SignedRoster): Promise<unknown> {
  const roster = { statement, signatures: signatures.map(({ node: by, signature }) => ({ node: by, signature })) };
  return JSON.parse(await operatorRequest(join(node.config.home, 'operator.sock'), 'POST', '/rosters', { roster }));
}

function inForce(name: string): Promise<void> {
  return until(`${name} to be in force`, () =>
    nodes.every(({ context }) => context.keys.rosters.current.name === name),
  );
}

function anchored(roster: SignedRoster): Promise<void> {
  const naming = { type: 'roster', text: roster.statement } as const;
  return until('the ledger to name it', async () => {
    const anchors = await Promise.all(nodes.map(({ context }) => context.anchoring.statementAnchor(naming)));
    return anchors.every((anchor) => anchor !== undefined);
  });
}

async function assertRefused(node: TestNode, roster: SignedRoster): Promise<void> {
  const refusal: unknown = await publish(node, roster).catch((error: unknown) => error);
  assert.instance(refusal, OperatorError);
  assert.match(String(refusal), 'kept as proof');
}

const named = await nextRoster({ name: 'named first' });
const seen = await nextRoster({ name: 'seen first' });

test('a roster published at one node is in force at all of them, and anchored once', async () => {
  // Somebody has the ledger name a roster that nobody has seen yet: that changes nothing.
  const { anchoring, store } = jp.context;
  await store.write([anchoring.statementEntry({ type: 'roster', text: named.statement }, timestampOf(Date.now()))]);
  anchoring.noteSealed();
  await anchored(named);
  assert.equal(await publish(eu, seen), {
    success: true,
    outcome: 'added',
    version: 2,
    hash: hashOfRoster(nativeSuite, seen.statement),
  });
  const began = performance.now();
  await inForce('seen first');
  console.log(`in force on all after ${(performance.now() - began).toFixed(0)} ms`);
  await anchored(seen);
});

test('the rival that the ledger named before it takes its place at every node, without a restart', async () => {
  const began = performance.now();
  await publish(us, named);
  await inForce('named first');
  await assertRefused(jp, seen);
  console.log(`decided by the ledger on all after ${(performance.now() - began).toFixed(0)} ms`);
  for (const node of nodes) {
    const { rivalRosters } = (await node.get('/v1/federation')).body;
    assert.equal(rivalRosters, [{ version: 2, hash: hashOfRoster(nativeSuite, seen.statement) }]);
  }
});

test('a node signs one roster of a version, and another only when its operator insists', async () => {
  const [one, other] = [await nextRoster({ name: 'one' }), await nextRoster({ name: 'other' })];
  const { rosterVotes } = us.context;
  const vote = await rosterVotes.sign(one.statement, false);
  assert.is(vote.node, 'us');
  assert.equal((await rosterVotes.sign(one.statement, false)).node, 'us');
  const refusal: unknown = await rosterVotes.sign(other.statement, false).catch((error: unknown) => error);
  assert.instance(refusal, RosterVoteError);
  assert.match(String(refusal), 'us signed another roster of version 3');
  assert.is((await rosterVotes.sign(other.statement, true)).node, 'us');
  const past: unknown = await rosterVotes.sign(seen.statement, true).catch((error: unknown) => error);
  assert.match(String(past), 'does not follow');
});

test('the federation goes on under the roster that holds', async () => {
  await publish(jp, await nextRoster({ name: 'third' }));
  await inForce('third');
  const id = await eu.attest({ input: 1 });
  await eu.seal();
  await until('us to verify it', async () => (await us.get(`/v1/verify/${id}`)).body.verified === true);
  await us.stop();
  await us.start();
  assert.is(us.context.keys.rosters.current.name, 'third');
});

test.run();

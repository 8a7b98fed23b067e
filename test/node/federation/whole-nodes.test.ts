import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { encodeGossip } from '../../../node/federation/gossip-forms.ts';
import { readBatch } from '../../../node/records/batch-tables.ts';
import { nodeId, recordId } from '../../../protocol/ids.ts';
import { envelopeStatement } from '../../../protocol/chain/envelope.ts';
import { signStatement } from '../../../protocol/statement/statement.ts';
import type { JsonObject } from '../../../protocol/json/value.ts';
import { isJsonObject } from '../../../protocol/json/value.ts';
import { readNodeKeys } from '../../../node/keys/node-keys.ts';
import { TestNetwork } from '../../fixtures/test-network.ts';
import type { TestNode } from '../../fixtures/test-node.ts';
import { until } from '../../fixtures/until.ts';
import { rowsOf, sorted } from '../records/counts/tally-fixture.ts';

const NODES = ['eu', 'us', 'jp'];

function checksOf({ cryptoVerification }: JsonObject): JsonObject {
  const checks = isJsonObject(cryptoVerification) ? cryptoVerification.checks : undefined;
  return isJsonObject(checks) ? checks : {};
}

async function verify(node: TestNode, id: string): Promise<JsonObject> {
  return (await node.get(`/v1/verify/${id}`)).body;
}

/** Waits until a node holds the batch that a record is sealed in. */
async function holds(node: TestNode, origin: string, batch: number): Promise<void> {
  const head = () => node.context.chains.head(nodeId(origin)).batch;
  await until(`${node.config.id} to hold ${origin}/${batch}`, () => head() >= batch);
}

test('a record that is not sealed yet is verified at another node, as far as it can be', async () => {
  await using network = await TestNetwork.start({ nodes: NODES });
  const id = await network.node('eu').attest({ input: 1, decision: 'yes' });
  await until('the nodes to be connected', async () => (await verify(network.node('us'), id)).found === true);
  const body = await verify(network.node('us'), id);
  assert.equal([body.status, body.sigValid, body.verified], ['pending', true, false]);
  assert.equal([body.payloadState, checksOf(body).payloadHashMatch], ['available', true]);
});

test('under the residency `region` a payload is withheld from other nodes, and nothing is claimed of it', async () => {
  await using network = await TestNetwork.start({
    nodes: NODES,
    config: { payloadResidency: 'region' },
    ledger: 'local',
  });
  const [eu, us] = [network.node('eu'), network.node('us')];
  const id = await eu.attest({ input: 1, decision: 'yes' });
  await eu.seal();
  await holds(us, 'eu', 1);
  await until('the anchor', async () => (await verify(us, id)).verified === true);
  const body = await verify(us, id);
  assert.equal([body.payloadState, checksOf(body).payloadHashMatch], ['withheld', false]);
  const own = await verify(eu, id);
  assert.equal([own.payloadState, checksOf(own).payloadHashMatch], ['available', true]);
});

test('with the origin dead its records are verified from the other nodes’ own stores', async () => {
  await using network = await TestNetwork.start({ nodes: NODES, ledger: 'local' });
  const [eu, us, jp] = [network.node('eu'), network.node('us'), network.node('jp')];
  const id = await eu.attest({ input: 1, decision: 'yes' });
  await eu.seal();
  for (const node of [us, jp]) await holds(node, 'eu', 1);
  for (const node of [eu, us, jp]) {
    await until('five checks', async () =>
      Object.values(checksOf(await verify(node, id))).every((check) => check === true),
    );
  }
  for (const node of [us, jp]) await until('the anchor', async () => (await verify(node, id)).verified === true);
  await eu.stop();
  for (const node of [us, jp]) {
    await until('the origin to be missed', async () => (await verify(node, id)).payloadState === 'unreachable');
    const body = await verify(node, id);
    assert.equal([body.verified, body.witnessed, body.sigValid], [true, true, true]);
    const { leafRederived, proofWalk, bundleBinding, payloadHashMatch } = checksOf(body);
    assert.equal([leafRederived, proofWalk, bundleBinding, payloadHashMatch], [true, true, true, false]);
  }
});

test('two envelopes that the ledger does not name are shown by every node that was told of them, and halt their own', async () => {
  await using network = await TestNetwork.start({ nodes: NODES });
  const [eu, us, jp] = [network.node('eu'), network.node('us'), network.node('jp')];
  await eu.attest({ input: 1 });
  await eu.seal();
  for (const node of [us, jp]) await holds(node, 'eu', 1);
  const batch = await readBatch(us.context.store, nodeId('eu'), 1);
  if (batch === undefined) throw new Error('no batch');
  const { signer } = await readNodeKeys(eu.config.home);
  const rival = { ...batch.envelope, size: batch.envelope.size + 1 };
  const signed = await signStatement(envelopeStatement, rival, signer);
  await us.context.federation.receive(encodeGossip({ type: 'envelope', signed }), 'eu');
  for (const node of [us, jp]) {
    await until('the news', async () => {
      const { equivocations } = (await node.get('/v1/federation')).body;
      return JSON.stringify(equivocations) === '[{"node":"eu","batch":1,"stands":false}]';
    });
  }
  // Its own two signatures reach the node too, and it signs nothing more.
  await until('the halt', () => eu.context.federation.halted === 'forked');
  const refused = await eu.post('/v1/attest', { sourceId: 'test', data: { input: 2 } });
  assert.is(refused.status, 503);
  assert.is((await eu.get('/v1/health')).status, 503);
});

test('a node whose store was lost goes on where its chain and its sources ended', async () => {
  await using network = await TestNetwork.start({ nodes: NODES, ledger: 'local' });
  const [eu, us, jp] = [network.node('eu'), network.node('us'), network.node('jp')];
  const ids: string[] = [];
  for (let i = 0; i < 6; i++) {
    ids.push(await eu.attest({ input: i, decision: 'yes' }));
    if (i % 2 === 1) await eu.seal();
  }
  for (const node of [us, jp]) await holds(node, 'eu', 3);
  const [last = ''] = ids.slice(-1);
  await until('the anchors', async () => (await verify(us, last)).verified === true);
  const before = await us.context.evidence(recordId(last));
  const counted = () => rowsOf({ ...eu.context, ...eu.context.governance });
  const counts = await counted();
  await eu.stop();
  await rm(join(eu.config.home, 'store'), { recursive: true });
  await eu.start();
  assert.is(eu.context.chains.head(nodeId('eu')).batch, 3);
  assert.equal(sorted(await counted()), sorted(counts));
  const next = await eu.attest({ input: 6, decision: 'yes' });
  assert.equal(
    [...(await counted()).values()].map(({ count }) => count),
    [7, 7],
  );
  const record = (await eu.context.evidence(recordId(next)))?.record;
  assert.equal([record?.seq, record?.sourceSeq], [7, 7]);
  assert.ok(before !== undefined && record?.sourcePrev !== null);
  await eu.seal();
  for (const node of [us, jp]) {
    await holds(node, 'eu', 4);
    assert.equal(node.context.equivocations.all(), []);
    await until('the new record', async () => (await verify(node, next)).verified === true);
  }
  // Payloads are in nobody else's store: they are gone for good, and said to be.
  // Who vouches for it the node learns again from the others, a moment after its start.
  await until('eu to know the checkpoints again', async () => (await verify(eu, last)).verified === true);
  const lost = await verify(eu, last);
  assert.equal([lost.verified, lost.payloadState, lost.status], [true, 'erased', 'confirmed']);
  await until('every batch’s anchor to be counted', async () => (await eu.context.anchoring.state()).backlog === 0);
  assert.is(us.context.federationLog.state.sequence, 4, 'no batch was anchored twice');
});

test.run();

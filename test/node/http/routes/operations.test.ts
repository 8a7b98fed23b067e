import Type from 'typebox';
import { Compile } from 'typebox/compile';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nativeSuite } from '../../../../node/keys/native-suite.ts';
import { writeSha256 } from '../../../../protocol/hash.ts';
import type { JsonObject } from '../../../../protocol/json/value.ts';
import { isTimestamp } from '../../../../protocol/time.ts';
import { TestNetwork } from '../../../fixtures/test-network.ts';
import type { TestNode } from '../../../fixtures/test-node.ts';
import { until } from '../../../fixtures/until.ts';

const MembersShape = Type.Array(
  Type.Object({
    node: Type.String(),
    region: Type.String(),
    baseUrl: Type.String(),
    connected: Type.Boolean(),
    trusted: Type.Boolean(),
    head: Type.Object({ batch: Type.Integer(), records: Type.Integer() }),
  }),
);
const compiled = Compile(MembersShape);

/** It stands still: after midnight there would be records of the day before. */
const clock = Date.now();
const network = await TestNetwork.start({ nodes: ['eu', 'us'], overrides: { now: () => clock } });
const node = network.node('eu');
test.after(() => network[Symbol.asyncDispose]());

async function health(of: TestNode): Promise<JsonObject> {
  return (await of.get('/v1/health', { key: null })).body;
}

test('health tells who is asked and that records are accepted, ledger or no ledger', async () => {
  await node.attest({ n: 1 });
  await node.seal();
  await until('the ledger is missed', async () => JSON.stringify(await health(node)).includes('unreachable'));
  const body = await health(node);
  assert.equal(Object.keys(body), ['status', 'ts', 'region', 'node', 'version', 'checks', 'waits', 'removed', 'log']);
  assert.equal([body.status, body.region, body.node], ['ok', 'EU/Test', 'eu']);
  assert.ok(isTimestamp(String(body.ts)));
  assert.match(String(body.version), /^\d+\.\d+\.\d+$/);
  assert.equal(body.checks, { storage: 'ok', signer: 'ok', ledger: 'unreachable', queueDepth: 0 });
  assert.equal(body.waits, []);
  assert.equal(body.log, {
    size: 0,
    root: writeSha256(nativeSuite.sha256()),
    waitingFor: 'nothing',
    contradictions: [],
    falseCheckpoints: [],
    contradictedBy: [],
  });
});

test('health is 503 while the store refuses writes, and asks it to recover', async () => {
  const { store } = node.context;
  let failing = true;
  Object.defineProperty(store, 'failing', { get: () => failing, configurable: true });
  let asked = 0;
  store.recover = async () => {
    if (++asked === 1) throw new Error('No space left on device');
    failing = false;
  };
  const { status, body } = await node.get('/v1/health', { key: null });
  assert.equal([status, body.status], [503, 'unavailable']);
  await until('the store was asked twice', async () => (await node.get('/v1/health')).status === 200);
  assert.is(asked, 2);
  assert.is((await node.get('/v1/health', { key: null })).body.status, 'ok');
});

test('the federation page tells members, heads and witnesses', async () => {
  const us = network.node('us');
  await until('us has the batch', async () => (await us.get('/v1/federation')).text.includes('"batch":1'));
  const { body } = await us.get('/v1/federation', { key: null });
  assert.equal([body.node, body.name], ['us', 'meridian-test']);
  assert.match(String(body.fingerprint), /^sha256:[0-9a-f]{64}$/);
  assert.match(String(body.federation), /^[0-9a-f]{8}$/);
  assert.equal(body.roster, { version: 1, hash: us.context.keys.rosters.hash, quorum: 1 });
  assert.equal(body.ledger, { network: network.ledger.network, topicId: network.ledger.topicId });
  assert.equal([body.catchingUp, body.equivocations], [[], []]);
  assert.equal(body.log, {
    size: 0,
    root: writeSha256(nativeSuite.sha256()),
    needsRoster: null,
    vouched: {},
    underived: [],
    lacking: [],
    closed: [],
    checkpoints: [],
    falseCheckpoints: [],
  });
  const { members } = body;
  if (!compiled.Check(members)) throw new Error(`the members have another shape: ${JSON.stringify(members)}`);
  assert.equal(
    members.map(({ node: id, connected, trusted, baseUrl }) => [id, connected, trusted, baseUrl]),
    [
      ['eu', true, true, node.baseUrl],
      ['us', true, true, us.baseUrl],
    ],
  );
  assert.is(members[0]?.head.records, 1);
});

test('metrics count records, groups and answers, and name no caller', async () => {
  const text = await node.metrics();
  assert.match(text, /^meridian_records(\{[^}]*\})? 1$/m);
  assert.match(text, /^meridian_batches_sealed_total(\{[^}]*\})? 1$/m);
  assert.match(text, /route="\/v1\/attest".* 1$/m);
  assert.match(text, /route="\/v1\/health"/);
  assert.match(text, /^meridian_log_decisions(\{[^}]*\})? 0$/m);
  assert.match(text, /^meridian_topic_mirror_sequence\{.*mirror="[^"]+".*\} 0$/m);
  assert.not.match(text, 'att_eu_');
});

test.run();

import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { openNodeStore } from '../../../node/fsck/migration/migrate-store.ts';
import { nativeSuite } from '../../../node/keys/native-suite.ts';
import { envelopeTable, readBatch, readBatchOf } from '../../../node/records/batch-tables.ts';
import { ownVouchedTable } from '../../../node/records/chain-tables.ts';
import { recordIndex } from '../../../node/records/record-tables.ts';
import { sourceIndex } from '../../../node/records/sources/source-index.ts';
import { sourceKey } from '../../../node/records/sources/sources.ts';
import { hashBytes, hashText } from '../../../protocol/hash.ts';
import { nodeId } from '../../../protocol/ids.ts';
import { TestNetwork } from '../../fixtures/test-network.ts';
import type { TestNode } from '../../fixtures/test-node.ts';
import { until } from '../../fixtures/until.ts';

const FIVE = ['eu', 'us', 'ca', 'sg', 'jp'] as const;
const HOUR_MS = 3_600_000;
/** Reading, agreeing and signing take a few rounds each. In milliseconds. */
const PATIENCE_MS = 60_000;
/** Members ask consensus nodes soon: a test has one mirror. */
const ledgerConfig = { secondSourceMs: 300, queriesPerHour: 100_000 };

/** What the newest checkpoint of a member vouches for, as another member counts it. */
function vouchedBy(reader: TestNode, member: string): Readonly<Record<string, number>> {
  return reader.context.checkpointStore.newest(nodeId(member))?.checkpoint.vouched ?? {};
}

/** Asks a node to attest: the record's id, or the code of the problem it was refused with. */
async function tryAttest(node: TestNode, i: number): Promise<{ readonly id: string } | { readonly code: string }> {
  const { status, body, headers } = await node.post('/v1/attest', { sourceId: 'clock', data: { i } });
  if (status === 200) return { id: String(body.attestationId) };
  assert.is(status, 503);
  assert.ok(headers.has('retry-after'));
  return { code: String(body.code) };
}

async function batchOf(node: TestNode, id: string): Promise<number | null> {
  const { store, config } = node.context;
  const seq = await recordIndex.get(store, id);
  const batch = seq === undefined ? undefined : await readBatchOf(store, config.id, seq);
  return batch?.envelope.batch ?? null;
}

test('the checkpoints of all members vouch for all batches of all members', async () => {
  await using network = await TestNetwork.start({ nodes: FIVE, ledger: 'local', ledgerConfig });
  for (let round = 1; round <= 3; round++) {
    for (const name of FIVE) {
      const node = network.node(name);
      await node.attest({ round, name });
      await node.seal();
    }
  }
  const isVouched = (reader: string, member: string) =>
    FIVE.every((name) => vouchedBy(network.node(reader), member)[name] === 3);
  await until(
    'every member counts that every member vouches for everything',
    () => FIVE.every((reader) => FIVE.every((member) => isVouched(reader, member))),
    PATIENCE_MS,
  );
  for (const name of FIVE) assert.equal(network.node(name).context.vouching.underived, []);
});

test('a node seals four batches ahead of the ledger, and then one a minute', async () => {
  await using network = await TestNetwork.start({ overrides: { sealsAhead: false } });
  const node = network.node();
  for (let i = 0; i < 4; i++) {
    await node.attest({ i });
    await node.seal();
  }
  await node.attest({ i: 4 });
  void node.seal();
  await node.attest({ i: 5 });
  assert.is(node.context.chains.head(nodeId('eu')).batch, 4);
  node.context.sealer.noteNamed(1);
  await until('the fifth', () => node.context.chains.head(nodeId('eu')).batch === 5);
});

test('a node whose own record would be derived by nobody seals and records nothing more, and says so', async () => {
  await using network = await TestNetwork.start();
  const node = network.node();
  const { store, sealer } = node.context;
  // A row of a source that no record has: the next record names an invented one before it.
  const row = { runs: [{ first: 1, count: 900 }], leaf: hashBytes(hashText(nativeSuite, 'invented')) };
  await store.write([sourceIndex.put(['acc_eu_unmetered', sourceKey('broken'), 1], row)]);
  await node.attest({ i: 1 });
  await node.attest({ i: 2 }, { sourceId: 'broken' });
  await node.seal();
  assert.equal([sealer.refusal?.code, sealer.refusal?.seq], ['source-skipped', 2]);
  assert.is(node.context.chains.head(nodeId('eu')).batch, 0, 'nothing was signed');
  const health = await node.get('/v1/health');
  assert.equal([health.status, JSON.parse(health.text).checks.signer], [503, 'refused']);
  assert.is((await node.post('/v1/attest', { sourceId: 'other', data: {} })).status, 503);
});

test('a node of whose batch the ledger decided another one records nothing more, says so, and serves what it has', async () => {
  await using network = await TestNetwork.start({ nodes: ['eu', 'us'], ledger: 'local', ledgerConfig });
  const eu = network.node('eu');
  const id = await eu.attest({ i: 1 });
  await eu.seal();
  await until('the confirmation', async () => (await eu.get(`/v1/verify/${id}`)).body.verified === true, PATIENCE_MS);
  // As a copy of the store would, it seals another batch than the one that the ledger has of it.
  const batch = await readBatch(eu.context.store, nodeId('eu'), 1);
  if (batch === undefined) return assert.unreachable();
  const { statement } = batch.signed;
  const other = { ...batch, signed: { ...batch.signed, statement: statement.replace('"size":1', '"size":2') } };
  await eu.stop();
  {
    await using store = await openNodeStore(eu.config.home);
    await store.write([envelopeTable.put(['eu', 1], other.signed), ownVouchedTable.del('eu')]);
  }
  await eu.start();
  await until('it to be closed', () => eu.context.federation.halted === 'closed', PATIENCE_MS);
  const { status, body, headers } = await eu.post('/v1/attest', { sourceId: 'test', data: { i: 2 } });
  assert.is(status, 503);
  assert.match(JSON.stringify(body), 'chain-closed');
  assert.not.ok(headers.has('retry-after'));
  assert.is(JSON.parse((await eu.get('/v1/health')).text).checks.signer, 'closed');
  assert.equal(JSON.parse((await eu.get('/v1/federation')).text).log.closed, ['eu']);
  assert.is((await eu.get(`/v1/verify/${id}`)).status, 200);
});

test('whatever a clock does, a record is vouched for in the end or refused with clock-off', async () => {
  const clock = { offset: 0 };
  await using network = await TestNetwork.start({
    nodes: ['eu', 'us', 'ca'],
    ledger: 'local',
    ledgerConfig,
    config: { batchIntervalMs: 200 },
    overridesOf: (node): { now?: () => number } => (node === 'eu' ? { now: () => Date.now() + clock.offset } : {}),
  });
  const eu = network.node('eu');
  const accepted: string[] = [];
  const refused: string[] = [];
  let i = 0;
  const send = async (offset: number) => {
    clock.offset = offset;
    for (let n = 0; n < 5; n++) {
      const answer = await tryAttest(eu, i++);
      if ('id' in answer) accepted.push(answer.id);
      else refused.push(answer.code);
    }
  };
  await until('clocks are known', () => eu.context.follower.clocks.differences().length === 2);
  await send(0);
  await send(HOUR_MS);
  assert.is(JSON.parse((await eu.get('/v1/health')).text).checks.signer, 'clock-off');
  await send(0);
  await send(-HOUR_MS);
  await send(0);
  assert.equal([accepted.length, new Set(refused)], [15, new Set(['clock-off'])]);
  await eu.seal();
  const last = Math.max(
    ...(await Promise.all(accepted.map((id) => batchOf(eu, id)))).map((batch) => batch ?? Infinity),
  );
  await until(
    'all members vouch for all of it',
    () => ['eu', 'us', 'ca'].every((member) => (vouchedBy(eu, member).eu ?? 0) >= last),
    PATIENCE_MS,
  );
});

test('a clock that nobody corrects goes forward an hour and back: the chain goes on, and all of it is vouched for', async () => {
  const clock = { offset: 0 };
  await using network = await TestNetwork.start({
    ledger: 'local',
    ledgerConfig,
    overrides: { now: () => Date.now() + clock.offset },
  });
  const eu = network.node();
  await eu.attest({ i: 0 });
  clock.offset = HOUR_MS;
  await eu.attest({ i: 1 });
  clock.offset = 0;
  assert.equal(await tryAttest(eu, 2), { code: 'clock-off' });
  await until('it records again', async () => 'id' in (await tryAttest(eu, 3)), PATIENCE_MS);
  await eu.seal();
  await until('both batches', () => vouchedBy(eu, 'eu').eu === 2, PATIENCE_MS);
});

test.run();

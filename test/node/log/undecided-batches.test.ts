import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { readNodeKeys } from '../../../node/keys/node-keys.ts';
import { envelopeTable, readBatch, type StoredBatch } from '../../../node/records/batch-tables.ts';
import { envelopeStatement } from '../../../protocol/chain/envelope.ts';
import { decisionText } from '../../../protocol/log/decision.ts';
import { nodeId } from '../../../protocol/ids.ts';
import { signStatement } from '../../../protocol/statement/statement.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { TestNetwork } from '../../fixtures/test-network.ts';
import type { TestNode } from '../../fixtures/test-node.ts';
import { until } from '../../fixtures/until.ts';

const EU = nodeId('eu');
const THREE = ['eu', 'us', 'ca'] as const;
/** Instead of ten minutes. In milliseconds. */
const SOON_MS = 400;
/** Reading, agreeing and signing take a few rounds each. In milliseconds. */
const PATIENCE_MS = 60_000;

/** Three members, of which eu pays for nothing: what it seals is named by others, or never. */
function networkOf(mayRescue: () => boolean): Promise<TestNetwork> {
  return TestNetwork.start({
    nodes: THREE,
    quorum: 2,
    ledger: 'local',
    ledgerConfigOf: (node): { spend?: { transactionsPerHour: number } } =>
      node === 'eu' ? { spend: { transactionsPerHour: 0 } } : {},
    overrides: { rescue: { afterMs: SOON_MS, mayRescue } },
  });
}

function lastDecided(reader: TestNode): number {
  return reader.context.federationLog.state.members[EU]?.last?.batch ?? 0;
}

function headOf(node: TestNode): number {
  return node.context.chains.head(EU).batch;
}

async function batchOf(node: TestNode, batch: number): Promise<StoredBatch> {
  const stored = await readBatch(node.context.store, EU, batch);
  if (stored === undefined) throw new Error(`${node.config.id} does not hold batch ${batch}`);
  return stored;
}

async function verified(id: string, nodes: readonly TestNode[]): Promise<void> {
  for (const node of nodes) {
    const isVerified = async () => (await node.get(`/v1/verify/${id}`)).body.verified === true;
    await until(`${id} is verified at ${node.config.id}`, isVerified, PATIENCE_MS);
  }
}

test('the batch of a node that dies before it named it is named by the others; it goes on from there', async () => {
  await using network = await networkOf(() => true);
  const [eu, us, ca] = THREE.map((name) => network.node(name)) as [TestNode, TestNode, TestNode];
  const id = await eu.attest({ i: 1 });
  await eu.seal();
  await until('us and ca hold it', () => [us, ca].every((node) => headOf(node) === 1));
  await eu.stop();
  await until('it is decided', () => lastDecided(us) === 1 && lastDecided(ca) === 1, PATIENCE_MS);
  const { federationLog } = us.context;
  const payers = (await federationLog.entries(0, federationLog.size)).map((text) => decisionText.parse(text).payer);
  assert.not(payers.some((payer) => payer === eu.config.ledger.operatorId));
  await verified(id, [us, ca]);
  await eu.start();
  await until(
    'its outbox row is closed',
    async () => (await eu.context.anchoring.status(1))?.status === 'confirmed',
    PATIENCE_MS,
  );
  const next = await eu.attest({ i: 2 });
  await eu.seal();
  await verified(next, [eu, us, ca]);
});

test('a new key seals nothing while a batch by the old one is undecided, which is named under the old one', async () => {
  let mayRescue = false;
  await using network = await networkOf(() => mayRescue);
  const [eu, us, ca] = THREE.map((name) => network.node(name)) as [TestNode, TestNode, TestNode];
  const ids = [await eu.attest({ i: 1 })];
  await eu.seal();
  const old = eu.context.ownKeys.keyId;
  const { keyId } = await eu.context.ownKeys.rotate();
  ids.push(await eu.attest({ i: 2 }));
  const sealed = eu.seal();
  await until('us and ca hold the first', () => [us, ca].every((node) => headOf(node) === 1));
  assert.is(headOf(eu), 1);
  mayRescue = true;
  await sealed;
  assert.ok(lastDecided(eu) >= 1, 'the second was sealed after the first was decided');
  const keys = await Promise.all([1, 2].map(async (batch) => (await batchOf(eu, batch)).envelope.keyId));
  assert.equal(keys, [old, keyId]);
  for (const id of ids) await verified(id, [eu, us, ca]);
});

test('undecided batches by a compromised key are signed anew, replaced at those who hold them, and verified', async () => {
  let mayRescue = false;
  await using network = await networkOf(() => mayRescue);
  const [eu, us, ca] = THREE.map((name) => network.node(name)) as [TestNode, TestNode, TestNode];
  const ids: string[] = [];
  for (let i = 1; i <= 2; i++) {
    ids.push(await eu.attest({ i }));
    await eu.seal();
  }
  ids.push(await eu.attest({ i: 3 }));
  await until('us and ca hold both', () => [us, ca].every((node) => headOf(node) === 2));
  const before = await Promise.all([1, 2].map((batch) => batchOf(eu, batch)));
  const { replacedBy } = await eu.context.ownKeys.revoke(eu.context.ownKeys.keyId, timestampOf(0), 'stolen');
  const isAnew = async (node: TestNode) =>
    // While it is being replaced there is none.
    (await readBatch(node.context.store, EU, 2))?.envelope.keyId === replacedBy;
  for (const node of [eu, us, ca]) await until(`${node.config.id} holds the new`, () => isAnew(node), PATIENCE_MS);
  for (const [i, { envelope }] of before.entries()) {
    const anew = (await batchOf(us, i + 1)).envelope;
    assert.is(anew.keyId, replacedBy);
    assert.equal({ ...anew, keyId: envelope.keyId, prev: envelope.prev }, envelope, 'only key and prev changed');
  }
  mayRescue = true;
  const sealed = eu.seal();
  await until('both are decided', () => [us, ca].every((node) => lastDecided(node) >= 2), PATIENCE_MS);
  await sealed;
  for (const id of ids) await verified(id, [eu, us, ca]);
  for (const node of [eu, us, ca]) assert.equal(node.context.vouching.underived, []);
  assert.is(eu.context.federation.halted, null);
});

test('a member that holds another envelope than the one that was decided takes that one, and vouches for it', async () => {
  await using network = await TestNetwork.start({ nodes: THREE, quorum: 2, ledger: 'local' });
  const [eu, us, ca] = THREE.map((name) => network.node(name)) as [TestNode, TestNode, TestNode];
  const faults = network.ledger.local?.ledger.faults;
  if (faults === undefined) return assert.unreachable();
  faults.set({ roundPaused: true });
  const id = await eu.attest({ i: 1 });
  await eu.seal();
  await until('us and ca hold it', () => [us, ca].every((node) => headOf(node) === 1));
  // As where its node had shown us another story.
  const { envelope } = await batchOf(us, 1);
  const rival = { ...envelope, sealedAt: timestampOf(Date.parse(envelope.sealedAt) + 1) };
  const { signer } = await readNodeKeys(eu.config.home);
  const other = { envelope: rival, signed: await signStatement(envelopeStatement, rival, signer) };
  await us.context.store.write([envelopeTable.put([EU, 1], other.signed)]);
  us.context.chains.advance(other);
  faults.set({ roundPaused: false });
  await verified(id, [eu, us, ca]);
  assert.equal((await batchOf(us, 1)).envelope, envelope);
  assert.equal(us.context.vouching.underived, []);
  await until('the evidence is kept', () => us.context.equivocations.knows(EU, 1));
});

test.run();

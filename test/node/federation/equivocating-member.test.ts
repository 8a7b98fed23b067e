import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { rosterLedger } from '../../../node/anchoring/ledger/config.ts';
import { HederaClient } from '../../../node/anchoring/ledger/hedera-client.ts';
import { encodeGossip } from '../../../node/federation/gossip-forms.ts';
import { readKeyFile } from '../../../node/keys/key-file.ts';
import { nativeSigner, nativeSuite } from '../../../node/keys/native-suite.ts';
import { keyDirectory } from '../../../node/keys/node-keys.ts';
import { readBatch, type StoredBatch } from '../../../node/records/batch-tables.ts';
import { encodeBase64url, utf8 } from '../../../protocol/bytes.ts';
import { envelopeStatement } from '../../../protocol/chain/envelope.ts';
import { isSha256Hash, type Sha256Hash } from '../../../protocol/hash.ts';
import { nodeId } from '../../../protocol/ids.ts';
import type { JsonValue } from '../../../protocol/json/value.ts';
import { checkpointStatement } from '../../../protocol/log/checkpoint.ts';
import { writeLedgerMessage } from '../../../protocol/log/message.ts';
import { nameEnvelope } from '../../../protocol/log/naming.ts';
import { judgeProof } from '../../../protocol/proof/judge-proof.ts';
import type { MisdeedProof } from '../../../protocol/proof/misdeed.ts';
import { parseProofText } from '../../../protocol/proof/parse-proof.ts';
import { signStatement } from '../../../protocol/statement/statement.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { TestNetwork } from '../../fixtures/test-network.ts';
import type { TestNode } from '../../fixtures/test-node.ts';
import { until } from '../../fixtures/until.ts';
import { Receiver } from '../alerts/receiver.ts';

const EU = nodeId('eu');
const network = await TestNetwork.start({ nodes: ['eu', 'us', 'ca'], ledger: 'local', quorum: 2 });
const [eu, us, ca] = ['eu', 'us', 'ca'].map((name) => network.node(name)) as [TestNode, TestNode, TestNode];
test.after(() => network[Symbol.asyncDispose]());

const signer = nativeSigner(await readKeyFile(keyDirectory(eu.config.home), 'signing'));
const story: { id: string; rival: StoredBatch | null } = { id: '', rival: null };

/** What a node says of eu's first batch. */
async function shownBy(node: TestNode): Promise<JsonValue | undefined> {
  const { status, body } = await node.get('/v1/equivocations', { key: null });
  assert.is(status, 200);
  const list = body.equivocations;
  return Array.isArray(list) ? list[0] : undefined;
}

interface Shown {
  readonly node: string;
  readonly batch: number;
  readonly stands: boolean;
  readonly envelopes: readonly {
    readonly envelope: Sha256Hash;
    readonly decided: boolean;
    readonly name: { readonly sequence: string; readonly payer: string } | null;
    readonly signed: unknown;
  }[];
}

async function listed(node: TestNode): Promise<Shown | undefined> {
  const shown = await shownBy(node);
  return shown === undefined ? undefined : JSON.parse(JSON.stringify(shown));
}

async function isVerified(node: TestNode): Promise<boolean> {
  return (await node.get(`/v1/verify/${story.id}`)).body.verified === true;
}

/** The files that a node gives about eu. */
async function proofsOf(node: TestNode): Promise<MisdeedProof[]> {
  const { status, body } = await node.get('/v1/equivocations/eu', { key: null });
  assert.is(status, 200);
  const { proofs } = body;
  return Array.isArray(proofs) ? proofs.map((proof) => parseProofText(JSON.stringify(proof))) : [];
}

test('a name of another envelope on the ledger is listed at every other node with both sequence numbers', async () => {
  story.id = await eu.attest({ input: 1, decision: 'yes' });
  await eu.seal();
  for (const node of [us, ca]) await until(`${node.config.id} to verify`, () => isVerified(node));
  const held = await readBatch(us.context.store, EU, 1);
  if (held === undefined) return assert.unreachable('us holds no batch');
  const envelope = { ...held.envelope, sealedAt: timestampOf(Date.now()) };
  const signed = await signStatement(envelopeStatement, envelope, signer);
  story.rival = { envelope, signed };
  await using client = new HederaClient(rosterLedger(eu.config, eu.context.keys.rosters.current));
  const { genesis } = eu.context.keys.rosters;
  const message = writeLedgerMessage(nameEnvelope(nativeSuite, genesis, envelope, signed.statement));
  await until('the ledger to take it', async () => (await client.submit(await client.prepare(message))) === 'accepted');
  for (const node of [us, ca]) {
    await until(`${node.config.id} to list it`, async () => (await listed(node)) !== undefined);
    const shown = await listed(node);
    assert.equal([shown?.node, shown?.batch, shown?.stands], ['eu', 1, false]);
    const [decided, rival] = shown?.envelopes ?? [];
    assert.equal([decided?.decided, rival?.decided], [true, false]);
    assert.equal(
      [decided?.name?.payer, rival?.name?.payer],
      [eu.config.ledger.operatorId, eu.config.ledger.operatorId],
    );
    assert.ok(Number(rival?.name?.sequence) > Number(decided?.name?.sequence));
    assert.is(rival?.signed, null, 'nobody has shown it');
    assert.equal((await node.get('/v1/equivocations/eu')).body.proofs, []);
  }
});

test('once the envelope is shown it stands at every node, no verdict moves, and its node halts', async () => {
  if (story.rival === null) return assert.unreachable('there is no rival');
  const announced = encodeGossip({ type: 'envelope', signed: story.rival.signed });
  await us.context.federation.receive(announced, 'ca');
  for (const node of [us, ca]) {
    await until(`${node.config.id} to prove it`, async () => (await listed(node))?.stands === true);
    const { body } = await node.get('/v1/federation');
    assert.equal(body.equivocations, [{ node: 'eu', batch: 1, stands: true }]);
    assert.ok(await isVerified(node), 'what was decided stands');
  }
  await until('eu to halt', () => eu.context.federation.halted === 'forked');
});

test('whoever asked to be told of it is told, once', async () => {
  await using receiver = await Receiver.start();
  const hook = await us.post('/v1/webhooks', { url: receiver.url, events: ['misbehaviour.found'] });
  assert.is(hook.status, 200, hook.text);
  for (let looks = 0; looks < 3; looks++) await us.context.dueAlerts.look();
  await until('it to be told of', () => receiver.received.length > 0);
  await us.context.dueAlerts.look();
  const told = receiver.received.map(({ body }) => Object(JSON.parse(body)));
  assert.equal(
    told.map(({ type, data }) => [type, data]),
    [['misbehaviour.found', { node: 'eu', batch: 1 }]],
  );
  await us.send('DELETE', `/v1/webhooks/${String(hook.body.webhookId)}`, undefined);
});

test('the file of it is judged offline, and by whoever has read the ledger', async () => {
  const [proof] = await proofsOf(ca);
  if (proof === undefined) return assert.unreachable('there is no proof');
  const pin = ca.context.keys.rosters.genesis;
  const unread = judgeProof(nativeSuite, proof, { pin });
  assert.equal([unread.word, unread.accused, unread.batch], ['two-signed', 'eu', 1]);
  const decided = await us.context.federationLog.decisionOf(EU, 1);
  const rival = await us.context.federationLog.rivalOf(EU, 1);
  const messageAt = (sequence: string) => [decided, rival].find((name) => name?.sequence === sequence);
  assert.is(judgeProof(nativeSuite, proof, { pin, messageAt }).word, 'proven');
});

test('a restarted node still lists it, with what it proved', async () => {
  await ca.stop();
  await ca.start();
  assert.equal(ca.context.equivocations.all(), [{ node: EU, batch: 1, stands: true }]);
  assert.is((await listed(ca))?.stands, true);
});

test('a false checkpoint is shown, and its file is proven by those of the others', async () => {
  const { federationLog } = us.context;
  const root = `sha256:${'0'.repeat(64)}`;
  if (!isSha256Hash(root)) return assert.unreachable('no hash');
  const { federation, size } = federationLog.state;
  const said = {
    v: 1,
    type: 'checkpoint',
    federation,
    node: EU,
    keyId: signer.keyId,
    size,
    root,
    vouched: { us: 1 },
  } as const;
  const { statement, signature } = await signStatement(checkpointStatement, said, signer);
  const signed = { text: statement, signature };
  await us.context.federation.receive(encodeGossip({ type: 'checkpoint', signed }), 'ca');
  const { body } = await us.get('/v1/equivocations');
  assert.equal(body.falseCheckpoints, [signed]);
  await until('others to sign as large a tree', async () => {
    const proofs = await proofsOf(us);
    assert.equal(
      proofs.map(({ misdeed }) => misdeed.type),
      ['false-checkpoint', 'two-envelopes'],
    );
    const verdicts = proofs.map((proof) => judgeProof(nativeSuite, proof, { pin: federation }));
    return verdicts[0]?.proven === true && verdicts[0].accused === EU;
  });
  assert.equal((await us.get('/v1/equivocations/ca')).body.proofs, []);
  assert.is((await us.get('/v1/equivocations/sg')).status, 404);
  assert.is((await us.get('/v1/equivocations/EU')).status, 400);
  assert.is((await us.get('/v1/equivocations?cursor=x')).status, 400);
  // A place in the list of all members would leave out proofs against one of them.
  const ofAll = encodeBase64url(utf8('["ca",1]'));
  assert.is((await us.get(`/v1/equivocations?cursor=${ofAll}`)).status, 200);
  for (const node of ['eu', 'ca']) {
    assert.is((await us.get(`/v1/equivocations/${node}?cursor=${ofAll}`)).status, 400, node);
  }
});

test.run();

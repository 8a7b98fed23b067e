import { pino } from 'pino';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nativeSuite } from '../../../node/keys/native-suite.ts';
import { batchOperations } from '../../../node/records/batch-tables.ts';
import { type GivenReceipt, givenReceipt } from '../../../node/verification/judge-bundle.ts';
import { ProofTrees } from '../../../node/verification/proof-trees.ts';
import { receiptNotKeptTable, ReceiptsNotKept } from '../../../node/verification/receipts-not-kept.ts';
import { RECEIPTS_OF_A_NODE } from '../../../protocol/api/equivocations.ts';
import { nodeId } from '../../../protocol/ids.ts';
import { TileTree } from '../../../protocol/merkle/tiles.ts';
import { judgeProof } from '../../../protocol/proof/judge-proof.ts';
import { parseProofText } from '../../../protocol/proof/parse-proof.ts';
import { groupStatement } from '../../../protocol/statement/group.ts';
import { signStatement } from '../../../protocol/statement/statement.ts';
import { BUNDLE_FORMAT } from '../../../protocol/verdict/bundle.ts';
import { proofIn, type SealedBatch } from '../../fixtures/federation-log-batch.ts';
import { newestKey } from '../../fixtures/federation-log-member.ts';
import { serveJudgingNode } from '../../fixtures/judging-node.ts';
import { openNodeLog } from '../../fixtures/node-log.ts';
import { Ledger } from '../../trust/ledger.ts';

const EU = nodeId('eu');
const RECORDS = RECEIPTS_OF_A_NODE + 2;
const drafts = (name: string) => Array.from({ length: RECORDS }, (_, i) => ({ payload: { [name]: i } }));

/** The node `eu` gave receipts for records, and had a batch of others decided; `us` holds that. */
async function brokenWord(revokes = false) {
  const ledger = await Ledger.create();
  const { log } = ledger;
  const received = await log.seal('eu', drafts('received'));
  const { batch, first, prev } = received.envelope;
  const decided = await ledger.record('eu', drafts('decided'), { batch, first, prev });
  if (revokes) {
    const terms = { reason: 'compromised', compromisedSince: log.tick() } as const;
    ledger.enforce(await ledger.draftRevocation('eu', terms), 'us', 'ca', 'jp');
  }
  const members = log.roster().roster.members.map(({ node }) => node);
  const node = await openNodeLog(ledger, await Promise.all(members.map((member) => log.checkpoint(member))));
  const tree = new TileTree(nativeSuite);
  for (const { leaf } of decided.records) tree.append(leaf);
  await node.store.write(batchOperations({ envelope: decided.envelope, signed: decided.signedEnvelope }, tree.tiles()));
  const receipts = new ReceiptsNotKept({ trees: new ProofTrees(), ...node, log: pino({ level: 'silent' }) });
  return { ledger, received, decided, node, receipts, [Symbol.asyncDispose]: () => node[Symbol.asyncDispose]() };
}

function receiptOf(sealed: SealedBatch, i: number): GivenReceipt {
  const receipt = givenReceipt(nativeSuite, proofIn(sealed, i));
  if (receipt === null) throw new Error('no receipt');
  return receipt;
}

test('who brings a receipt that the decided batch does not keep is answered as ever, and it is proven to anyone', async () => {
  await using scene = await brokenWord();
  const { ledger, received, receipts } = scene;
  await using judging = await serveJudgingNode(scene.node.knowledge, receipts);
  const { record, receipt } = proofIn(received, 1);
  const given = {
    format: BUNDLE_FORMAT,
    record,
    receipt,
    batch: null,
    decision: null,
    checkpoints: [],
    revocations: [],
  };
  const bundle = {
    ...given,
    keys: [...ledger.log.certificates],
    rosters: [{ text: ledger.log.roster(1).text, decision: null }],
  };
  const response = await judging.verify(JSON.stringify(bundle));
  assert.is(response.status, 200);
  const answer: { verified: boolean } = await response.json();
  assert.is(answer.verified, false);
  assert.equal(await receipts.all(), [{ node: EU, seq: 2 }]);
  const proofs = await receipts.proofsOf(EU);
  const files = proofs.map((proof) => parseProofText(JSON.stringify(proof)));
  const verdicts = files.map((file) => judgeProof(nativeSuite, file, { pin: ledger.log.genesis }));
  assert.equal(
    verdicts.map(({ word, misdeed, accused, batch }) => [word, misdeed, accused, batch]),
    [['proven', 'receipt-not-kept', 'eu', 1]],
  );
  assert.equal(await receipts.proofsOf(nodeId('us')), []);
});

test('of one node so many are kept as are shown, each once', async () => {
  await using scene = await brokenWord();
  const { received, receipts } = scene;
  const kept: boolean[] = [];
  for (let i = 0; i < RECORDS; i++) {
    const given = receiptOf(received, i);
    kept.push(await receipts.note(given));
    assert.is(await receipts.note(given), false, 'it is kept already');
  }
  assert.is(kept.filter(Boolean).length, RECEIPTS_OF_A_NODE);
  assert.is(await receipts.note(receiptOf(received, 0)), false);
  assert.is((await receipts.all()).length, RECEIPTS_OF_A_NODE);
  assert.is((await receipts.proofsOf(EU)).length, RECEIPTS_OF_A_NODE);
});

test('of receipts that are shown at once no more are kept', async () => {
  await using scene = await brokenWord();
  const given = Array.from({ length: RECORDS }, (_, i) => receiptOf(scene.received, i));
  const kept = await Promise.all(given.map((receipt) => scene.receipts.note(receipt)));
  assert.is(kept.filter(Boolean).length, RECEIPTS_OF_A_NODE);
  assert.is((await scene.receipts.all()).length, RECEIPTS_OF_A_NODE);
});

test('what is kept of a key that turns out to be stolen is shown no more, and gives way where there is no room', async () => {
  await using scene = await brokenWord();
  const { ledger, received, receipts, node } = scene;
  const { log } = ledger;
  const { batch, first, prev } = received.envelope;
  assert.ok(await receipts.note(receiptOf(received, 0)));
  const certificate = await log.rotateKey('eu');
  const anew = await log.seal('eu', drafts('anew'), { batch, first, prev });
  await node.keys.learnCertificate(certificate.signed);
  const terms = { reason: 'compromised', compromisedSince: log.tick(), keyId: received.envelope.keyId } as const;
  await node.keys.learnRevocation((await log.revoke('eu', terms)).signed);
  assert.equal([await receipts.all(), await receipts.proofsOf(EU)], [[], []]);
  assert.is(await receipts.note(receiptOf(received, 1)), false);
  const rows = async () =>
    (await Array.fromAsync(receiptNotKeptTable.under(node.store, [EU]))).map(([[seq]]) => Number(seq));
  for (let i = 1; i < RECEIPTS_OF_A_NODE; i++) assert.ok(await receipts.note(receiptOf(anew, i)));
  assert.equal(
    await rows(),
    Array.from({ length: RECEIPTS_OF_A_NODE }, (_, i) => i + 1),
  );
  assert.ok(await receipts.note(receiptOf(anew, RECEIPTS_OF_A_NODE)));
  assert.equal(
    await rows(),
    Array.from({ length: RECEIPTS_OF_A_NODE }, (_, i) => i + 2),
  );
  assert.is(await receipts.note(receiptOf(anew, RECEIPTS_OF_A_NODE + 1)), false);
});

test('nobody is accused by a receipt that is kept, that another signed, or that does not hold', async () => {
  await using scene = await brokenWord();
  const { ledger, received, decided, receipts } = scene;
  const [sound, broken] = [receiptOf(decided, 0), receiptOf(received, 0)];
  const group = groupStatement.parse(broken.statement);
  const byOther = await signStatement(groupStatement, group, newestKey(ledger.log.member('us')).signer);
  const asOther = await signStatement(
    groupStatement,
    { ...group, node: nodeId('us') },
    newestKey(ledger.log.member('us')).signer,
  );
  for (const given of [
    sound,
    { ...broken, ...byOther },
    { ...broken, ...asOther },
    { ...broken, leaf: receiptOf(received, 1).leaf },
    { ...broken, path: [] },
    { ...broken, statement: '{}' },
    { ...broken, seq: RECORDS + 1 },
    { ...broken, node: nodeId('zz') },
  ]) {
    assert.is(await receipts.note(given), false, JSON.stringify(given));
  }
  assert.equal(await receipts.all(), []);
});

test('what a key signed that was stolen accuses nobody', async () => {
  await using scene = await brokenWord(true);
  assert.is(await scene.receipts.note(receiptOf(scene.received, 0)), false);
  assert.equal([await scene.receipts.all(), await scene.receipts.proofsOf(EU)], [[], []]);
});

test.run();

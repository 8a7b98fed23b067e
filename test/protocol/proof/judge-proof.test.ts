import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nativeSuite } from '../../../node/keys/native-suite.ts';
import { checkpointStatement, type SignedCheckpoint } from '../../../protocol/log/checkpoint.ts';
import type { ProofKnown } from '../../../protocol/proof/charge.ts';
import { judgeProof, type ProofVerdict } from '../../../protocol/proof/judge-proof.ts';
import type { MisdeedProof } from '../../../protocol/proof/misdeed.ts';
import { parseProofText } from '../../../protocol/proof/parse-proof.ts';
import type { Suite } from '../../../protocol/suite/suite.ts';
import { FederationLog } from '../../fixtures/federation-log.ts';
import { viewOf } from '../../fixtures/federation-log-bundle.ts';
import { newestKey } from '../../fixtures/federation-log-member.ts';
import {
  beginningOf,
  decidedName,
  falseCheckpoint,
  leavesAt,
  LedgerReading,
  proofOf,
  receiptNotKept,
  twoEnvelopes,
} from '../../fixtures/misdeed-proof.ts';

const FIRST = { batch: 1, first: 1, prev: null } as const;

function judged(log: FederationLog, proof: MisdeedProof, known: ProofKnown = { pin: log.genesis }): ProofVerdict {
  return judgeProof(nativeSuite, parseProofText(JSON.stringify(proof)), known);
}

async function wordAndAccused(log: FederationLog, misdeed: MisdeedProof['misdeed'], known: ProofKnown) {
  const { word, accused } = judged(log, await proofOf(log, misdeed), known);
  return [word, accused];
}

/** eu seals one batch, and then another under the same number; the first is decided, the second is named in vain. */
async function equivocating() {
  const log = await FederationLog.create();
  const decided = await log.record('eu', [{}]);
  await log.record('us');
  const rival = await log.seal('eu', [{ payload: { data: 'another' } }, {}], FIRST);
  const ledger = new LedgerReading(log);
  const misdeed = twoEnvelopes(decidedName(log, decided), ledger.name(rival));
  return { log, decided, rival, ledger, misdeed, known: { pin: log.genesis, messageAt: ledger.messageAt } };
}

test('two envelopes of one number, both named from the own account, are proven to whoever has read the ledger there', async () => {
  const { log, misdeed, known } = await equivocating();
  const proof = await proofOf(log, misdeed);
  const verdict = judged(log, proof, known);
  assert.equal([verdict.word, verdict.exitCode, verdict.accused, verdict.batch], ['proven', 0, 'eu', 1]);
  const unread = judged(log, proof);
  assert.equal([unread.word, unread.exitCode, unread.accused, unread.proven], ['two-signed', 4, 'eu', false]);
  const { messageAt } = known;
  assert.is(judged(log, proof, { messageAt }).word, 'consistent', 'without a pin');
  assert.is(judged(log, proof, { log: viewOf(log), messageAt }).word, 'proven', 'by a node’s own log');
});

test('one of two names read is no more than two signed, and a ledger that says otherwise contradicts the proof', async () => {
  const { log, misdeed, known, ledger, rival, decided } = await equivocating();
  const proof = await proofOf(log, misdeed);
  const onlyDecided = new LedgerReading(log);
  assert.is(judged(log, proof, { ...known, messageAt: onlyDecided.messageAt }).word, 'two-signed');
  const other = ledger.messageAt(decidedName(log, decided).sequence);
  const messageAt = () => other;
  assert.is(judged(log, proof, { ...known, messageAt }).word, 'contradicted', 'another message stands there');
  const rescued = new LedgerReading(log);
  const named = twoEnvelopes(decidedName(log, decided), rescued.name(rival, log.account('us')));
  const byOthers = await proofOf(log, named);
  assert.is(judged(log, byOthers, { ...known, messageAt: rescued.messageAt }).word, 'two-signed', 'others named it');
});

test('a rotated key answers for what it named before; what it named after, signed anew since, accuses nobody', async () => {
  const { log, misdeed, known } = await equivocating();
  await log.revoke('eu');
  await log.rotateKey('eu');
  const proof = await proofOf(log, misdeed);
  assert.is(judged(log, proof, known).word, 'proven');
  assert.is(
    judged(log, proof).word,
    'key-revoked',
    'whoever has not read the ledger cannot tell it from one signed anew',
  );

  const anew = await FederationLog.create();
  await anew.revoke('eu');
  const old = await anew.seal('eu', [{}]);
  const ledger = new LedgerReading(anew);
  const late = ledger.name(old);
  await anew.rotateKey('eu');
  const again = await anew.record('eu', [{}]);
  assert.is(again.batch, 2, 'the fixture counts on');
  const next = newestKey(anew.member('eu'));
  const signedAnew = await anew.seal('eu', [{}], { ...FIRST, envelopeKey: next });
  anew.decide(signedAnew);
  const pair = await proofOf(anew, twoEnvelopes(late, decidedName(anew, signedAnew)));
  assert.is(judged(anew, pair, { pin: anew.genesis, messageAt: ledger.messageAt }).word, 'key-revoked');
});

test('what a compromised key signed accuses nobody, once that is decided', async () => {
  const { log, misdeed, known, decided } = await equivocating();
  const liar = await FederationLog.create();
  for (let i = 0; i < 3; i++) await liar.record('us');
  const stolen = await liar.checkpoint('eu');
  const compromisedSince = log.tick();
  const undecided = await proofOf(log, misdeed);
  assert.is(judged(log, undecided, known).word, 'proven');
  await log.revoke('eu', { reason: 'compromised', compromisedSince });
  assert.is(judged(log, undecided, known).word, 'proven', 'a proof that does not say so, to whoever does not know');
  assert.is(judged(log, undecided, { ...known, log: viewOf(log) }).word, 'key-revoked', 'to whoever knows');
  const received = await log.seal('eu', [{ payload: { data: 'dropped' } }], FIRST);
  for (const each of [misdeed, receiptNotKept(log, received, decided, 0), await falseCheckpoint(log, stolen)]) {
    assert.is(judged(log, await proofOf(log, each), known).word, 'key-revoked', each.type);
  }
});

test('a receipt that the decided batch does not keep is proven by signatures and checkpoints', async () => {
  const log = await FederationLog.create();
  const submittedAt = log.tick();
  const received = await log.seal('eu', [{ submittedAt }, { submittedAt, payload: { data: 'dropped' } }], FIRST);
  const decided = await log.seal('eu', [{ submittedAt }, { submittedAt }], { ...FIRST, from: submittedAt });
  log.decide(decided);
  await log.record('us');
  const proof = await proofOf(log, receiptNotKept(log, received, decided, 1));
  const verdict = judged(log, proof);
  assert.equal([verdict.word, verdict.accused, verdict.batch], ['proven', 'eu', 1]);
  assert.is(judged(log, { ...proof, checkpoints: proof.checkpoints.slice(0, 2) }).word, 'too-few-checkpoints');
  assert.is(judged(log, { ...proof, checkpoints: [] }, { log: viewOf(log, [decided]) }).word, 'proven', 'as read');
  const kept = receiptNotKept(log, received, decided, 0);
  assert.is(judged(log, await proofOf(log, kept)).word, 'no-contradiction', 'the same record');
});

test('a receipt accuses nobody where another batch was decided', async () => {
  const log = await FederationLog.create();
  const received = await log.record('eu');
  const undecided = await log.seal('eu', [{ payload: { data: 'another' } }], FIRST);
  const liar = await FederationLog.create();
  liar.decide(undecided);
  const invented = receiptNotKept(liar, received, undecided, 0);
  assert.is(judged(log, await proofOf(liar, invented), { log: viewOf(log, [received]) }).word, 'contradicted');
  assert.is(judged(log, await proofOf(log, invented)).word, 'too-few-checkpoints');
  if (invented.type !== 'receipt-not-kept') throw new Error('not a receipt');
  const otherwise = { ...invented, decision: log.decisionProof(0, [1]) };
  assert.is(
    judged(log, await proofOf(log, otherwise)).word,
    'no-contradiction',
    'the decision names the envelope that keeps it',
  );
});

test('two checkpoints of a member over trees of which neither begins the other are proven by signatures alone', async () => {
  const log = await FederationLog.create();
  for (const node of ['us', 'eu', 'ca']) await log.record(node);
  const liar = await FederationLog.create();
  for (const node of ['us', 'eu', 'sg', 'jp']) await liar.record(node);
  const first = await log.checkpoint('sg');
  const pairs = [
    { second: await liar.checkpoint('sg', { size: 3 }), difference: await beginningOf(liar, 3, 3) },
    { second: await liar.checkpoint('sg'), difference: await beginningOf(liar, 3) },
    { second: await liar.checkpoint('sg'), difference: leavesAt(2, log, liar) },
  ];
  for (const { second, difference } of pairs) {
    const misdeed = { type: 'two-checkpoints', first, second, difference } as const;
    const verdict = judged(log, await proofOf(log, misdeed, []));
    assert.equal([verdict.word, verdict.accused, verdict.batch], ['proven', 'sg', null]);
    const swapped = await proofOf(log, { ...misdeed, second: await liar.checkpoint('ca') }, []);
    assert.is(judged(log, swapped).word, 'no-contradiction', 'of two members');
  }
  const honest = { type: 'two-checkpoints', first: await log.checkpoint('sg', { size: 2 }), second: first } as const;
  for (const difference of [await beginningOf(log, 2), leavesAt(1, log, liar), leavesAt(2, log, liar)]) {
    assert.is(judged(log, await proofOf(log, { ...honest, difference }, [])).word, 'no-contradiction');
  }
});

test('a checkpoint against those of a majority is proven; against fewer it is not, and nobody is in it twice', async () => {
  const log = await FederationLog.create();
  for (const node of ['us', 'eu', 'ca']) await log.record(node);
  const liar = await FederationLog.create();
  for (const node of ['us', 'jp']) await liar.record(node);
  const lie = await liar.checkpoint('sg');
  const misdeed = await falseCheckpoint(log, lie);
  const proof = await proofOf(log, misdeed);
  assert.equal([judged(log, proof).word, judged(log, proof).accused], ['proven', 'sg']);
  const by = async (...nodes: readonly string[]) =>
    proofOf(log, misdeed, await Promise.all(nodes.map((node) => log.checkpoint(node))));
  assert.is(judged(log, await by('us', 'eu', 'ca')).word, 'proven');
  assert.is(judged(log, await by('us', 'eu', 'sg')).word, 'too-few-checkpoints', 'the accused does not count');
  assert.is(judged(log, await by('us', 'eu', 'us')).word, 'too-few-checkpoints');
  assert.is(judged(log, await by(), { log: viewOf(log) }).word, 'proven', 'by the tree of the verifier');
  const against = await proofOf(liar, await falseCheckpoint(liar, await log.checkpoint('sg', { size: 2 })));
  assert.is(judged(log, against).word, 'proven', 'a majority lies, and the verifier knows no better');
  assert.is(judged(log, against, { log: viewOf(log) }).word, 'contradicted');
});

test('a checkpoint that a rotated key signed after its revocation accuses nobody, one from before does', async () => {
  const log = await FederationLog.create();
  await log.record('us');
  const liar = await FederationLog.create();
  for (const node of ['eu', 'jp', 'ca', 'us']) await liar.record(node);
  const key = newestKey(log.member('sg'));
  const before = await liar.checkpoint('sg', { size: 1 }, key);
  await log.revoke('sg');
  await log.rotateKey('sg');
  await log.record('us');
  const after = await liar.checkpoint('sg', { size: 3 }, key);
  assert.is(judged(log, await proofOf(log, await falseCheckpoint(log, before))).word, 'proven');
  assert.is(judged(log, await proofOf(log, await falseCheckpoint(log, after))).word, 'key-revoked');
  const second = await liar.checkpoint('sg', { size: liar.size }, key);
  const two = { type: 'two-checkpoints', first: await log.checkpoint('sg'), second } as const;
  const proof = await proofOf(log, { ...two, difference: leavesAt(0, log, liar) });
  assert.is(judged(log, proof).word, 'key-revoked', 'of two that one of them counts is not enough');
});

test('forged and foreign proofs accuse nobody', async () => {
  const { log, misdeed, known, rival, ledger } = await equivocating();
  const proof = await proofOf(log, misdeed);
  if (misdeed.type !== 'two-envelopes') throw new Error('not two envelopes');
  const { first, second } = misdeed;
  const forged = { ...misdeed, second: { ...second, signature: first.signature } };
  assert.is(judged(log, { ...proof, misdeed: forged }, known).word, 'not-signed');
  assert.is(judged(log, { ...proof, keys: [] }, known).word, 'not-signed');
  assert.is(judged(log, { ...proof, misdeed: { ...misdeed, second: first } }, known).word, 'no-contradiction');
  const stranger = await FederationLog.create({ seed: 'stranger' });
  assert.is(judged(log, proof, { ...known, pin: stranger.genesis }).word, 'pin-does-not-join');
  assert.is(judged(log, await proofOf(stranger, misdeed), { ...known, pin: stranger.genesis }).word, 'not-signed');
  const next = await log.seal('eu', [{}], { batch: 2, first: 2 });
  const notOne = twoEnvelopes(ledger.name(rival), ledger.name(next));
  assert.is(judged(log, await proofOf(log, notOne), known).word, 'no-contradiction');
  const ofTwo = twoEnvelopes(ledger.name(rival), ledger.name(await log.seal('us', [{}], FIRST)));
  assert.equal(await wordAndAccused(log, ofTwo, known), ['no-contradiction', null]);
  assert.is(
    judged(
      log,
      { ...proof, rosters: [{ text: proof.rosters[0]?.text ?? '', decision: null }, ...proof.rosters] },
      known,
    ).word,
    'rosters-do-not-join',
  );
});

test('a message that is none of the federation’s contradicts the proof, and a fault of the verifier’s own is no word on it', async () => {
  const { log, misdeed, known } = await equivocating();
  const proof = await proofOf(log, misdeed);
  for (const message of ['no message', '{}', '']) {
    const messageAt = (sequence: string) => {
      const read = known.messageAt(sequence);
      return read && { ...read, message };
    };
    assert.is(judged(log, proof, { ...known, messageAt }).word, 'contradicted', message);
  }
  const liar = await FederationLog.create();
  for (const node of ['jp', 'ca']) await liar.record(node);
  const [first, second] = [await log.checkpoint('sg'), await liar.checkpoint('sg')];
  const two = await proofOf(log, { type: 'two-checkpoints', first, second, difference: leavesAt(1, log, liar) }, []);
  assert.is(judged(log, two, known).word, 'proven');
  const broken: Suite = {
    ...nativeSuite,
    sha256: () => {
      throw new RangeError('out of memory');
    },
  };
  assert.throws(() => judgeProof(broken, parseProofText(JSON.stringify(two)), known), /out of memory/);
});

test('nothing rests on a roster without its majority', async () => {
  const { log, misdeed, known } = await equivocating();
  await log.admit('za');
  log.addRoster({ members: log.membersWith(['za']) });
  const proof = await proofOf(log, misdeed);
  assert.is(judged(log, proof, known).word, 'proven');
  const few = { ...proof, checkpoints: proof.checkpoints.slice(0, 2) };
  assert.is(judged(log, few, known).word, 'roster-without-majority');
  const messageAt = () => ({ payer: log.account('eu'), message: 'another', index: 0 });
  assert.is(
    judged(log, few, { ...known, messageAt }).word,
    'contradicted',
    'what refuses it comes before what it lacks',
  );
});

test('a proof by other rosters than those that its verifier knows is contradicted', async () => {
  const { log, misdeed, known } = await equivocating();
  const other = await FederationLog.create();
  for (const [made, name] of [
    [log, 'za'],
    [other, 'zb'],
  ] as const) {
    await made.admit(name);
    made.addRoster({ members: made.membersWith([name]) });
  }
  const [ours, theirs] = [await proofOf(log, misdeed), await proofOf(other, misdeed)];
  const { messageAt } = known;
  assert.is(judged(log, ours, { messageAt, rosters: ours.rosters }).word, 'proven');
  assert.is(judged(log, ours, { messageAt, rosters: theirs.rosters }).word, 'contradicted');
});

test('where a flood of bad signatures hides whether a key was compromised, its owner is not accused', async () => {
  const { log, misdeed, known } = await equivocating();
  await log.revoke('eu', { reason: 'compromised', compromisedSince: log.tick() });
  const proof = await proofOf(log, misdeed);
  assert.is(judged(log, proof, known).word, 'key-revoked');
  // These two are looked at first, so that the certificate of the key is known to hold.
  const isFirst = ({ text }: SignedCheckpoint) => ['us', 'eu'].includes(checkpointStatement.parse(text).node);
  const flood = proof.checkpoints
    .filter((signed) => !isFirst(signed))
    .flatMap(({ text, signature }) => {
      const checkpoint = checkpointStatement.parse(text);
      return Array.from({ length: 100 }, (_, i) => {
        return { text: checkpointStatement.write({ ...checkpoint, vouched: { eu: i + 2 } }), signature };
      });
    });
  const flooded = judged(log, { ...proof, checkpoints: [...flood, ...proof.checkpoints] }, known);
  assert.equal([flooded.word, flooded.proven], ['too-few-checkpoints', false]);
});

test('what a proof may hold is bounded, and of a closed shape', async () => {
  const { log, misdeed } = await equivocating();
  const proof = await proofOf(log, misdeed);
  const refused: readonly unknown[] = [
    { ...proof, format: 'meridian-proof/1' },
    { ...proof, extra: 1 },
    { ...proof, misdeed: { ...misdeed, type: 'broken-chain' } },
    { ...proof, misdeed: { ...misdeed, sequence: '1' } },
    { ...proof, rosters: [] },
    { ...proof, keys: Array.from({ length: 1025 }, () => proof.keys[0]) },
  ];
  for (const each of refused) assert.throws(() => parseProofText(JSON.stringify(each)), /./);
  assert.throws(
    () => parseProofText(JSON.stringify(proof).replace('{', '{"format":"meridian-proof/2",')),
    /./,
    'a member twice',
  );
  assert.throws(
    () => parseProofText(' '.repeat((16 << 20) + 1)),
    (error: Error) => 'code' in error && error.code === 'too-long',
  );
});

test.run();

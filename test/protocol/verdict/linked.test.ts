import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { timestampOf } from '../../../protocol/time.ts';
import type { Bundle, LinkedProof } from '../../../protocol/verdict/bundle.ts';
import { consensusOf, FederationLog } from '../../fixtures/federation-log.ts';
import { type LogDraft, recordAt, type SealedBatch } from '../../fixtures/federation-log-batch.ts';
import { bundleOf, linkedOf, viewOf } from '../../fixtures/federation-log-bundle.ts';
import { reviewer } from '../evidence/case.ts';
import { at, codesOf, counted, verdictOf } from './judged.ts';

function reviewOf(sealed: SealedBatch, account = 'acc_eu_demo'): LogDraft {
  const claims = { reviewer: reviewer('a'), reviewOutcome: 'confirmed' } as const;
  return { kind: 'human_override', account, links: { original: recordAt(sealed, 0).id }, claims };
}

/** A record of eu, a review of it by `by`, and the bundle that carries both. */
async function reviewed(by: string, account?: string) {
  const log = await FederationLog.create();
  const sealed = await log.record('eu', [account === undefined ? {} : { account }, {}]);
  const review = await log.record(by, [reviewOf(sealed, account)]);
  const own = await bundleOf(log, sealed);
  const bundle: Bundle = { ...own, linked: [linkedOf(log, review, 0, own)] };
  return { log, sealed, review, bundle };
}

function flagOf(log: FederationLog, bundle: Bundle): boolean | undefined {
  return verdictOf(log, bundle).evidence?.complianceStatus.article14;
}

test('a linked record that holds is judged by the same rules, and the evidence rules read it', async () => {
  const { log, bundle } = await reviewed('eu');
  const verdict = verdictOf(log, bundle);
  assert.is(verdict.word, 'verified');
  assert.equal(
    verdict.linked.map(({ word, holds, kind }) => [word, holds, kind]),
    [['verified', true, 'human_override']],
  );
  assert.is(flagOf(log, bundle), true);
});

test('a member’s own review turns no flag, also of its own record, unless the account is at home there', async () => {
  const foreign = await reviewed('us');
  const verdict = verdictOf(foreign.log, foreign.bundle);
  assert.is(at(verdict.linked).word, 'verified');
  assert.is(verdict.evidence?.complianceStatus.article14, false);
  const home = await reviewed('us', 'acc_us_01');
  assert.is(flagOf(home.log, home.bundle), true);
  const elsewhere = await reviewed('us', 'acc_ca_01');
  assert.is(flagOf(elsewhere.log, elsewhere.bundle), false);
  const invented = await reviewed('eu', 'acc_ca_01');
  assert.is(flagOf(invented.log, invented.bundle), false);
});

test('signatures and decisions are absent where the same texts stand before', async () => {
  const log = await FederationLog.create();
  const sealed = await log.record('eu', [{}, {}, {}]);
  const own = await bundleOf(log, sealed);
  const bare = (i: number): LinkedProof => {
    const { record, receipt, batch } = linkedOf(log, sealed, i, own);
    if (batch === null) throw new Error('no batch');
    const { statement, path } = receipt;
    return { record, receipt: { statement, path }, batch: { envelope: batch.envelope, path: batch.path } };
  };
  const plain = counted(own, { pin: log.genesis });
  const { verdict, signatures } = counted({ ...own, linked: [bare(1), bare(2)] }, { pin: log.genesis });
  assert.equal(
    verdict.linked.map(({ word }) => word),
    ['verified', 'verified'],
  );
  assert.is(signatures, plain.signatures);
});

test('a signature that stands nowhere before is lacking; that of the linked record before counts', async () => {
  const { log, bundle, review } = await reviewed('eu');
  const { record, receipt, batch } = linkedOf(log, review, 0, bundle);
  if (batch === null) throw new Error('no batch');
  const bare: LinkedProof = {
    record,
    receipt: { statement: receipt.statement, path: receipt.path },
    batch: { envelope: batch.envelope, path: batch.path },
  };
  const verdict = verdictOf(log, { ...bundle, linked: [bare] });
  assert.is(verdict.word, 'verified');
  assert.equal([at(verdict.linked).holds, at(verdict.linked).word], [false, 'not-signed']);
  assert.ok(codesOf(at(verdict.linked)).includes('signature-missing'));
  const after = verdictOf(log, { ...bundle, linked: [at(bundle.linked), bare] });
  assert.equal(
    after.linked.map(({ word }) => word),
    ['verified', 'verified'],
  );
});

test('a linked record that does not hold is named, moves no word, and shows nothing', async () => {
  const { log, bundle } = await reviewed('eu');
  const linked = at(bundle.linked);
  for (const broken of [
    { ...linked, record: { ...linked.record, head: '{}' } },
    { ...linked, receipt: { ...linked.receipt, path: [log.genesis] } },
    { ...linked, receipt: { ...linked.receipt, signature: bundle.receipt.signature } },
    { ...linked, decision: bundle.decision },
    { ...linked, batch: linked.batch && { ...linked.batch, signature: bundle.receipt.signature } },
    { ...linked, batch: linked.batch && { ...linked.batch, signature: bundle.receipt.signature }, decision: null },
    { ...linked, batch: null },
    { ...linked, disclosure: { salt: bundle.receipt.signature, payload: 1 } },
  ]) {
    const verdict = verdictOf(log, { ...bundle, linked: [broken] });
    assert.is(verdict.word, 'verified');
    assert.is(at(verdict.linked).holds, false);
    assert.is(verdict.evidence?.complianceStatus.article14, false);
  }
});

test('of two linked records of one batch each is judged by its own decision and signatures', async () => {
  const log = await FederationLog.create();
  const sealed = await log.record('eu', [{}]);
  const reviews = await log.record('eu', [reviewOf(sealed), reviewOf(sealed)]);
  const own = await bundleOf(log, sealed);
  const good = linkedOf(log, reviews, 0, own);
  const other = linkedOf(log, reviews, 1, own);
  const words = (...linked: LinkedProof[]) => verdictOf(log, { ...own, linked }).linked.map(({ word }) => word);
  assert.equal(words(good, other), ['verified', 'verified']);
  const broken = [
    { ...other, decision: own.decision },
    { ...other, batch: other.batch && { ...other.batch, signature: own.receipt.signature } },
    { ...other, receipt: { ...other.receipt, signature: own.receipt.signature } },
  ];
  for (const bad of broken) {
    for (const [first, second] of [
      [good, bad],
      [bad, good],
    ] as const) {
      const found = words(first, second);
      assert.is(found[first === good ? 0 : 1], 'verified');
      assert.is.not(found[first === good ? 1 : 0], 'verified');
    }
  }
});

test('a linked record without its body shows nothing of what it claims', async () => {
  const { log, bundle } = await reviewed('eu');
  const linked = at(bundle.linked);
  const verdict = verdictOf(log, { ...bundle, linked: [{ ...linked, record: { ...linked.record, body: null } }] });
  assert.equal([at(verdict.linked).holds, at(verdict.linked).kind], [true, 'human_override']);
  assert.is(verdict.evidence?.complianceStatus.article14, false);
});

test('a linked record that waits for its batch is evidence by its node’s signature', async () => {
  const { log, bundle } = await reviewed('eu');
  const linked = { ...at(bundle.linked), batch: null, decision: null };
  const verdict = verdictOf(log, { ...bundle, linked: [linked] });
  assert.is(at(verdict.linked).word, 'no-batch-yet');
  assert.is(verdict.evidence?.complianceStatus.article14, true);
});

test('a linked record by a compromised key with an invented decision shows nothing', async () => {
  const log = await FederationLog.create();
  const sealed = await log.record('eu');
  const theft = log.tick(60_000);
  await log.revoke('eu', { reason: 'compromised', compromisedSince: theft });
  const forged = await log.seal('eu', [{ ...reviewOf(sealed), submittedAt: timestampOf(Date.parse(theft) - 9000) }], {
    from: timestampOf(Date.parse(theft) - 10_000),
    sealedAt: timestampOf(Date.parse(theft) - 8000),
  });
  const consensusTimestamp = consensusOf(Date.parse(theft) - 5000);
  const text = log.decisionText(log.messageOf(forged), {
    consensusTimestamp,
    payer: log.account('eu'),
    index: 0,
    sequence: '9',
  });
  const own = await bundleOf(log, sealed, 0, { witnesses: ['us', 'ca', 'sg'] });
  const linked = [{ ...linkedOf(log, forged, 0, own), decision: { text, paths: [] } }];
  const verdict = verdictOf(log, { ...own, linked });
  assert.is(verdict.word, 'verified');
  assert.is(at(verdict.linked).holds, false);
  assert.is(verdict.evidence?.complianceStatus.article14, false);
});

test('a linked record that the verifier knows better of is contradicted, and shows nothing', async () => {
  const { log, bundle, sealed, review } = await reviewed('eu');
  const decidedBatch = (_: string, batch: number) => log.decisions[batch === review.batch ? 0 : -1];
  const verdict = verdictOf(log, bundle, { log: viewOf(log, [sealed], { decidedBatch }) });
  assert.is(verdict.word, 'verified');
  assert.is(at(verdict.linked).word, 'contradicted');
  assert.is(verdict.evidence?.complianceStatus.article14, false);
});

test('a record that does not hold shows nothing, whatever is linked to it', async () => {
  const { log, bundle } = await reviewed('eu');
  const verdict = verdictOf(log, {
    ...bundle,
    receipt: { ...bundle.receipt, signature: at(bundle.checkpoints).signature },
  });
  assert.is(verdict.word, 'not-signed');
  assert.is(verdict.evidence?.complianceStatus.article14, false);
});

test.run();

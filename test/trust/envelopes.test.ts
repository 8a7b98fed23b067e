import * as assert from 'uvu/assert';
import { hashText } from '../../protocol/hash.ts';
import { nativeSuite } from '../../node/keys/native-suite.ts';
import { timestampOf } from '../../protocol/time.ts';
import type { Bundle } from '../../protocol/verdict/bundle.ts';
import { consensusOf, FederationLog } from '../fixtures/federation-log.ts';
import type { LogDraft, SealedBatch, SealTerms } from '../fixtures/federation-log-batch.ts';
import { bundleOf, sizesOf } from '../fixtures/federation-log-bundle.ts';
import { newestKey } from '../fixtures/federation-log-member.ts';
import { codesOf, verdictOf } from '../protocol/verdict/judged.ts';
import { trustTests } from './claims.ts';
import { Ledger } from './ledger.ts';
import { vouchedFor } from './vouching.ts';

const INVENTED = hashText(nativeSuite, 'invented');
const MEMBERS = ['us', 'eu', 'ca', 'sg', 'jp'];

await trustTests({
  'two envelopes of one number, both on the ledger: the first was decided, and no rival moves that': async (claim) => {
    const ledger = await Ledger.create();
    const { log } = ledger;
    const decided = await log.seal('eu');
    const otherLog = await FederationLog.create();
    const rival = await otherLog.seal('eu', [{}, {}]);
    assert.ok(ledger.name(decided));
    assert.not(ledger.name(rival));
    assert.equal(
      ledger.rivals.map(({ node, batch }) => [node, batch]),
      [['eu', 1]],
    );
    const known = { pin: log.genesis };
    const own = await bundleOf(log, decided);
    claim({ what: 'the decided one', bundle: own, known, log, word: 'verified' });
    const { decision, checkpoints } = own;
    const bundle = { ...(await bundleOf(otherLog, rival)), checkpoints };
    const atNode = 'contradicted';
    claim({ what: 'the rival', bundle, known, log, word: 'no-decision-yet', atNode });
    const posed = { ...bundle, decision };
    claim({ what: 'by the other’s decision', bundle: posed, known, log, word: 'decision-mismatch', atNode });
    otherLog.decide(rival);
    const lies = [await otherLog.checkpoint('sg'), await otherLog.checkpoint('jp'), ...checkpoints.slice(0, 3)];
    claim({
      what: 'by two that say it was the first',
      bundle: await bundleOf(otherLog, rival, 0, { checkpoints: lies }),
      known,
      log,
      word: 'too-few-checkpoints',
      atNode,
    });
  },

  'a rescue needs names that are the same in every word, the key too': async (claim) => {
    const ledger = await Ledger.create();
    const { log } = ledger;
    const sealed = await log.seal('eu');
    const { signer } = await log.rotateKey('eu');
    const named = log.messageOf(sealed);
    if (named.type !== 'batch') throw new Error('a batch is named');
    const posed = { ...named, keyId: signer.keyId };
    assert.not(ledger.say(named, 'us', 'ca'));
    assert.not(ledger.say(posed, 'sg'), 'another key is another name');
    const known = { pin: log.genesis };
    claim({ what: 'named by two and one', bundle: await bundleOf(log, sealed), known, log, word: 'no-decision-yet' });
    assert.ok(ledger.say(named, 'jp'));
    claim({ what: 'named by three', bundle: await bundleOf(log, sealed), known, log, word: 'verified' });
  },

  'a rescue completed under another key’s name decides what no envelope has': async (claim) => {
    const ledger = await Ledger.create();
    const { log } = ledger;
    const sealed = await log.seal('eu');
    const { signer } = await log.rotateKey('eu');
    const named = log.messageOf(sealed);
    if (named.type !== 'batch') throw new Error('a batch is named');
    assert.ok(ledger.say({ ...named, keyId: signer.keyId }, 'us', 'ca', 'sg'));
    const bundle = await bundleOf(log, sealed);
    const decision = log.decisionProof(0, sizesOf(bundle.checkpoints));
    const known = { pin: log.genesis };
    claim({ what: 'completed', bundle: { ...bundle, decision }, known, log, word: 'decision-mismatch' });
  },

  'a rotation while a batch is in flight: its old name decides nothing, and signed anew it is verified': async (
    claim,
  ) => {
    const ledger = await Ledger.create();
    const { log } = ledger;
    const first = await ledger.record('eu', [{ account: 'acc_first' }]);
    const before = await log.seal('eu');
    ledger.enforce(await ledger.draftRevocation('eu'), 'us', 'ca', 'sg');
    assert.not(ledger.name(before), 'its key is revoked');
    assert.not(ledger.say(log.messageOf(before), 'us', 'ca', 'sg'), 'also where others name it');
    const { batch, envelope } = before;
    const same = {
      batch,
      first: envelope.first,
      prev: envelope.prev,
      from: envelope.from,
      sealedAt: envelope.sealedAt,
    };
    await log.rotateKey('eu', envelope.first);
    const key = newestKey(log.member('eu'));
    const submittedAt = JSON.parse(before.records[0]?.head ?? '').submittedAt;
    const anew = await log.seal('eu', [{}], { ...same, submittedAt, groupKey: key, envelopeKey: key });
    assert.is(anew.envelope.root, before.envelope.root);
    assert.ok(ledger.name(anew));
    const known = { pin: log.genesis };
    const bundle = await bundleOf(log, anew);
    claim({ what: 'signed anew', bundle, known, log, word: 'verified' });
    claim({ what: 'the one before', bundle: await bundleOf(log, first), known, log, word: 'verified' });
    const old = { ...(await bundleOf(log, before)), decision: bundle.decision };
    const receipt = { ...bundle.receipt, ...before.signedGroup };
    claim({
      what: 'the old receipt',
      bundle: { ...bundle, keys: log.certificates, receipt },
      known,
      log,
      word: 'not-sealed',
    });
    claim({ what: 'the old envelope', bundle: old, known, log, word: 'decision-mismatch', atNode: 'contradicted' });
    assert.equal(await vouchedFor(log, 'eu', [first, anew]), { batch: 2, refusal: null });
    const mixed = { ...anew, signedGroup: before.signedGroup };
    assert.equal(await vouchedFor(log, 'eu', [first, mixed]), { batch: 1, refusal: 'group-key-mismatch' });
  },

  'skipped records of a source are vouched for by nobody': async (claim) => {
    await unvouched(claim, 'source-skipped', [{ source: { sourceSeq: 900, sourcePrev: INVENTED } }]);
    await unvouched(claim, 'source-skipped', [{}, {}]);
  },

  'an invented record before the first of a source is vouched for by nobody': async (claim) => {
    await unvouched(claim, 'source-prev-mismatch', [{}, { source: { sourceSeq: 2, sourcePrev: INVENTED } }]);
  },

  'a batch dated back behind the one before is vouched for by nobody': async (claim) => {
    const early = { from: timestampOf(Date.UTC(2020, 0, 1)), submittedAt: timestampOf(Date.UTC(2020, 0, 2)) };
    await unvouched(claim, 'from-too-early', [{}], early);
  },

  'a record that was submitted before its batch was begun is not sealed': async (claim) => {
    const ledger = await Ledger.create();
    const sealed = await ledger.record('eu', [{ submittedAt: timestampOf(Date.UTC(2020, 0, 1)) }]);
    const known = { pin: ledger.log.genesis };
    claim({
      what: 'back-dated',
      bundle: await bundleOf(ledger.log, sealed),
      known,
      log: ledger.log,
      word: 'not-sealed',
    });
  },

  'honest records of one source, one after another, are vouched for': async (claim) => {
    const { log, bundle, vouched } = await derived([{}, { account: 'acc_other' }]);
    assert.equal(vouched, { batch: 1, refusal: null });
    claim({ what: 'honest', bundle, known: { pin: log.genesis }, log, word: 'verified' });
  },

  'a decision before the batch was sealed, by all of the quorum, is misdated': async (claim) => {
    const log = await FederationLog.create();
    const sealed = await log.record('eu', [{}], { consensusTimestamp: consensusOf(log.now - 600_000) });
    claim({
      what: 'misdated',
      bundle: await bundleOf(log, sealed),
      known: { pin: log.genesis },
      log,
      word: 'misdated',
    });
  },
});

/** A batch of eu that is decided, what honest members vouch for then, and its bundle under their checkpoints. */
async function derived(drafts: readonly LogDraft[], change: Partial<SealTerms> = {}) {
  const ledger = await Ledger.create();
  const { log } = ledger;
  const sealed: SealedBatch = await ledger.record('eu', drafts, change);
  const vouched = await vouchedFor(log, 'eu', [sealed]);
  const said = vouched.batch === 0 ? {} : { eu: vouched.batch };
  const checkpoints = await Promise.all(MEMBERS.map((node) => log.checkpoint(node, { vouched: said })));
  const bundle: Bundle = await bundleOf(log, sealed, 0, { checkpoints });
  return { log, bundle, vouched };
}

async function unvouched(
  claim: Parameters<Parameters<typeof trustTests>[0][string]>[0],
  refusal: string,
  drafts: readonly LogDraft[],
  change: Partial<SealTerms> = {},
): Promise<void> {
  const { log, bundle, vouched } = await derived(drafts, change);
  assert.equal(vouched, { batch: 0, refusal });
  const known = { pin: log.genesis };
  claim({ what: refusal, bundle, known, log, word: 'too-few-checkpoints' });
  assert.equal(codesOf(verdictOf(log, bundle)), ['too-few-vouch']);
}

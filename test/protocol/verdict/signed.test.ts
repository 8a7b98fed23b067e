import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { hashText } from '../../../protocol/hash.ts';
import { nodeId, recordId } from '../../../protocol/ids.ts';
import { timestampOf } from '../../../protocol/time.ts';
import type { Bundle } from '../../../protocol/verdict/bundle.ts';
import { nativeSuite } from '../../../node/keys/native-suite.ts';
import { FederationLog } from '../../fixtures/federation-log.ts';
import type { SealTerms } from '../../fixtures/federation-log-batch.ts';
import { bundleOf } from '../../fixtures/federation-log-bundle.ts';
import { newestKey } from '../../fixtures/federation-log-member.ts';
import { certifyKey } from '../../fixtures/federation-member.ts';
import { codesOf, verdictOf, withMember, wordOf } from './judged.ts';

const log = await FederationLog.create();
const sealed = await log.record('eu', [{}, {}, {}]);
const bundle = await bundleOf(log, sealed, 1);
const { batch } = bundle;
if (batch === null) throw new Error('no batch');

function withRecord(record: Partial<Bundle['record']>): Bundle {
  return { ...bundle, record: { ...bundle.record, ...record } };
}

/** The verdict on a batch that breaks a rule, signed and decided all the same. */
async function verdictOnBroken(change: (made: FederationLog) => Partial<SealTerms>, drafts = [{}, {}]) {
  const made = await FederationLog.create();
  await made.record('eu', [{}, {}]);
  const broken = await made.seal('eu', drafts, change(made));
  made.decide(broken);
  return verdictOf(made, await bundleOf(made, broken, 1));
}

test('a head that is not canonical is none', () => {
  const verdict = verdictOf(log, withRecord({ head: bundle.record.head.replace('{', '{ ') }));
  assert.is(verdict.word, 'not-signed');
  assert.is(verdict.record, null);
  assert.not(verdict.checks.leafRederived);
});

test('a check holds only where all that it needs could be read', () => {
  const { receipt, record } = bundle;
  const head = record.head.replace('{', '{ ');
  const unread: readonly Bundle[] = [
    { ...bundle, receipt: { ...receipt, statement: '{}' } },
    { ...bundle, batch: { ...batch, envelope: '{}' } },
    withRecord({ head }),
  ];
  assert.equal(
    unread.map((each) => verdictOf(log, each).checks),
    [true, true, false].map((leafRederived) => ({
      leafRederived,
      payloadHashMatch: false,
      proofWalk: false,
      bundleBinding: false,
      sigValid: false,
    })),
  );
});

test('no signature is called valid of a record that its batch does not hold', () => {
  const { checks, word } = verdictOf(log, { ...bundle, batch: { ...batch, path: [] } });
  assert.is(word, 'not-sealed');
  assert.equal([checks.proofWalk, checks.bundleBinding, checks.sigValid], [false, true, false]);
});

test('a head whose id names another node is none', () => {
  const id = recordId(JSON.parse(bundle.record.head).id.replace('_eu_', '_us_'));
  const verdict = verdictOf(log, withRecord({ head: withMember(bundle.record.head, 'id', id) }));
  assert.equal(codesOf(verdict), ['record-malformed']);
  assert.is(verdict.word, 'not-signed');
});

test('a body that the head does not name is not the record’s, canonical or not', async () => {
  const { body } = (await bundleOf(log, sealed, 2)).record;
  for (const wrong of [body, `${bundle.record.body} `, '{}']) {
    const verdict = verdictOf(log, withRecord({ body: wrong }));
    assert.is(verdict.word, 'not-signed');
    assert.is(verdict.evidence, null);
    assert.not(verdict.checks.leafRederived);
  }
});

test('a body of the head’s hash that is no body is refused', () => {
  const body = '{"account":"acc_demo"}';
  const head = withMember(bundle.record.head, 'body', hashText(nativeSuite, body));
  assert.ok(codesOf(verdictOf(log, withRecord({ head, body }))).includes('record-malformed'));
});

test('a public proof shows id, kind, node and time, and says nothing of claims', () => {
  const verdict = verdictOf(log, withRecord({ body: null }));
  assert.is(verdict.word, 'verified');
  assert.is(verdict.record?.node, 'eu');
  assert.is(verdict.evidence, null);
  assert.is(verdict.agent, null);
});

test('a receipt of another node, or that does not cover the record, does not sign it', async () => {
  const of = async (changeGroup: SealTerms['changeGroup']) => verdictOnBroken(() => ({ changeGroup }));
  const another = await of({ node: nodeId('us') });
  assert.is(another.word, 'not-signed');
  assert.equal(codesOf(another), ['node-mismatch']);
  const before = await of({ first: 1, size: 3 });
  assert.is(before.word, 'not-signed');
  assert.equal(codesOf(before), ['range-mismatch']);
  assert.equal(codesOf(await of({ first: 5, size: 2 })), ['range-mismatch']);
  assert.equal(codesOf(await of({ size: 3 })), ['path-to-group', 'range-mismatch']);
});

test('a leaf that is not in the group’s tree is not signed', () => {
  const receipt = { ...bundle.receipt, path: [] };
  const verdict = verdictOf(log, { ...bundle, receipt });
  assert.is(verdict.word, 'not-signed');
  assert.not(verdict.checks.proofWalk);
});

test('a receipt by a key without a certificate is not signed', async () => {
  const keys = log.certificates.filter((signed) => signed !== newestKey(log.member('eu')).signed);
  const verdict = verdictOf(log, await bundleOf(log, sealed, 1, { keys }));
  assert.is(verdict.word, 'not-signed');
  assert.equal(codesOf(verdict), ['key-unknown']);
});

test('only the node’s own identity key certifies its keys', async () => {
  const { signer } = newestKey(log.member('eu'));
  const { signed } = await certifyKey(nodeId('eu'), log.member('us').identity, signer, {
    validFrom: timestampOf(log.now),
    seqFrom: 1,
  });
  const keys = log.certificates.map((one) => (one === newestKey(log.member('eu')).signed ? signed : one));
  assert.is(wordOf(log, await bundleOf(log, sealed, 1, { keys })), 'not-signed');
});

test('a certificate of another purpose, or of a key id that is not its key’s, certifies nothing', async () => {
  const { signer, signed: good } = newestKey(log.member('eu'));
  const { identity } = log.member('eu');
  const terms = { validFrom: timestampOf(log.now), seqFrom: 1 };
  const agent = await certifyKey(nodeId('eu'), identity, signer, { ...terms, purpose: 'agent' });
  const posing = { ...newestKey(log.member('us')).signer, keyId: signer.keyId };
  const wrong = await certifyKey(nodeId('eu'), identity, posing, terms);
  for (const signed of [agent.signed, wrong.signed]) {
    const keys = log.certificates.map((one) => (one === good ? signed : one));
    assert.is(wordOf(log, await bundleOf(log, sealed, 1, { keys })), 'not-signed');
  }
});

test('a key goes by its own id alone, so that no other id escapes its revocation', async () => {
  const made = await FederationLog.create();
  const { signer } = newestKey(made.member('eu'));
  const posing = { ...signer, keyId: hashText(nativeSuite, 'another id') };
  const terms = { validFrom: timestampOf(made.now), seqFrom: 1 };
  const { signed } = await certifyKey(nodeId('eu'), made.member('eu').identity, posing, terms);
  const key = { signer: posing, signed };
  const posed = await made.seal('eu', [{}], { groupKey: key, envelopeKey: key });
  made.decide(posed);
  assert.is(wordOf(made, await bundleOf(made, posed, 0, { keys: [...made.certificates, signed] })), 'not-signed');
});

test('two certificates of one key, in either order: any that covers counts, and a later one never narrows', async () => {
  const { signer, signed } = newestKey(log.member('eu'));
  const later = await certifyKey(nodeId('eu'), log.member('eu').identity, signer, {
    validFrom: timestampOf(log.now + 1_000_000),
    seqFrom: 900,
  });
  for (const keys of [
    [later.signed, ...log.certificates],
    [...log.certificates, later.signed],
  ]) {
    assert.is(wordOf(log, await bundleOf(log, sealed, 1, { keys })), 'verified');
  }
  const alone = log.certificates.map((one) => (one === signed ? later.signed : one));
  assert.is(wordOf(log, await bundleOf(log, sealed, 1, { keys: alone })), 'not-signed');
});

test('a certificate covers a group from its first record on, and `validFrom` informs', async () => {
  const { signer, signed } = newestKey(log.member('eu'));
  for (const [seqFrom, word] of [
    [1, 'verified'],
    [2, 'not-signed'],
  ] as const) {
    const terms = { validFrom: timestampOf(log.now + 1_000_000), seqFrom };
    const certificate = await certifyKey(nodeId('eu'), log.member('eu').identity, signer, terms);
    const keys = log.certificates.map((one) => (one === signed ? certificate.signed : one));
    assert.is(wordOf(log, await bundleOf(log, sealed, 1, { keys })), word);
  }
});

test('a receipt by another key than its batch is not sealed, whatever was revoked', async () => {
  for (const isRevoked of [false, true]) {
    const made = await FederationLog.create();
    const [first, second] = [newestKey(made.member('eu')), await made.rotateKey('eu')];
    for (const [groupKey, envelopeKey] of [
      [first, second],
      [second, first],
    ] as const) {
      const mixed = await made.seal('eu', [{}], { groupKey, envelopeKey });
      made.decide(mixed);
      if (isRevoked) await made.revoke('us');
      const verdict = verdictOf(made, await bundleOf(made, mixed));
      assert.equal([verdict.word, verdict.facts.signed, verdict.facts.onLedger], ['not-sealed', 'holds', false]);
      assert.equal(
        verdict.problems.map(({ fact, code }) => [fact, code]),
        [['sealed', 'key-mismatch']],
      );
      assert.not(verdict.checks.bundleBinding);
    }
  }
});

test('a receipt whose signature is another’s is not signed', () => {
  const receipt = { ...bundle.receipt, signature: batch.signature };
  assert.is(wordOf(log, { ...bundle, receipt }), 'not-signed');
});

test('the envelope holds the whole group, of the same node, after the batch before', async () => {
  const of = async (changeEnvelope: SealTerms['changeEnvelope']) => verdictOnBroken(() => ({ changeEnvelope }));
  for (const change of [{ node: nodeId('us') }, { size: 1 }, { first: 4 }, { prev: null }]) {
    const verdict = await of(change);
    assert.is(verdict.word, 'node' in change ? 'decision-mismatch' : 'not-sealed', JSON.stringify(change));
    assert.not(verdict.verified);
    assert.not(verdict.checks.bundleBinding);
  }
  assert.equal(codesOf(await of({ prev: null })), ['range-mismatch']);
});

test('an envelope of another node seals nothing, also before it is decided', async () => {
  const made = await FederationLog.create();
  const foreign = await made.seal('eu', [{}], { changeEnvelope: { node: nodeId('us') } });
  const verdict = verdictOf(made, await bundleOf(made, foreign));
  assert.is(verdict.word, 'not-sealed');
  assert.equal(codesOf(verdict), ['node-mismatch']);
});

test('only the first batch has none before it', async () => {
  const made = await FederationLog.create();
  const prev = hashText(nativeSuite, 'an envelope that never was');
  const first = await made.seal('eu', [{}], { prev });
  made.decide(first);
  assert.is(wordOf(made, await bundleOf(made, first)), 'not-sealed');
});

test('a record was submitted while its batch was open: from `from` to `sealedAt`, both included', async () => {
  const on = async (submitted: (made: { from: number; sealedAt: number }) => number) =>
    (
      await verdictOnBroken((made) => {
        const [from, sealedAt] = [made.now + 1000, made.now + 5000];
        return {
          from: timestampOf(from),
          sealedAt: timestampOf(sealedAt),
          submittedAt: timestampOf(submitted({ from, sealedAt })),
        };
      })
    ).word;
  assert.is(await on(({ from }) => from), 'verified');
  assert.is(await on(({ sealedAt }) => sealedAt), 'verified');
  assert.is(await on(({ from }) => from - 1), 'not-sealed');
  assert.is(await on(({ sealedAt }) => sealedAt + 1), 'not-sealed');
});

test('a leaf that is not in the envelope’s tree is not sealed', () => {
  const verdict = verdictOf(log, { ...bundle, batch: { ...batch, path: [] } });
  assert.is(verdict.word, 'not-sealed');
  assert.equal(codesOf(verdict), ['path-to-batch']);
});

test('an envelope that does not read seals nothing', () => {
  const verdict = verdictOf(log, { ...bundle, batch: { ...batch, envelope: `${batch.envelope} ` } });
  assert.is(verdict.word, 'not-sealed');
  assert.equal(codesOf(verdict), ['envelope-malformed']);
});

test('a payload is shown beside the body that commits to it, with a salt of 32 bytes, or it is damaged', async () => {
  const shown = await bundleOf(log, sealed, 1, { disclosed: true });
  const { disclosure } = shown;
  if (disclosure === undefined) throw new Error('nothing disclosed');
  assert.is(verdictOf(log, shown).facts.payload, 'disclosed');
  const salt = `${disclosure.salt}AA` as typeof disclosure.salt;
  for (const damaged of [
    { ...shown, record: { ...shown.record, body: null } },
    { ...shown, disclosure: { ...disclosure, salt } },
    { ...shown, disclosure: { ...disclosure, payload: null } },
  ]) {
    const verdict = verdictOf(log, damaged);
    assert.is(verdict.word, 'payload-damaged');
    assert.is(verdict.facts.payload, 'damaged');
    assert.not(verdict.checks.payloadHashMatch);
  }
});

test('why no payload is shown is what the verifier knows', () => {
  const states = (['erased', 'unreachable'] as const).map((payload) => {
    return verdictOf(log, bundle, { pin: log.genesis, payload });
  });
  assert.equal(
    states.map(({ facts }) => facts.payload),
    ['erased', 'unreachable'],
  );
  assert.ok(states.every(({ verified, checks }) => verified && !checks.payloadHashMatch));
  assert.is(verdictOf(log, bundle).facts.payload, 'withheld');
});

test.run();

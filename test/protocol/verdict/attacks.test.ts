import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { timestampOf } from '../../../protocol/time.ts';
import type { Bundle } from '../../../protocol/verdict/bundle.ts';
import { consensusOf, FederationLog } from '../../fixtures/federation-log.ts';
import { proofIn } from '../../fixtures/federation-log-batch.ts';
import { bundleOf, revocationProofs, rosterEntries, sizesOf, viewOf } from '../../fixtures/federation-log-bundle.ts';
import { newestKey } from '../../fixtures/federation-log-member.ts';
import { at, counted, verdictOf, wordOf } from './judged.ts';

const YEAR_2020 = consensusOf(Date.UTC(2020, 0, 1));
const YEAR_2100 = consensusOf(Date.UTC(2100, 0, 1));

test('whoever holds an undecided bundle cannot invent its time: past or future, the checkpoints are not of it', async () => {
  const log = await FederationLog.create();
  await log.record('us');
  const sealed = await log.seal('eu');
  const bundle = await bundleOf(log, sealed);
  assert.is(wordOf(log, bundle), 'no-decision-yet');
  const at1 = await log.checkpoint('us', { size: 1 });
  const path = log.decisionProof(0, [1]).paths;
  for (const [consensusTimestamp, word] of [
    [YEAR_2020, 'misdated'],
    [consensusOf(log.now), 'too-few-checkpoints'],
    [YEAR_2100, 'too-few-checkpoints'],
  ] as const) {
    for (const index of [0, 1, 900]) {
      const text = log.decisionText(log.messageOf(sealed), { index, consensusTimestamp, payer: log.account('eu') });
      const invented = { ...bundle, decision: { text, paths: path }, checkpoints: [...bundle.checkpoints, at1] };
      const verdict = verdictOf(log, invented);
      assert.is(verdict.word, word, `${consensusTimestamp} at ${index}`);
      assert.is(verdict.ledger, null);
      assert.is(verdict.status, 'pending');
    }
  }
});

test('a decision with a valid text and no checkpoints is never verified', async () => {
  const log = await FederationLog.create();
  const bundle = await bundleOf(log, await log.record('eu'), 0, { witnesses: [] });
  for (const known of [{}, { pin: log.genesis }, { log: viewOf(log) }]) {
    assert.is(wordOf(log, bundle, known), 'too-few-checkpoints');
  }
});

test('the origin does not say verified by itself, at `anchored` or later', async () => {
  const log = await FederationLog.create();
  const sealed = await log.record('eu');
  const bundle = await bundleOf(log, sealed, 0, { witnesses: ['eu'] });
  const verdict = verdictOf(log, bundle, { log: viewOf(log, [sealed]), anchored: true });
  assert.is(verdict.word, 'too-few-checkpoints');
  assert.is(verdict.status, 'anchored');
  assert.is(verdict.ledger, null);
});

test('a proven equivocation: the envelope that was not decided is contradicted wherever it is known', async () => {
  const log = await FederationLog.create();
  const decided = await log.seal('eu', [{}]);
  log.decide(decided);
  const liar = await FederationLog.create();
  const rival = await liar.seal('eu', [{}, {}]);
  liar.decide(rival);
  const bundle = await bundleOf(liar, rival);
  assert.is(wordOf(log, bundle, { log: viewOf(log, [decided]) }), 'contradicted');
  assert.is(wordOf(log, { ...bundle, decision: null }, { log: viewOf(log, [decided]) }), 'contradicted');
  assert.is(wordOf(log, await bundleOf(log, decided), { log: viewOf(log, [decided]) }), 'verified');
});

test('a false page of one mirror: another decision at a place that the verifier knows is contradicted', async () => {
  const log = await FederationLog.create();
  const decided = await log.record('us');
  const liar = await FederationLog.create();
  const record = await liar.record('eu');
  const bundle = await bundleOf(liar, record);
  assert.is(wordOf(log, bundle), 'verified', 'by a quorum of liars, for whoever knows no better');
  assert.is(wordOf(log, bundle, { log: viewOf(log, [decided]) }), 'contradicted');
});

test('a node counts no checkpoint over a tree that is not its own', async () => {
  const log = await FederationLog.create();
  const sealed = await log.record('eu');
  await log.record('us');
  const liar = await FederationLog.create();
  await liar.record('eu');
  const other = await liar.record('ca');
  const checkpoints = await Promise.all(['us', 'ca', 'sg'].map((node) => liar.checkpoint(node)));
  assert.is(liar.indexOf(other), 1);
  const bundle = await bundleOf(log, sealed, 0, { checkpoints });
  const decision = { text: log.decisions[0] ?? '', paths: liar.decisionProof(0, [2]).paths };
  assert.is(wordOf(log, { ...bundle, decision }), 'verified', 'its place and text are the same in both trees');
  assert.is(wordOf(log, { ...bundle, decision }, { log: viewOf(log, [sealed]) }), 'too-few-checkpoints');
});

test('a removed member’s bundle is contradicted or refused by whoever knows of its removal', async () => {
  const log = await FederationLog.create({ quorum: 2 });
  await log.record('us');
  const gone = await FederationLog.create({ quorum: 2 });
  await gone.record('us');
  log.addRoster({ members: log.membersWith([], ['jp']) });
  const record = await gone.record('jp');
  const bundle = await bundleOf(gone, record, 0, { witnesses: ['us', 'eu'] });
  assert.is(wordOf(gone, bundle), 'verified', 'two members of the first roster lie');
  assert.not(verdictOf(log, bundle, { log: viewOf(log) }).verified);
  assert.not(verdictOf(log, bundle, { rosters: rosterEntries(log, []) }).verified);
  assert.is(wordOf(log, bundle, { pin: log.roster().hash }), 'pin-does-not-join');
});

test('a roster revealed late has no effect: it stands in no tree at its place', async () => {
  const log = await FederationLog.create({ quorum: 2 });
  const record = await log.record('eu');
  const hidden = await FederationLog.create({ quorum: 2 });
  await hidden.admit('za');
  hidden.addRoster({ members: hidden.membersWith(['za'], ['eu']), quorum: 1 });
  const bundle = await bundleOf(log, record);
  const shown = { ...bundle, rosters: rosterEntries(hidden, sizesOf(bundle.checkpoints)) };
  assert.not(verdictOf(log, shown).verified);
  assert.is(wordOf(log, shown, { log: viewOf(log, [record]) }), 'contradicted');
  assert.is(wordOf(log, bundle), 'verified');
});

test('a thief’s checkpoint far ahead counts no more once the key is revoked, whatever it says', async () => {
  for (const reason of ['rotated', 'compromised'] as const) {
    const log = await FederationLog.create();
    const record = await log.record('eu');
    const stolen = newestKey(log.member('sg'));
    await log.revoke('sg', { reason, compromisedSince: reason === 'rotated' ? null : log.tick() });
    const forkedLog = await FederationLog.create();
    for (let i = 0; i < 6; i++) await forkedLog.record('eu');
    const ahead = await forkedLog.checkpoint('sg', {}, stolen);
    const others = await Promise.all(['us', 'ca', 'eu'].map((node) => log.checkpoint(node)));
    const bundle = await bundleOf(log, record, 0, { checkpoints: [...others, ahead] });
    assert.is(wordOf(log, bundle), 'too-few-checkpoints');
  }
});

test('a thief of a key cannot date what it signs before the theft: nobody shows the decision', async () => {
  const log = await FederationLog.create();
  await log.record('eu');
  const theft = log.tick(60_000);
  const forged = await log.seal('eu', [{ submittedAt: timestampOf(log.now - 30_000) }], {
    from: timestampOf(log.now - 40_000),
    sealedAt: timestampOf(log.now - 20_000),
  });
  const bundle = await bundleOf(log, forged);
  const before = consensusOf(Date.parse(theft) - 10_000);
  const text = log.decisionText(log.messageOf(forged), { consensusTimestamp: before, payer: log.account('eu') });
  await log.revoke('eu', { reason: 'compromised', compromisedSince: theft });
  const { checkpoints, revocations } = await bundleOf(log, forged, 0, { witnesses: ['us', 'ca', 'sg', 'jp'] });
  const verdict = verdictOf(log, { ...bundle, decision: { text, paths: [] }, checkpoints, revocations });
  assert.is(verdict.word, 'not-signed');
  assert.not(verdict.evidence?.complianceStatus.article12_1);
});

test('a stranger’s federation of 200 costs no signature', async () => {
  const nodes = Array.from({ length: 200 }, (_, i) => `${letters(i)}${i % 10}`);
  const stranger = await FederationLog.create({ seed: 'stranger', nodes, quorum: 199 });
  const bundle = await bundleOf(stranger, await stranger.record(at(nodes)));
  const log = await FederationLog.create();
  for (const known of [{ pin: log.genesis }, { log: viewOf(log) }, { rosters: rosterEntries(log, []) }]) {
    const { verdict, signatures } = counted(bundle, known);
    assert.is(verdict.word, 'pin-does-not-join');
    assert.is(signatures, 0);
  }
});

test('a record under the third roster, by a pin of the first, with one witness rotated and one compromised', async () => {
  const log = await FederationLog.create({ quorum: 2 });
  for (const node of ['za', 'br']) await log.admit(node);
  log.addRoster({ members: log.membersWith(['za']) });
  log.addRoster({ members: log.membersWith(['br']) });
  const record = await log.record('eu');
  const [rotated, stolen] = [newestKey(log.member('us')), newestKey(log.member('ca'))];
  const covers = log.size;
  const early = await log.checkpoint('us', { size: covers }, rotated);
  await log.revoke('us');
  await log.revoke('ca', { reason: 'compromised', compromisedSince: log.tick() });
  const held = [early, await log.checkpoint('ca', { size: covers }, stolen)];
  const more = async (...nodes: readonly string[]) => Promise.all(nodes.map((node) => log.checkpoint(node)));
  const silent = await Promise.all(['eu', 'sg', 'jp', 'za'].map((node) => log.checkpoint(node, { vouched: {} })));
  const on = async (checkpoints: Bundle['checkpoints']) =>
    verdictOf(log, await bundleOf(log, record, 0, { checkpoints: [...held, ...silent, ...checkpoints] }));
  assert.is((await on([])).word, 'stale', 'us counts up to its revocation, ca no more');
  const verdict = await on(await more('br'));
  assert.is(verdict.word, 'verified');
  assert.equal([verdict.restsOn?.version, verdict.pinned?.version], [3, 1]);
  assert.equal([...verdict.witnesses].sort(), ['br', 'us']);
  await log.rotateKey('ca');
  assert.is((await on(await more('ca'))).word, 'verified');
});

test('witnesses that a newer pin has expelled count no more', async () => {
  const log = await FederationLog.create({ quorum: 2 });
  for (const node of ['za', 'br']) await log.admit(node);
  const record = await log.record('eu');
  const newer = log.addRoster({ members: log.membersWith(['za', 'br'], ['sg', 'jp']) });
  const old = await bundleOf(log, record, 0, { witnesses: ['sg', 'jp', 'us'] });
  assert.is(wordOf(log, old), 'verified');
  assert.not(verdictOf(log, old, { pin: newer.hash }).verified);
  const known = { rosters: rosterEntries(log, []) };
  const first = { ...old, rosters: old.rosters.slice(0, 1) };
  assert.is(wordOf(log, first, known), 'too-few-checkpoints');
  const fresh = await bundleOf(log, record, 0, { witnesses: ['za', 'us', 'ca'] });
  assert.is(wordOf(log, fresh, { pin: newer.hash }), 'verified');
});

test('a public proof with another record’s body is not signed', async () => {
  const log = await FederationLog.create();
  const sealed = await log.record('eu', [{}, { claims: { modelId: 'another' } }]);
  const bundle = await bundleOf(log, sealed);
  const proof = { ...bundle, record: { ...bundle.record, body: null } };
  assert.is(wordOf(log, proof), 'verified');
  const { body } = proofIn(sealed, 1).record;
  assert.is(wordOf(log, { ...proof, record: { ...proof.record, body } }), 'not-signed');
});

test('a revocation that names another node’s key revokes nothing of it, and a false one needs a quorum of liars', async () => {
  const log = await FederationLog.create();
  const record = await log.record('eu');
  const compromisedSince = timestampOf(log.now - 3_600_000);
  const { keyId } = newestKey(log.member('eu')).signer;
  const foreign = await log.revoke('us', { keyId, reason: 'compromised', compromisedSince });
  const bundle = await bundleOf(log, record);
  assert.is(wordOf(log, bundle), 'verified');
  const posed = {
    ...foreign,
    signed: { ...foreign.signed, statement: foreign.signed.statement.replace('"us"', '"eu"') },
  };
  const revocations = revocationProofs(log, [posed], sizesOf(bundle.checkpoints));
  assert.is(wordOf(log, { ...bundle, revocations }), 'verified');
});

function letters(i: number): string {
  return String.fromCharCode(97 + Math.floor(i / 260), 97 + (Math.floor(i / 10) % 26));
}

test.run();

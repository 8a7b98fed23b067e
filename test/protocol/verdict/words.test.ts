import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Facts } from '../../../protocol/verdict/facts.ts';
import { PAYLOAD_STATES } from '../../../protocol/verdict/payload.ts';
import { EXIT_CODES, type Word, wordOf as wordOfFacts } from '../../../protocol/verdict/word.ts';
import { consensusOf, FederationLog } from '../../fixtures/federation-log.ts';
import { bundleOf, viewOf } from '../../fixtures/federation-log-bundle.ts';
import { disclosureOf, proofIn } from '../../fixtures/federation-log-batch.ts';
import { codesOf, verdictOf, withMember, wordOf } from './judged.ts';

const log = await FederationLog.create();
const batchOfThree = await log.record('eu', [{}, {}, {}]);
const other = await log.record('eu', [{}, {}]);
const bundle = await bundleOf(log, batchOfThree, 1, { disclosed: true });
const { batch, decision: decisionProof } = bundle;
if (batch === null || decisionProof === null) throw new Error('the bundle is not complete');

test('verified: all holds, and the pin joins', () => {
  const verdict = verdictOf(log, bundle);
  assert.is(verdict.word, 'verified');
  assert.is(verdict.exitCode, 0);
  assert.ok(verdict.verified);
  assert.equal(verdict.problems, []);
  assert.is(verdict.status, 'confirmed');
  assert.equal(verdict.restsOn, { version: 1, hash: log.genesis });
  assert.equal(verdict.pinned, { version: 1, hash: log.genesis });
  assert.is(verdict.witnesses.length, 3);
  assert.is(verdict.ledger?.isLate, false);
  assert.equal(Object.values(verdict.checks), [true, true, true, true, true]);
});

test('consistent: nothing is pinned, so it is never verified', () => {
  const verdict = verdictOf(log, bundle, {});
  assert.is(verdict.word, 'consistent');
  assert.is(verdict.exitCode, 3);
  assert.not(verdict.verified);
  assert.is(verdict.pinned, null);
});

test('not-signed: the head is another one', () => {
  const head = withMember(bundle.record.head, 'kind', 'incident');
  const verdict = verdictOf(log, { ...bundle, record: { ...bundle.record, head } });
  assert.is(verdict.word, 'not-signed');
  assert.equal(codesOf(verdict), ['path-to-batch', 'path-to-group']);
  assert.is(verdict.ledger, null);
  assert.is(verdict.status, 'pending');
  assert.not(verdict.checks.sigValid);
});

test('contradicted: the verifier’s own log decided another envelope', async () => {
  const rival = await FederationLog.create();
  const decided = await rival.record('eu', [{}, {}]);
  const { word, ledger } = verdictOf(log, bundle, { log: viewOf(rival, [decided]) });
  assert.is(word, 'contradicted');
  assert.is(ledger, null);
});

test('payload-damaged: the payload is another one', () => {
  const disclosure = { ...disclosureOf(other, 1), payload: { data: { input: 1 } } };
  const verdict = verdictOf(log, { ...bundle, disclosure });
  assert.is(verdict.word, 'payload-damaged');
  assert.not(verdict.checks.payloadHashMatch);
  assert.ok(verdict.checks.sigValid);
});

test('rosters-do-not-join: a text that is no roster follows', () => {
  const rosters = [...bundle.rosters, { text: '{}', decision: decisionProof }];
  const verdict = verdictOf(log, { ...bundle, rosters });
  assert.is(verdict.word, 'rosters-do-not-join');
  assert.is(verdict.facts.signed, 'unjudged');
  assert.not(verdict.checks.bundleBinding);
  assert.not(verdict.evidence?.complianceStatus.article12_1);
});

test('pin-does-not-join: the pin is of another federation', async () => {
  const stranger = await FederationLog.create({ seed: 'stranger' });
  const verdict = verdictOf(log, bundle, { pin: stranger.genesis });
  assert.is(verdict.word, 'pin-does-not-join');
  assert.is(verdict.pinned, null);
  const pending = verdictOf(log, { ...bundle, batch: null, decision: null }, { pin: stranger.genesis });
  assert.is(pending.word, 'pin-does-not-join');
  assert.not(pending.evidence?.complianceStatus.article12_1, 'nobody judged its signature');
});

test('decision-mismatch: the decision is of another batch', async () => {
  const wrong = { ...bundle, decision: (await bundleOf(log, other)).decision };
  const verdict = verdictOf(log, wrong);
  assert.is(verdict.word, 'decision-mismatch');
  assert.is(verdict.status, 'pending');
  assert.not(verdict.checks.bundleBinding);
});

test('decision-mismatch: a decision stands without a batch', () => {
  assert.is(wordOf(log, { ...bundle, batch: null }), 'decision-mismatch');
});

test('misdated: the ledger decided it long before it was sealed', async () => {
  const early = await FederationLog.create();
  const dated = await early.seal('eu');
  early.decide(dated, { consensusTimestamp: consensusOf(Date.UTC(2020, 0, 1)) });
  const verdict = verdictOf(early, await bundleOf(early, dated));
  assert.is(verdict.word, 'misdated');
  assert.is(verdict.ledger, null);
});

test('no-batch-yet: the receipt is all there is', () => {
  const verdict = verdictOf(log, { ...bundle, batch: null, decision: null });
  assert.is(verdict.word, 'no-batch-yet');
  assert.is(verdict.status, 'pending');
  assert.ok(verdict.checks.sigValid);
  assert.ok(verdict.evidence?.complianceStatus.article12_1);
});

test('not-sealed: the batch is signed by nobody', () => {
  const signature = bundle.receipt.signature;
  const verdict = verdictOf(log, { ...bundle, batch: { ...batch, signature } });
  assert.is(verdict.word, 'not-sealed');
  assert.equal(codesOf(verdict), ['signature-invalid']);
});

test('no-decision-yet: the batch is sealed', () => {
  assert.is(wordOf(log, { ...bundle, decision: null }), 'no-decision-yet');
});

test('stale: a quorum vouched, by keys revoked since', async () => {
  const aging = await FederationLog.create();
  const record = await aging.record('eu');
  const witnesses = ['us', 'ca', 'sg'];
  const checkpoints = await Promise.all(witnesses.map((node) => aging.checkpoint(node)));
  await aging.revoke('ca', { reason: 'compromised', compromisedSince: aging.tick() });
  const all = await Promise.all(['us', 'eu', 'sg', 'jp'].map((node) => aging.checkpoint(node, { vouched: {} })));
  const verdict = verdictOf(aging, await bundleOf(aging, record, 0, { checkpoints: [...checkpoints, ...all] }));
  assert.is(verdict.word, 'stale');
  assert.is(verdict.exitCode, 5);
  const fresh = await aging.rotateKey('ca');
  const again = await Promise.all([
    ...['us', 'sg'].map((node) => aging.checkpoint(node)),
    aging.checkpoint('ca', {}, fresh),
  ]);
  assert.is(wordOf(aging, await bundleOf(aging, record, 0, { checkpoints: again })), 'verified');
});

test('too-few-checkpoints: one member fewer than the quorum', async () => {
  const few = await bundleOf(log, batchOfThree, 1, { witnesses: ['us', 'ca'] });
  const verdict = verdictOf(log, few);
  assert.is(verdict.word, 'too-few-checkpoints');
  assert.is(verdict.ledger, null);
  assert.is(verdict.status, 'pending');
});

test('roster-without-majority: the roster before shows no majority for it', async () => {
  const growing = await FederationLog.create({ quorum: 1 });
  await growing.admit('za');
  const record = await growing.record('eu');
  growing.addRoster({ members: growing.membersWith(['za']) });
  const bare = await bundleOf(growing, record, 0, { witnesses: ['us', 'ca'] });
  const verdict = verdictOf(growing, bare);
  assert.is(verdict.word, 'roster-without-majority');
  assert.is(verdict.ledger, null);
  assert.is(verdict.status, 'pending');
  assert.not(verdict.evidence?.complianceStatus.article12_1);
  assert.is(wordOf(growing, await bundleOf(growing, record, 0, { witnesses: ['us', 'ca', 'sg'] })), 'verified');
});

test('a record in another’s place is neither’s', () => {
  assert.is(wordOf(log, { ...bundle, ...proofIn(other, 1), record: bundle.record }), 'not-signed');
});

test('the words stand in the order of protocol §8, with its exit codes', () => {
  assert.equal(Object.values(EXIT_CODES), [1, 1, 1, 1, 1, 1, 1, 4, 1, 4, 5, 5, 5, 3, 0]);
});

test('of all facts that there can be, one set alone is verified', () => {
  const words = new Set<Word>();
  const verified: Facts[] = [];
  for (const facts of everyFacts()) {
    const word = wordOfFacts(facts);
    words.add(word);
    if (word === 'verified') verified.push(facts);
  }
  assert.equal([...words].sort(), Object.keys(EXIT_CODES).sort());
  assert.is(verified.length, 4, 'one for each state of a payload that is not damaged');
  for (const { payload, ...facts } of verified) {
    assert.not.equal(payload, 'damaged');
    assert.equal(facts, {
      signed: 'holds',
      sealed: 'holds',
      decision: 'fits',
      onLedger: true,
      witnessed: true,
      checkpoints: 'enough',
      contradicted: false,
      rosters: 'in-force',
      pin: 'joins',
    });
  }
});

/** Every combination of what each fact can be. */
function everyFacts(): Facts[] {
  const bool = [true, false];
  let all: Partial<Facts>[] = [{}];
  const times = <Name extends keyof Facts>(name: Name, values: readonly Facts[Name][]) => {
    all = all.flatMap((facts) => values.map((value) => Object.assign({}, facts, { [name]: value })));
  };
  times('signed', ['holds', 'fails', 'unjudged']);
  times('sealed', ['holds', 'fails', 'unjudged', null]);
  times('decision', ['absent', 'fits', 'mismatch', 'misdated', 'unjudged']);
  times('checkpoints', ['enough', 'stale', 'too-few']);
  times('payload', PAYLOAD_STATES);
  times('rosters', ['in-force', 'unproven', 'do-not-join']);
  times('pin', ['joins', 'none', 'does-not-join']);
  times('onLedger', bool);
  times('witnessed', bool);
  times('contradicted', bool);
  return all.filter(isWhole);
}

function isWhole(facts: Partial<Facts>): facts is Facts {
  return Object.keys(facts).length === 10;
}

test.run();

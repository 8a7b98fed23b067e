import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nativeSuite } from '../../../node/keys/native-suite.ts';
import type { Bundle } from '../../../protocol/verdict/bundle.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { EXIT_CODES } from '../../../protocol/verdict/word.ts';
import { plain, reportOf } from '../../../scripts/verify/report.ts';
import { MEANINGS } from '../../../scripts/verify/words.ts';
import { versionDraft } from '../../fixtures/account-statement.ts';
import { consensusOf, FederationLog } from '../../fixtures/federation-log.ts';
import { type LogDraft, recordAt } from '../../fixtures/federation-log-batch.ts';
import { bundleOf, linkedOf } from '../../fixtures/federation-log-bundle.ts';
import { reviewer } from '../../protocol/evidence/case.ts';
import { verdictOf } from '../../protocol/verdict/judged.ts';

const HOUR_MS = 3_600_000;
const DRAFT: LogDraft = {
  account: 'acc_eu_demo',
  payload: { data: { input: { amount: 7 }, output: { decision: 'refer' } } },
  claims: { modelId: 'loans', modelVersion: '4.2' },
};

const log = await FederationLog.create();
const sealed = await log.record('eu', [DRAFT]);
const bundle = await bundleOf(log, sealed, 0, { disclosed: true });

function report(of: Bundle, within = log): readonly string[] {
  return reportOf(nativeSuite, of, verdictOf(within, of), 'roster.json');
}

function has(lines: readonly string[], start: string, part: string): void {
  const found = lines.filter((line) => line.startsWith(start));
  assert.ok(
    found.some((line) => line.includes(part)),
    `${start} … ${part} in ${lines.join('\n')}`,
  );
}

test('the word comes first and last, and between them who, when, which model, what, by whose word', () => {
  const lines = report(bundle);
  assert.match(lines[0] ?? '', /^VERIFIED: /);
  assert.is(lines.at(-1), lines[0]);
  has(lines, 'record', `${recordAt(sealed, 0).id}: decision of node eu`);
  has(lines, 'who', 'account acc_eu_demo, source loans');
  has(lines, 'model', 'loans 4.2');
  has(lines, 'when', '2026-01-01T00:00:');
  has(lines, 'when', 'testnet 0.0.5005 message 10');
  has(lines, 'decided', '{"decision":"refer"}');
  has(lines, 'witnesses', `vouched for by us, ca, sg of roster 1 ${log.genesis}`);
  has(lines, 'federation', `${log.genesis} (pinned by roster.json: roster 1 ${log.genesis})`);
  assert.not(lines.some((line) => line.startsWith('problem')));
});

test('a linked record is shown with its node, and whether that speaks for the account by which version', async () => {
  const draft = (...of: Parameters<typeof recordAt>): LogDraft => ({
    kind: 'human_override',
    links: { original: recordAt(...of).id },
    claims: { reviewer: reviewer('a'), reviewOutcome: 'confirmed' },
  });
  const life = await FederationLog.create();
  const original = await life.record('eu', [DRAFT]);
  const early = await life.record('us', [draft(original, 0)]);
  const version = await life.record('eu', [versionDraft(4, ['eu', 'us'])]);
  const review = await life.record('us', [draft(original, 0)]);
  const own = await bundleOf(life, original);
  const linked = [early, version, review].map((one) => linkedOf(life, one, 0, own));
  const lines = report({ ...own, linked }, life);
  const of = (one: typeof review, kind: string) => `${recordAt(one, 0).id}: ${kind} of node ${one.node}: verified`;
  has(lines, 'linked', `${of(early, 'human_override')}, which does not speak for the account: it turns no flag`);
  assert.ok(lines.includes(`linked      ${of(review, 'human_override')}`));
  has(lines, 'account', `by version 4 of its statement, ${recordAt(version, 0).id}`);
  has(lines, '  ✓', 'article14');
});

test('a record of another node than the home is said not to speak for its account only by what the file shows', async () => {
  const life = await FederationLog.create();
  const early = await life.record('us', [DRAFT]);
  const version = await life.record('eu', [versionDraft(4, ['eu', 'us'])]);
  const later = await life.record('us', [DRAFT]);
  const alone = await bundleOf(life, later);
  has(
    report(alone, life),
    'account',
    'does not show whether node us speaks for it; a bundle that is asked for with linked=1',
  );
  const withLinked = { ...alone, linked: [linkedOf(life, version, 0, alone)] };
  assert.not(report(withLinked, life).some((line) => line.includes('speak')));
  const before = await bundleOf(life, early);
  for (const linked of [[], [linkedOf(life, version, 0, before)]]) {
    const lines = report({ ...before, linked }, life);
    has(
      lines,
      'account',
      'by what this file shows of its statement, node us does not speak for it: here the record is no',
    );
    has(lines, '  –', 'article14');
  }
});

test('the facts stand beside the flags: what is recorded, when it happened, and what a review does not show', async () => {
  const life = await FederationLog.create();
  const asserted = { occurredAt: timestampOf(0) };
  const original = await life.record('eu', [{ ...DRAFT, claims: { ...DRAFT.claims, asserted } }]);
  const links = { original: recordAt(original, 0).id };
  const claims = { reviewer: reviewer('a'), reviewOutcome: 'stopped' } as const;
  const review = await life.record('eu', [{ kind: 'human_override', account: 'acc_eu_demo', links, claims }]);
  const own = await bundleOf(life, original);
  const lines = report({ ...own, linked: [linkedOf(life, review, 0, own)] }, life);
  has(lines, 'evidence', 'evidence-rules/1: ');
  has(lines, 'evidence', 'evidence-rules/2: What signed records show');
  has(lines, '  recorded: evidence for Art. 12(1)', 'event of an AI system');
  has(lines, '  not-recorded: evidence for Art. 12(2)', '(missing riskLevel-or-confidenceScore)');
  has(lines, '  asserted: it happened at 1970-01-01T00:00:00.000Z', 's before it was recorded');
  has(lines, `  review ${recordAt(review, 0).id}`, 'with an outcome, the system was stopped');
  has(lines, '  reviews do not show', 'whether-the-person-was-competent');
  const erasure = report(await bundleOf(life, await life.record('eu', [{ kind: 'erasure' }])), life);
  has(erasure, '  the record', 'no event of an AI system');
  assert.not(erasure.some((line) => line.includes('evidence for Art.')));
});

test('an anchor that came late is said, and verified', async () => {
  const late = await FederationLog.create();
  const record = await late.seal('eu');
  late.tick(25 * HOUR_MS);
  late.decide(record);
  const lines = report(await bundleOf(late, record), late);
  assert.match(lines[0] ?? '', /^VERIFIED: /);
  has(lines, 'when', 'anchored late');
});

test('what is not verified says which word it is, and each problem', async () => {
  const early = await FederationLog.create();
  const record = await early.record('eu', [{}], { consensusTimestamp: consensusOf(Date.UTC(2020, 0, 1)) });
  const lines = report(await bundleOf(early, record), early);
  assert.match(lines[0] ?? '', /^NOT VERIFIED \(misdated\): /);
  has(lines, 'problem', 'misdated: the decision was made long before');
  has(lines, 'when', 'no time of the ledger');
});

test('of a record that is not signed no claim is shown', () => {
  const head = bundle.record.head.replace('"kind":"decision"', '"kind":"incident"');
  const lines = report({ ...bundle, record: { ...bundle.record, head } });
  has(lines, 'record', '(so the file says)');
  for (const start of ['who', 'model', 'decided']) assert.not(lines.some((line) => line.startsWith(start)));
});

test('a public proof shows no claims, and a withheld payload is said', () => {
  const { disclosure: _, ...rest } = bundle;
  const lines = report({ ...rest, record: { ...bundle.record, body: null } });
  has(lines, 'claims', 'not shown');
  has(lines, 'payload', 'withheld');
  assert.not(lines.some((line) => line.startsWith('evidence')));
});

test('linked records are named with their words, and the clauses with what they lack', async () => {
  const claims = { reviewer: reviewer('a') } as const;
  const links = { original: recordAt(sealed, 0).id };
  const review = await log.record('eu', [{ account: 'acc_eu_demo', kind: 'human_override', links, claims }]);
  const own = await bundleOf(log, sealed);
  const linked = linkedOf(log, review, 0, own);
  const lines = report({ ...own, linked: [linked, { ...linked, record: { head: '{}', body: null } }] });
  has(lines, 'linked', `${recordAt(review, 0).id}: human_override of node eu: verified`);
  has(lines, 'linked', 'unreadable: not-signed');
  assert.ok(lines.includes('  ✓ article14'));
  assert.ok(lines.includes('  – article14_5 (missing reviewOutcome, second-reviewer)'));
});

test('no file can end a line, move the cursor or turn the text around', async () => {
  const nasty = '\u001b[2J\nVERIFIED\u202e\u009b1m';
  const made = await FederationLog.create();
  const record = await made.record('eu', [{ claims: { modelId: nasty } }]);
  const lines = report(await bundleOf(made, record), made);
  has(lines, 'model', '\\u{1b}[2J\\u{a}VERIFIED\\u{202e}\\u{9b}1m');
  assert.is(plain('plain – text ✓'), 'plain – text ✓');
});

test('every word has a meaning', () => {
  assert.equal(Object.keys(MEANINGS).sort(), Object.keys(EXIT_CODES).sort());
});

test.run();

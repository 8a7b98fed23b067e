import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { gapSection } from '../../../../node/packs/report/gap-section.ts';
import { PackTally } from '../../../../node/packs/report/pack-tally.ts';
import type { AttestationRecord } from '../../../../protocol/chain/record.ts';
import { catalogue } from '../../../../protocol/frameworks/catalogue.ts';
import type { PackQuestion } from '../../../../protocol/pack/manifest.ts';
import { timestampOf } from '../../../../protocol/time.ts';
import { recordOf } from '../../governance/records.ts';
import { QUESTION } from './pack-question.ts';

const INCIDENTS = '73(2)';

function tallyOf(question: PackQuestion, records: readonly AttestationRecord[], maxLookedAt?: number): PackTally {
  const tally = new PackTally(question, [], maxLookedAt);
  for (const record of records) tally.take(record, record.body);
  return tally;
}

/** Status of each clause. */
function statuses(question: PackQuestion, tally: PackTally): ReadonlyMap<string, string> {
  const rows = gapSection(question, tally).tables.flatMap(({ rows: all }) => all);
  return new Map(rows.map(([clause = '', , status = '']) => [clause, status]));
}

test('an incident that stands behind more records than are looked at is not said never to have happened', () => {
  const review = recordOf({ kind: 'human_override', claims: { channel: 'direct', reviewOutcome: 'confirmed' } });
  const incident = recordOf({ kind: 'incident', claims: { channel: 'direct', severity: 'serious' } });
  const cut = tallyOf(QUESTION, [review, review, incident], 2);
  assert.is(statuses(QUESTION, tallyOf(QUESTION, [review, review], 2)).get(INCIDENTS), 'no-event-recorded');
  assert.is(statuses(QUESTION, cut).get(INCIDENTS), 'nothing-recorded');
  assert.match(gapSection(QUESTION, cut).paragraphs.join('\n'), 'and there are more: incident.');
});

test('reviews that are counted alone make nothing incomplete, however many there are', () => {
  const review = recordOf({ kind: 'human_override', claims: { channel: 'direct', reviewOutcome: 'confirmed' } });
  const some = tallyOf(QUESTION, [review, review, review], 2);
  assert.equal([...some.cutKinds], ['human_override']);
  assert.equal(statuses(QUESTION, some), statuses(QUESTION, tallyOf(QUESTION, [review, review, review])));
  assert.not.match(gapSection(QUESTION, some).paragraphs.join('\n'), 'there are more');
});

test('a clause that is stayed or rescinded is shown where its framework is asked for, and nowhere else', () => {
  const notInUse = catalogue.frameworks.flatMap(({ id, clauses }) =>
    clauses.filter(({ status }) => status === 'stayed' || status === 'rescinded').map(({ clause }) => ({ id, clause })),
  );
  assert.ok(notInUse.length > 0);
  const ofAll = { ...QUESTION, frameworks: null };
  const all = statuses(ofAll, tallyOf(ofAll, []));
  assert.ok(gapSection(ofAll, tallyOf(ofAll, [])).tables.every(({ rows }) => rows.length > 0));
  for (const { id, clause } of notInUse) {
    const question = { ...QUESTION, frameworks: [id] };
    assert.equal([all.has(clause), statuses(question, tallyOf(question, [])).has(clause)], [false, true], clause);
  }
});

/** That Article 14 does not apply, by a record of the source `governance`. */
function notApplicable(systemId?: string): AttestationRecord {
  const reviewDueAt = timestampOf(Date.UTC(2028, 0, 1));
  const asserted = { assertedBy: `hmac-sha256:${'a'.repeat(64)}`, reasonGiven: true, reviewDueAt } as const;
  const about = { eventType: 'NOT_APPLICABLE', framework: 'EU_AI_ACT', clause: '14', ...(systemId && { systemId }) };
  return recordOf({ sourceId: 'governance', claims: { channel: 'direct', ...about, asserted } });
}

for (const [of, assertion, systems, covered] of [
  ['no system covers a pack of sources', notApplicable(), null, true],
  ['one system covers no pack of sources', notApplicable('triage-1'), null, false],
  ['one system covers a pack of that system', notApplicable('triage-1'), ['triage-1'], true],
  ['one system covers no pack of two', notApplicable('triage-1'), ['triage-1', 'triage-2'], false],
] as const) {
  test(`an assertion that a clause does not apply which is of ${of}`, () => {
    const question = { ...QUESTION, sources: ['governance', 'triage'], systems: systems && [...systems] };
    const status = statuses(question, tallyOf(question, [assertion])).get('14');
    assert.is(status === 'asserted-not-applicable', covered, status);
  });
}

test.run();

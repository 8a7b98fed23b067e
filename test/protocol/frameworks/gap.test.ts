import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { catalogue, clauseOf, frameworkOf } from '../../../protocol/frameworks/catalogue.ts';
import { readFacet } from '../../../protocol/frameworks/facet.ts';
import { type ClauseGap, clauseGap } from '../../../protocol/frameworks/gap.ts';
import { type FacetTally, Tallies } from '../../../protocol/frameworks/tallies.ts';
import { type RecordId, recordId } from '../../../protocol/ids.ts';

const idOf = (name: string): RecordId => recordId(`att_eu_01J${name.padEnd(23, '0')}`);

/** `texts`: facets as the counters hold them. */
function tallies(...texts: readonly string[]): Tallies {
  return new Tallies(
    texts.map((text, i): FacetTally => {
      const facet = readFacet(text);
      if (facet === undefined) throw new RangeError(text);
      return { facet, count: 10 + i, first: [idOf(`A${i}`), idOf(`B${i}`), idOf(`C${i}`)], last: idOf(`D${i}`) };
    }),
  );
}

function gap(framework: string, name: string, ...texts: readonly string[]): ClauseGap {
  const [whole, clause] = [frameworkOf(framework), clauseOf(framework, name)];
  if (whole === undefined || clause === undefined) throw new RangeError(`${framework} ${name}`);
  return clauseGap(whole, clause, tallies(...texts));
}

const OVERRIDE_FIELDS = 'originalAttestationId,overrideDecision,overrideReason,reviewOutcome,reviewerId';

test('a clause without records is absent, and says which kind is missing', () => {
  const { status, missing, counts, sampleIds } = gap('EU_AI_ACT', '14');
  assert.is(status, 'absent');
  assert.equal(missing, ['no human_override']);
  assert.equal(counts, { human_override: 0 });
  assert.equal(sampleIds, []);
});

test('a record with every field makes a clause present', () => {
  const { status, missing, sampleIds } = gap('EU_AI_ACT', '14', `human_override|||${OVERRIDE_FIELDS}`);
  assert.is(status, 'present');
  assert.equal(missing, []);
  assert.equal(sampleIds, [idOf('A0'), idOf('B0'), idOf('C0')]);
});

test('a record without a field makes it partial, and the field is named', () => {
  const { status, missing } = gap('EU_AI_ACT', '14', 'human_override|||originalAttestationId,reviewerId');
  assert.is(status, 'partial');
  assert.equal(missing, ['human_override: never with overrideDecision, overrideReason, reviewOutcome']);
});

test('fields spread over several records do not add up', () => {
  const { status, missing } = gap(
    'EU_AI_ACT',
    '12(2)',
    'decision|DECISION||inputHash,modelId,modelVersion',
    'decision|DECISION||confidenceScore,inputHash,modelId',
  );
  assert.is(status, 'partial');
  assert.match(missing.join(), /^decision: no single one with modelId, modelVersion, inputHash, riskLevel or confid/);
});

test('either of two fields will do where the clause says so', () => {
  for (const either of ['riskLevel', 'confidenceScore']) {
    const text = `decision|DECISION||inputHash,modelId,modelVersion,${either}`;
    assert.is(gap('EU_AI_ACT', '12(2)', text).status, 'present', either);
  }
});

test('both halves of a session are needed; any one kind of log is enough', () => {
  const { status, missing, counts } = gap('EU_AI_ACT', '12(3)(a)', 'session_start|||');
  assert.is(status, 'partial');
  assert.equal(missing, ['no session_end']);
  assert.equal(counts, { session_start: 10, session_end: 0 });
  assert.is(gap('EU_AI_ACT', '12(1)', 'session_start|||').status, 'present');
});

test('what need not happen is counted and never missing', () => {
  const risk = 'risk_assessment|||assessedBy,mitigations,residualRisk,risksIdentified';
  const { status, missing, counts } = gap('EU_AI_ACT', '9', risk);
  assert.is(status, 'present');
  assert.equal(missing, []);
  assert.is(counts.corrective_action, 0);
  assert.is(gap('EU_AI_ACT', '9', 'corrective_action|||').status, 'partial');
});

test('an incident is on record for the clause that its criteria name, and no other', () => {
  const incident = 'incident|||awarenessAt,criteria,criteria=death,severity';
  assert.is(gap('EU_AI_ACT', '73(4)', incident).status, 'present');
  const other = gap('EU_AI_ACT', '73(3)', incident);
  assert.is(other.status, 'absent');
  assert.equal(other.missing, [
    'no incident with criteria=critical-infrastructure or criteria=widespread-infringement',
  ]);
});

test('a lock that is too short, or over other records, does not do', () => {
  const lock = (days: number, scope: string) =>
    `retention_lock|||retentionPeriodDays,retentionPeriodDays=${days},scope=${scope}`;
  assert.is(gap('EU_AI_ACT', '18', lock(3653, 'all')).status, 'present');
  const short = gap('EU_AI_ACT', '18', lock(1827, 'all'));
  assert.is(short.status, 'partial');
  assert.equal(short.missing, ['retention_lock: never with retentionPeriodDays >= 3653']);
  assert.is(gap('EU_AI_ACT', '18', lock(3653, 'sessions')).status, 'absent');
  assert.is(gap('FINRA', '4511', lock(2557, 'decisions'), 'decision|BOOKS_RECORD||dataHash').status, 'present');
});

test('an event is no decision, and a decision no event', () => {
  assert.is(gap('EU_AI_ACT', '13', 'decision|DECISION||dataHash,modelVersion').status, 'absent');
  assert.is(gap('EU_AI_ACT', '13', 'decision|INSTRUCTIONS_FOR_USE||dataHash,modelVersion').status, 'present');
  assert.is(gap('NIST_AI_RMF', 'MEASURE 2.4', 'decision|TECH_DOC||confidenceScore').status, 'absent');
});

test('fields that stay in payloads are named and not judged', () => {
  const { status, notVisible } = gap('EU_AI_ACT', '10', 'decision|DATA_GOVERNANCE||dataHash');
  assert.is(status, 'present');
  assert.equal(notVisible, ['populationGroup']);
});

test('fields that were not kept apart prove nothing, and are said to be', () => {
  const { status, missing } = gap('EU_AI_ACT', '14', 'human_override|||*');
  assert.is(status, 'partial');
  assert.match(missing.join(), /the fields of 10 were not kept apart/);
});

test('the word of the caller that a clause does not apply stands only where nothing else does', () => {
  const assertion = 'decision|NOT_APPLICABLE||EU_AI_ACT,12(3)(a)';
  const { status, assertedNotApplicable } = gap('EU_AI_ACT', '12(3)(a)', assertion);
  assert.is(status, 'asserted-not-applicable');
  assert.is(assertedNotApplicable.count, 10);
  assert.is(gap('EU_AI_ACT', '12(3)(b)', assertion).status, 'absent');
  const contradicted = gap('EU_AI_ACT', '12(3)(a)', assertion, 'session_start|||', 'session_end|||');
  assert.is(contradicted.status, 'present');
  assert.is(contradicted.assertedNotApplicable.count, 10);
});

test('events without a clause, and assertions about no clause, are unmapped', () => {
  const unmapped = tallies(
    'decision|DECISION||',
    'decision|TECH_DOC||',
    'decision|MY_EVENT||dataHash',
    'decision|MY_EVENT|production|dataHash',
    'decision|*||*',
    'decision|NOT_APPLICABLE||EU_AI_ACT,14',
    'decision|NOT_APPLICABLE||EU_AI_ACT,999',
    'incident|||',
  ).unmapped(catalogue);
  assert.equal(
    unmapped.map(({ eventType, count }) => [eventType, count]),
    [
      ['MY_EVENT', 25],
      ['NOT_APPLICABLE', 16],
      ['*', 14],
    ],
  );
});

test('no clause of the catalogue is anything but absent without records', () => {
  for (const { id, clauses } of catalogue.frameworks) {
    for (const { clause } of clauses) {
      const { status, missing } = gap(id, clause);
      assert.is(status, 'absent');
      assert.ok(missing.length > 0, `${id} ${clause}`);
    }
  }
});

test.run();

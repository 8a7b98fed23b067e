import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { LinkedRecord } from '../../../protocol/evidence/linked-record.ts';
import { FACT_KEYS, type FactKey, type RecordedEvidence } from '../../../protocol/evidence/evidence-shape.ts';
import { recordedEvidence } from '../../../protocol/evidence/recorded-evidence.ts';
import { type Clause, CLAUSES, evaluate } from '../../../protocol/evidence/rules.ts';
import type { AttestationRecord } from '../../../protocol/chain/record.ts';
import { RECORD_KINDS, REVIEW_OUTCOMES } from '../../../protocol/statement/vocabulary.ts';
import { type Timestamp, timestampOf } from '../../../protocol/time.ts';
import { fc } from '../../fixtures/properties.ts';
import { AT, EU, made, overrideOf, reviewer, shown, shows, US } from './case.ts';

const START = made({ kind: 'session_start' }, 5);
const SUBJECT = made({ links: { session: START.id }, claims: { matched: true } }, 10);
const STRANGER = made({}, 11);
const targets = fc.constantFrom(SUBJECT.id, SUBJECT.id, START.id, STRANGER.id);

function secondsAfterStart(seconds: number): Timestamp {
  return timestampOf(Date.parse(START.submittedAt) + 1000 * seconds);
}

/** Any record whose links may name the subject, its session, or neither. */
const anyRecord: fc.Arbitrary<AttestationRecord> = fc
  .record({
    kind: fc.constantFrom(...RECORD_KINDS),
    seconds: fc.integer({ min: 0, max: 20 }),
    node: fc.constantFrom(EU, US),
    account: fc.constantFrom(SUBJECT.account, SUBJECT.account, 'acc_else'),
    sourceId: fc.constantFrom(SUBJECT.sourceId, 'else'),
    links: fc.record({ original: targets, session: targets, related: targets.map((id) => [id]) }, { requiredKeys: [] }),
    claims: fc.record(
      {
        reviewer: fc.constantFrom(reviewer('a'), reviewer('b')),
        reviewOutcome: fc.constantFrom(...REVIEW_OUTCOMES),
        eventType: fc.constantFrom('DECISION', 'TECH_DOC', 'OWN'),
        matched: fc.boolean(),
        modelId: fc.constant('m'),
        modelVersion: fc.constant('1'),
        confidenceScore: fc.constantFrom(0, 1),
        referenceDatabase: fc.constantFrom([], [{ id: 'list' }]),
        asserted: fc.record(
          {
            occurredAt: fc.integer({ min: -40, max: 20 }).map((seconds) => secondsAfterStart(seconds)),
            emptyData: fc.constant(true as const),
          },
          { requiredKeys: [] },
        ),
      },
      { requiredKeys: [] },
    ),
    isStart: fc.boolean(),
  })
  .map(({ seconds, claims, isStart, ...members }): AttestationRecord =>
    Object.assign({}, STRANGER, members, {
      id: isStart ? START.id : STRANGER.id,
      submittedAt: secondsAfterStart(seconds - 5),
      claims: { ...STRANGER.claims, ...claims },
    }),
  );
const OVERRIDES = [EU, US].flatMap((node) =>
  ['a', 'b'].flatMap((letter) =>
    REVIEW_OUTCOMES.map((reviewOutcome) =>
      overrideOf(SUBJECT, { reviewer: reviewer(letter), reviewOutcome }, {}, node),
    ),
  ),
);
const END = made({ kind: 'session_end', links: { session: START.id } }, 15);
const anyEvidence = fc.oneof(fc.constantFrom(...OVERRIDES), fc.constantFrom(START, END));
const anyLinked: fc.Arbitrary<LinkedRecord[]> = fc.array(
  fc.record({ record: fc.oneof(anyRecord, anyEvidence), holds: fc.boolean(), speaks: fc.boolean() }),
  {
    maxLength: 12,
  },
);
const anySubject = fc.oneof(fc.constant(SUBJECT), fc.constant(START), anyRecord);
const RUNS = { numRuns: 3000 };

test('a further record never takes a flag away, and does add some', () => {
  const gained = new Set<string>();
  fc.assert(
    fc.property(anySubject, anyLinked, anyLinked, fc.boolean(), (record, linked, more, sigValid) => {
      const before = evaluate({ record, sigValid, speaks: true }, linked, AT);
      const after = evaluate({ record, sigValid, speaks: true }, [...linked, ...more], AT);
      for (const clause of CLAUSES) {
        if (shows(before, clause)) assert.ok(shows(after, clause), clause);
        else if (shows(after, clause)) gained.add(clause);
      }
    }),
    RUNS,
  );
  assert.equal([...gained].toSorted(), ['article12_3a', 'article12_3d', 'article14', 'article14_5']);
});

test('records of other accounts, of nodes that do not speak for it, and those that do not hold, never matter', () => {
  fc.assert(
    fc.property(anySubject, anyLinked, (record, linked) => {
      const speaking = linked.filter((one) => one.holds && one.speaks && one.record.account === record.account);
      const subject = { record, sigValid: true, speaks: true };
      assert.equal(evaluate(subject, linked, AT), evaluate(subject, speaking, AT));
    }),
    RUNS,
  );
});

test('neither order nor repetition of linked records matters', () => {
  fc.assert(
    fc.property(anySubject, anyLinked, fc.nat(), (record, linked, turn) => {
      const at = linked.length === 0 ? 0 : turn % linked.length;
      const rotated = [...linked.slice(at), ...linked, ...linked.slice(0, at)].toReversed();
      const subject = { record, sigValid: true, speaks: true };
      assert.equal(shown(evaluate(subject, rotated, AT)), shown(evaluate(subject, linked, AT)));
    }),
    RUNS,
  );
});

/** The clause of the first rule set that a fact is about. The input is no clause of its own there. */
const CLAUSE_OF: Readonly<Partial<Record<FactKey, Clause>>> = {
  event: 'article12_1',
  'reference-database': 'article12_3b',
  'matched-input': 'article12_3c',
  reviewer: 'article12_3d',
  review: 'article14',
  'second-reviewer': 'article14_5',
};

function factsOf(record: AttestationRecord, linked: readonly LinkedRecord[], sigValid = true): RecordedEvidence {
  return recordedEvidence({ record, sigValid, speaks: true }, linked, AT);
}

function isRecorded({ facts }: RecordedEvidence, key: FactKey): boolean {
  return facts.some((fact) => fact.key === key && fact.state === 'recorded');
}

test('a further record never takes a recorded fact or a review away, and does add some', () => {
  const gained = new Set<string>();
  fc.assert(
    fc.property(anySubject, anyLinked, anyLinked, fc.boolean(), (record, linked, more, sigValid) => {
      const before = factsOf(record, linked, sigValid);
      const after = factsOf(record, [...linked, ...more], sigValid);
      for (const key of FACT_KEYS) {
        if (isRecorded(before, key)) assert.ok(isRecorded(after, key), key);
        else if (isRecorded(after, key)) gained.add(key);
      }
      assert.equal([before.kindOfRecord, before.eventTime], [after.kindOfRecord, after.eventTime]);
      for (const { attestationId } of before.reviews) {
        assert.ok(after.reviews.some((review) => review.attestationId === attestationId));
      }
    }),
    RUNS,
  );
  const found = ['intervention', 'period-of-use', 'review', 'reviewer', 'second-reviewer'];
  assert.equal([...gained].toSorted(), found);
});

test('a fact is recorded only where the first rule set shows its clause, but for the asserted time in a session', () => {
  fc.assert(
    fc.property(anySubject, anyLinked, fc.boolean(), fc.boolean(), (record, linked, sigValid, speaks) => {
      const flags = evaluate({ record, sigValid, speaks }, linked, AT);
      const evidence = recordedEvidence({ record, sigValid, speaks }, linked, AT);
      for (const key of FACT_KEYS) {
        const clause = CLAUSE_OF[key];
        if (clause !== undefined && isRecorded(evidence, key)) assert.ok(shows(flags, clause), key);
      }
      if (isRecorded(evidence, 'input') && isRecorded(evidence, 'traceability')) assert.ok(shows(flags, 'article12_2'));
      if (isRecorded(evidence, 'period-of-use') && evidence.periodOfUse?.basis === 'record-time') {
        assert.ok(shows(flags, 'article12_3a'));
      }
    }),
    RUNS,
  );
});

test('order, repetition and records that say nothing of the subject do not change the facts at all', () => {
  fc.assert(
    fc.property(anySubject, anyLinked, (record, linked) => {
      const speaking = linked.filter((one) => one.holds && one.speaks && one.record.account === record.account);
      assert.equal(factsOf(record, speaking), factsOf(record, linked));
      const byId = new Map(speaking.map((one) => [one.record.id, one]));
      // Records of one id are one record: those that were made up here may differ.
      const each = [...byId.values()];
      assert.equal(factsOf(record, [...each, ...each].toReversed()), factsOf(record, each));
    }),
    RUNS,
  );
});

test.run();

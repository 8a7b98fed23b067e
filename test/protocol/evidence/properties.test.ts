import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { LinkedRecord } from '../../../protocol/evidence/linked-record.ts';
import { CLAUSES, evaluate } from '../../../protocol/evidence/rules.ts';
import type { AttestationRecord } from '../../../protocol/chain/record.ts';
import { RECORD_KINDS, REVIEW_OUTCOMES } from '../../../protocol/statement/vocabulary.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { fc } from '../../fixtures/properties.ts';
import { AT, EU, made, overrideOf, reviewer, shown, shows, US } from './case.ts';

const START = made({ kind: 'session_start' }, 5);
const SUBJECT = made({ links: { session: START.id }, claims: { matched: true } }, 10);
const STRANGER = made({}, 11);
const targets = fc.constantFrom(SUBJECT.id, SUBJECT.id, START.id, STRANGER.id);

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
      { reviewer: fc.constantFrom(reviewer('a'), reviewer('b')), reviewOutcome: fc.constantFrom(...REVIEW_OUTCOMES) },
      { requiredKeys: [] },
    ),
    isStart: fc.boolean(),
  })
  .map(({ seconds, claims, isStart, ...members }): AttestationRecord =>
    Object.assign({}, STRANGER, members, {
      id: isStart ? START.id : STRANGER.id,
      submittedAt: timestampOf(Date.parse(START.submittedAt) + 1000 * (seconds - 5)),
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

test.run();

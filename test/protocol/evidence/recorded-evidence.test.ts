import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { isExpected } from '../../../protocol/evidence/ai-event.ts';
import {
  EVIDENCE_FOR,
  EVIDENCE_MEANING,
  FACT_KEYS,
  type FactKey,
  NOT_SHOWN_OF_REVIEWS,
  type RecordedEvidence,
  RecordedEvidenceShape,
} from '../../../protocol/evidence/evidence-shape.ts';
import { evaluateFully, recordedEvidence } from '../../../protocol/evidence/recorded-evidence.ts';
import { evaluate } from '../../../protocol/evidence/rules.ts';
import type { Claims } from '../../../protocol/chain/claims.ts';
import type { AttestationRecord } from '../../../protocol/chain/record.ts';
import { MAPPED_EVENTS } from '../../../protocol/frameworks/event-types.ts';
import { RECORD_KINDS } from '../../../protocol/statement/vocabulary.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { shapeCheck } from '../../node/http/answer-shape.ts';
import { AT, holding, made, overrideOf, reviewer, US } from './case.ts';

const BOUND = { modelId: 'm', modelVersion: '1', riskLevel: 'high' } as const satisfies Partial<Claims>;

function shownOf(record: AttestationRecord, ...linked: readonly AttestationRecord[]): RecordedEvidence {
  const evidence = recordedEvidence({ record, sigValid: true, speaks: true }, holding(...linked), AT);
  shapeCheck(RecordedEvidenceShape)({ ...evidence });
  return evidence;
}

/** State of a fact, and what it lacks. */
function fact({ facts }: RecordedEvidence, key: FactKey): readonly string[] {
  const found = facts.find((each) => each.key === key);
  return found === undefined ? ['no fact'] : [found.state, ...found.missing];
}

function recorded({ facts }: RecordedEvidence): FactKey[] {
  return facts.filter(({ state }) => state === 'recorded').map(({ key }) => key);
}

/** A time some seconds after a record. */
function after({ submittedAt }: AttestationRecord, seconds: number) {
  return timestampOf(Date.parse(submittedAt) + 1000 * seconds);
}

function occurring(record: AttestationRecord, seconds: number): AttestationRecord {
  return { ...record, claims: { ...record.claims, asserted: { occurredAt: after(record, seconds) } } };
}

test('the facts are a closed list, each worded as evidence for an article, and none as a verdict', () => {
  const { facts, ruleSet, meaning, evaluatedAt, reviewsDoNotShow } = shownOf(made({}));
  assert.equal(
    facts.map(({ key }) => key),
    FACT_KEYS,
  );
  assert.equal(Object.keys(EVIDENCE_FOR), [...FACT_KEYS]);
  for (const { key, evidenceFor } of facts) {
    assert.match(evidenceFor, /^evidence for Art\. 1[24]/);
    assert.not.match(key + evidenceFor, /complian|satisf|article/i);
  }
  assert.equal([ruleSet, meaning, evaluatedAt], ['evidence-rules/2', EVIDENCE_MEANING, AT]);
  assert.equal(reviewsDoNotShow, [...NOT_SHOWN_OF_REVIEWS]);
});

test('the flags of the first rule set are what they were', () => {
  const record = made({ claims: { ...BOUND, matched: true } });
  const linked = holding(overrideOf(record));
  const subject = { record, sigValid: true, speaks: true };
  const { evidence, ...flags } = evaluateFully(subject, linked, AT);
  assert.equal(flags, evaluate(subject, linked, AT));
  assert.equal(evidence, recordedEvidence(subject, linked, AT));
});

test('a record that is no event of an AI system has no fact of one, though the first rule set shows Art. 12(1)', () => {
  const events = 'decision inference screening counterparty_check session_start session_end human_override'.split(' ');
  for (const kind of RECORD_KINDS) {
    const record = made({ kind });
    const { kindOfRecord, facts } = shownOf(record, overrideOf(record));
    assert.ok(evaluate({ record, sigValid: true, speaks: true }, [], AT).complianceStatus.article12_1, kind);
    if (events.includes(kind)) {
      assert.is(kindOfRecord, 'ai-system-event', kind);
      continue;
    }
    assert.is(kindOfRecord, 'not-applicable', kind);
    assert.ok(
      facts.every(({ state, missing }) => state === 'not-applicable' && missing.length === 0),
      kind,
    );
  }
});

test('a document, a notice or an assertion about a clause is no event, whatever its kind', () => {
  const events = ['COMMUNICATION', 'BOOKS_RECORD', 'ORDER_EVENT', 'KILL_SWITCH'];
  for (const eventType of [...MAPPED_EVENTS, 'NOT_APPLICABLE', 'DECISION', 'WORD_OF_ITS_OWN']) {
    const isEvent = ['DECISION', 'WORD_OF_ITS_OWN', ...events].includes(eventType);
    const { kindOfRecord } = shownOf(made({ claims: { eventType } }));
    assert.is(kindOfRecord, isEvent ? 'ai-system-event' : 'not-applicable', eventType);
  }
});

test('data without a member records no input, though the first rule set counts its hash', () => {
  const record = made({ claims: { ...BOUND, matched: true, asserted: { emptyData: true } } });
  const flags = evaluate({ record, sigValid: true, speaks: true }, [], AT);
  assert.ok(flags.complianceStatus.article12_2 && flags.complianceDetail.article12_3c);
  const evidence = shownOf(record);
  assert.equal(fact(evidence, 'input'), ['not-recorded', 'input']);
  assert.equal(fact(evidence, 'matched-input'), ['not-recorded', 'input']);
  const whole = shownOf(made({ claims: { ...BOUND, matched: true } }));
  assert.equal([fact(whole, 'input'), fact(whole, 'matched-input')], [['recorded'], ['recorded']]);
});

test('of no match there is no input to keep, and where nothing is said of one that is missing', () => {
  assert.equal(fact(shownOf(made({ claims: { matched: false } })), 'matched-input'), ['not-applicable']);
  assert.equal(fact(shownOf(made({})), 'matched-input'), ['not-recorded', 'matched']);
});

test('model, version and a risk level or confidence make a record traceable', () => {
  assert.equal(fact(shownOf(made({})), 'traceability').slice(1), [
    'modelId',
    'modelVersion',
    'riskLevel-or-confidenceScore',
  ]);
  assert.equal(fact(shownOf(made({ claims: BOUND })), 'traceability'), ['recorded']);
  const scored = { modelId: 'm', modelVersion: '1', confidenceScore: 0 };
  assert.equal(fact(shownOf(made({ claims: scored })), 'traceability'), ['recorded']);
});

test('the asserted time of an event stands beside that of the record, with the lag between them', () => {
  const record = made({});
  assert.equal(shownOf(record).eventTime, { asserted: null, recorded: record.submittedAt, lagSeconds: null });
  const weeks = 21 * 86_400;
  const late = occurring(record, -weeks);
  assert.equal(shownOf(late).eventTime, {
    asserted: after(record, -weeks),
    recorded: record.submittedAt,
    lagSeconds: weeks,
  });
  assert.is(shownOf(occurring(record, 2)).eventTime?.lagSeconds, -2, 'a clock that is ahead');
});

test('an event lies in its session by its asserted time, and it is said what the time of the record does', () => {
  const start = made({ kind: 'session_start' }, 10);
  const end = made({ kind: 'session_end', links: { session: start.id } }, 20);
  const at = (seconds: number, occurred?: number): AttestationRecord => {
    const record = made({ links: { session: start.id } }, seconds);
    return occurred === undefined ? record : occurring(record, occurred - seconds);
  };
  const shown = (record: AttestationRecord) => {
    const evidence = shownOf(record, start, end);
    return { fact: fact(evidence, 'period-of-use'), ...evidence.periodOfUse };
  };
  const [basis, byRecord] = ['asserted-event-time', 'record-time'];
  assert.equal(shown(at(15)), {
    fact: ['recorded'],
    basis: byRecord,
    recordTimeWithin: true,
    eventTimeWithin: null,
  });
  const late = at(25, 15);
  assert.equal(shown(late), { fact: ['recorded'], basis, recordTimeWithin: false, eventTimeWithin: true });
  const flags = evaluate({ record: late, sigValid: true, speaks: true }, holding(start, end), AT);
  assert.not(flags.complianceDetail.article12_3a, 'the first rule set knows the time of the record alone');
  assert.equal(shown(at(15, 5)), {
    fact: ['not-recorded', 'time-within-session'],
    basis,
    recordTimeWithin: true,
    eventTimeWithin: false,
  });
  assert.equal(fact(shownOf(at(15), start), 'period-of-use'), ['not-recorded', 'session_end']);
  const alone = shownOf(made({}), start, end);
  assert.equal([fact(alone, 'period-of-use'), alone.periodOfUse], [['not-recorded', 'session'], null]);
});

test('a review is shown with its lag, whether it says what came of it, and whether the system was stopped', () => {
  const record = occurring(made({}, 10), -100);
  const silent = overrideOf(record);
  const { reviewOutcome: _, ...unsaid } = silent.claims;
  const first = { ...silent, claims: unsaid };
  const stop = { ...overrideOf(record, { reviewOutcome: 'stopped' }), submittedAt: after(record, 3600) };
  const evidence = shownOf(record, stop, first, stop);
  assert.equal(evidence.reviews, [
    { attestationId: first.id, reviewLag: 10, lagFromEvent: 110, outcomeGiven: false, stopped: false },
    { attestationId: stop.id, reviewLag: 3600, lagFromEvent: 3700, outcomeGiven: true, stopped: true },
  ]);
  assert.equal(fact(evidence, 'review'), ['recorded']);
  assert.equal(fact(evidence, 'reviewer'), ['recorded']);
  assert.equal(fact(evidence, 'intervention'), ['recorded']);
  assert.equal(fact(shownOf(record, first), 'intervention'), ['not-recorded', 'stopped']);
  assert.equal(fact(shownOf(record), 'intervention'), ['not-recorded', 'human_override']);
  assert.equal(fact(shownOf(record, first), 'second-reviewer'), ['not-recorded', 'reviewOutcome', 'second-reviewer']);
  assert.not.match(JSON.stringify(evidence), /hmac-sha256/, 'no pseudonym is shown');
});

test('two persons are told apart within one node', () => {
  const record = made({});
  const first = overrideOf(record);
  const other = { reviewer: reviewer('b') };
  assert.equal(fact(shownOf(record, first, overrideOf(record, other)), 'second-reviewer'), ['recorded']);
  assert.equal(fact(shownOf(record, first, overrideOf(record, other, {}, US)), 'second-reviewer'), [
    'not-recorded',
    'second-reviewer',
  ]);
});

test('a review is itself evidence of oversight, with no lag, and no result of the system', () => {
  const override = overrideOf(made({}), { reviewOutcome: 'stopped' });
  const evidence = shownOf(override);
  assert.equal(recorded(evidence), ['event', 'review', 'intervention']);
  assert.equal(evidence.reviews, [
    { attestationId: override.id, reviewLag: null, lagFromEvent: null, outcomeGiven: true, stopped: true },
  ]);
  assert.equal(fact(evidence, 'traceability'), ['not-applicable']);
  const silent = recordedEvidence({ record: override, sigValid: true, speaks: false }, [], AT);
  assert.equal([silent.reviews, fact(silent, 'review')], [[], ['not-recorded', 'human_override']]);
});

test('of start and end of a session the session alone is expected', () => {
  const start = made({ kind: 'session_start' }, 10);
  const end = made({ kind: 'session_end', links: { session: start.id } }, 20);
  assert.equal(fact(shownOf(start), 'period-of-use'), ['not-recorded', 'session_end']);
  assert.equal(recorded(shownOf(start, end)), ['event', 'period-of-use']);
  assert.equal(fact(shownOf(end, start), 'traceability'), ['not-applicable']);
  assert.not(isExpected('session', 'review'));
});

test('where the proof of the record does not hold, or it cannot be read, nothing is recorded', () => {
  const record = occurring(made({ claims: { ...BOUND, matched: true } }), -5);
  for (const subject of [{ record, sigValid: false } as const, { record: null, sigValid: true } as const]) {
    const evidence = recordedEvidence({ ...subject, speaks: true }, holding(overrideOf(record)), null);
    shapeCheck(RecordedEvidenceShape)({ ...evidence });
    assert.is(evidence.kindOfRecord, 'unknown');
    assert.ok(evidence.facts.every(({ state }) => state === 'not-recorded'));
    for (const key of FACT_KEYS) assert.equal(fact(evidence, key), ['not-recorded', 'signature']);
    assert.equal([evidence.eventTime, evidence.periodOfUse, evidence.reviews], [null, null, []]);
  }
});

test.run();

import Type, { type Static } from 'typebox';
import { Closed, OrNull, RecordIdShape, TimestampShape } from '../shapes.ts';

/** The rules beside `evidence-rules/1`: their words say what is recorded, and never whether a clause is met. */
export const EVIDENCE_RULE_SET = 'evidence-rules/2';
export const EVIDENCE_MEANING =
  'What signed records show, as their callers asserted it. Nobody checked whether it is true or whether it is enough; ' +
  'that something is not recorded here does not show that it is missing elsewhere.';

/**
 * Whether a record is an event of an AI system: EU AI Act Art. 12(1) is about no other. `unknown` of a record that
 * cannot be read, or whose proof does not hold.
 */
export const KINDS_OF_RECORD = ['ai-system-event', 'not-applicable', 'unknown'] as const;
export type KindOfRecord = (typeof KINDS_OF_RECORD)[number];

export const FACT_STATES = ['recorded', 'not-recorded', 'not-applicable'] as const;
export type FactState = (typeof FACT_STATES)[number];

const BIOMETRIC = 'of systems of Annex III, point 1(a)';

/** The facts that are looked for, in the order of the answer, each with what it is evidence for. */
export const EVIDENCE_FOR = {
  event: 'evidence for Art. 12(1): an event of an AI system, with its node’s time and its place in the order',
  input: 'evidence for Art. 12(2): a commitment to the input of the event',
  traceability: 'evidence for Art. 12(2): model, its version, and a risk level or confidence score',
  'period-of-use': `evidence for Art. 12(3)(a), ${BIOMETRIC}: start and end of the use, the event between them`,
  'reference-database': `evidence for Art. 12(3)(b), ${BIOMETRIC}: the reference database`,
  'matched-input': `evidence for Art. 12(3)(c), ${BIOMETRIC}: the input of a search that led to a match`,
  reviewer: `evidence for Art. 12(3)(d), ${BIOMETRIC}: a person who looked at the result, under a pseudonym`,
  review: 'evidence for Art. 14: a review is recorded; when it was made and by whom is asserted',
  intervention: 'evidence for Art. 14(4)(e): a person stopped the system',
  'second-reviewer': `evidence for Art. 14(5), ${BIOMETRIC}: two persons verified the result, told apart within one node`,
} as const;
export type FactKey = keyof typeof EVIDENCE_FOR;
export const FACT_KEYS: readonly FactKey[] = [
  'event',
  'input',
  'traceability',
  'period-of-use',
  'reference-database',
  'matched-input',
  'reviewer',
  'review',
  'intervention',
  'second-reviewer',
];

/** What a fact can lack: a claim, a kind of record, or what is wrong with those that are there. */
export const MISSING = [
  'signature',
  'input',
  'modelId',
  'modelVersion',
  'riskLevel-or-confidenceScore',
  'session',
  'session_start',
  'session_end',
  'time-within-session',
  'referenceDatabase',
  'matched',
  'human_override',
  'reviewOutcome',
  'stopped',
  'second-reviewer',
] as const;
export type Missing = (typeof MISSING)[number];

/** What no record of a review shows. */
export const NOT_SHOWN_OF_REVIEWS = [
  'who-the-person-is',
  'whether-the-person-was-competent',
  'what-the-person-looked-at',
] as const;

const FactShape = Closed(
  {
    key: Type.Enum([...FACT_KEYS]),
    evidenceFor: Type.Enum(Object.values(EVIDENCE_FOR)),
    state: Type.Enum([...FACT_STATES]),
    missing: Type.Array(Type.Enum([...MISSING])),
  },
  { title: 'EvidenceFact' },
);
export type Fact = Static<typeof FactShape>;

const EventTimeShape = Closed(
  {
    /** As the caller asserts it; null where it asserts none. */
    asserted: OrNull(TimestampShape),
    /** When the record was made. */
    recorded: TimestampShape,
    /** Whole seconds from the asserted time to the record: an event that was written down later is no automatic log. */
    lagSeconds: OrNull(Type.Integer()),
  },
  { title: 'EventTime' },
);
export type EventTime = Static<typeof EventTimeShape>;

/** By which time an event lies in its session, or not. */
export const TIME_BASES = ['asserted-event-time', 'record-time'] as const;

const PeriodOfUseShape = Closed(
  {
    /** The time that the fact `period-of-use` goes by: the asserted one where there is one. */
    basis: Type.Enum([...TIME_BASES]),
    recordTimeWithin: Type.Boolean(),
    /** Null where no event time is asserted. */
    eventTimeWithin: OrNull(Type.Boolean()),
  },
  { title: 'PeriodOfUse' },
);
export type PeriodOfUse = Static<typeof PeriodOfUseShape>;

const ReviewShape = Closed(
  {
    attestationId: RecordIdShape,
    /** Whole seconds from the record to its review; null of a review that is the record itself. */
    reviewLag: OrNull(Type.Integer()),
    /** The same from the asserted time of the event; null where none is asserted. */
    lagFromEvent: OrNull(Type.Integer()),
    /** Whether it says what came of it. */
    outcomeGiven: Type.Boolean(),
    /** Whether it says that the system was stopped: Art. 14(4)(e). */
    stopped: Type.Boolean(),
  },
  { title: 'ReviewShown' },
);
export type ReviewShown = Static<typeof ReviewShape>;

/** What the records show by `evidence-rules/2`: beside the flags of `evidence-rules/1`, which keep their meaning. */
export const RecordedEvidenceShape = Closed(
  {
    ruleSet: Type.Literal(EVIDENCE_RULE_SET),
    /** When the linked records were gathered; null where the verifier did not say. */
    evaluatedAt: OrNull(TimestampShape),
    kindOfRecord: Type.Enum([...KINDS_OF_RECORD]),
    facts: Type.Array(FactShape),
    /** Null of a record that cannot be read, or whose proof does not hold. */
    eventTime: OrNull(EventTimeShape),
    /** Null where the record names no session. */
    periodOfUse: OrNull(PeriodOfUseShape),
    /** In the order in which they were made. */
    reviews: Type.Array(ReviewShape),
    reviewsDoNotShow: Type.Array(Type.Enum([...NOT_SHOWN_OF_REVIEWS])),
    meaning: Type.Literal(EVIDENCE_MEANING),
  },
  { title: 'RecordedEvidence' },
);
export type RecordedEvidence = Static<typeof RecordedEvidenceShape>;

import Type, { type Static } from 'typebox';
import { Closed, Sha256Shape, TimestampShape } from '../shapes.ts';
import { RECIPIENTS, REPORT_TYPES, REPORTABILITIES, ROLES, SYSTEM_STATUSES } from '../statement/vocabulary.ts';

/** A person, told apart from others of the same account and node, and not named: HMAC-SHA-256. */
export const PSEUDONYM_PATTERN = '^hmac-sha256:[0-9a-f]{64}$';

const Pseudonym = Type.String({ pattern: PSEUDONYM_PATTERN });
const Word = Type.String({ minLength: 1 });
const Words = Type.Array(Word, { minItems: 1 });

/** The start of a clock that has a trigger of its own, as its caller asserts it. */
const TriggerShape = Closed({ regime: Word, at: TimestampShape }, { title: 'ClockTrigger' });

/**
 * What a caller asserts in a record: facts that the rules of `evidence-rules/2` read and that outlive the payload.
 * Names of things, words, dates, hashes and counts; a person stands under a pseudonym, and free text in the payload alone.
 */
export const AssertedShape = Closed(
  {
    /** Of decisions: when it happened, whether it went against the person, and whom it is about. */
    occurredAt: Type.Optional(TimestampShape),
    adverse: Type.Optional(Type.Boolean()),
    subject: Type.Optional(Pseudonym),
    /** `data` has no member: the decision shows nothing of its input. */
    emptyData: Type.Optional(Type.Literal(true)),

    /** Of the event `NOT_APPLICABLE`: that a reason is in the payload, who says so, and when it is looked at again. */
    reasonGiven: Type.Optional(Type.Literal(true)),
    assertedBy: Type.Optional(Pseudonym),

    /** Of a record of governance: members that were given with nothing in them. */
    emptyMembers: Type.Optional(Words),

    /** The system that a record is about, by its owner's own name, and what is said of it. */
    systemRef: Type.Optional(Word),
    systems: Type.Optional(Words),
    role: Type.Optional(Type.Enum([...ROLES])),
    riskClass: Type.Optional(Word),
    annexPoint: Type.Optional(Words),
    modelType: Type.Optional(Word),
    systemStatus: Type.Optional(Type.Enum([...SYSTEM_STATUSES])),
    euDatabaseId: Type.Optional(Word),
    owner: Type.Optional(Pseudonym),
    sources: Type.Optional(Words),
    placedOnMarketAt: Type.Optional(TimestampShape),
    putIntoServiceAt: Type.Optional(TimestampShape),
    substantiallyModifiedAt: Type.Optional(TimestampShape),

    docType: Type.Optional(Word),
    docVersion: Type.Optional(Word),
    sha256: Type.Optional(Sha256Shape),
    approvedBy: Type.Optional(Pseudonym),
    approvedAt: Type.Optional(TimestampShape),
    validFrom: Type.Optional(TimestampShape),
    validUntil: Type.Optional(TimestampShape),
    reviewDueAt: Type.Optional(TimestampShape),

    to: Type.Optional(Type.Enum([...RECIPIENTS])),
    regime: Type.Optional(Word),
    reportType: Type.Optional(Type.Enum([...REPORT_TYPES])),
    authority: Type.Optional(Word),
    memberState: Type.Optional(Word),
    sentAt: Type.Optional(TimestampShape),
    receivedAt: Type.Optional(TimestampShape),

    noticeType: Type.Optional(Word),
    givenAt: Type.Optional(TimestampShape),
    requestType: Type.Optional(Word),
    dueAt: Type.Optional(TimestampShape),
    closedAt: Type.Optional(TimestampShape),
    outcome: Type.Optional(Word),

    evalType: Type.Optional(Word),
    performedAt: Type.Optional(TimestampShape),
    performedBy: Type.Optional(Pseudonym),
    independent: Type.Optional(Type.Boolean()),

    person: Type.Optional(Pseudonym),
    capacity: Type.Optional(Word),
    trainedAt: Type.Optional(TimestampShape),
    mayStop: Type.Optional(Type.Boolean()),
    from: Type.Optional(TimestampShape),
    until: Type.Optional(TimestampShape),

    datasetRef: Type.Optional(Word),
    version: Type.Optional(Word),
    use: Type.Optional(Word),
    biasExamined: Type.Optional(Type.Boolean()),
    specialCategories: Type.Optional(Type.Boolean()),

    supplier: Type.Optional(Word),
    component: Type.Optional(Word),
    reviewedAt: Type.Optional(TimestampShape),
    nextReviewAt: Type.Optional(TimestampShape),

    procedure: Type.Optional(Word),
    notifiedBody: Type.Optional(Word),
    certificate: Type.Optional(Word),

    /** Of incidents. */
    providerUnreachable: Type.Optional(Type.Boolean()),
    reportability: Type.Optional(Type.Enum([...REPORTABILITIES])),
    memberStates: Type.Optional(Words),
    detectedAt: Type.Optional(TimestampShape),
    triggers: Type.Optional(Type.Array(TriggerShape, { minItems: 1 })),
    reportabilityKnownAt: Type.Optional(TimestampShape),
    nextReportAt: Type.Optional(TimestampShape),
    riskAssessmentReviewed: Type.Optional(Type.Boolean()),
    /** Of a correction: that its clock starts with what it corrects, and the earliest end of a clock of that. */
    clockInherited: Type.Optional(Type.Literal(true)),
    inheritedDueAt: Type.Optional(TimestampShape),
    inheritedRef: Type.Optional(Word),

    /** Of impact assessments. */
    firstUseAt: Type.Optional(TimestampShape),

    /** Of corrective actions (EU AI Act Art. 20). */
    suspendedAt: Type.Optional(TimestampShape),
    measure: Type.Optional(Word),

    /** Of retention locks: their period runs from here. */
    startsAt: Type.Optional(TimestampShape),
  },
  { title: 'AssertedFacts' },
);
export type Asserted = Static<typeof AssertedShape>;
export type AssertedName = keyof Asserted;

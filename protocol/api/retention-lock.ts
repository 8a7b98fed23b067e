import Type from 'typebox';
import { LOCK_REFERENCES } from '../compliance/references.ts';
import { MAX_LOCK_SCOPES, MAX_RETENTION_DAYS, MIN_RETENTION_DAYS, NARROW_SCOPES } from '../compliance/retention.ts';
import { EventScopeShape, LockScopeShape } from '../chain/claims.ts';
import { Closed, documented, OrNull, TimestampShape } from '../shapes.ts';
import { ENVELOPE_EXAMPLE, ENVELOPE_MEMBERS } from './envelope.ts';
import { EXAMPLE_IDS, EXAMPLE_SUBMITTED_AT } from './example-ids.ts';
import { SourceIdShape, TextShape } from './fields.ts';
import { IdTextShape, ListOf, ObjectIdShape, ParagraphShape, PersonShape } from './governance-fields.ts';
import { TimeOrDayShape } from './times.ts';

/** One scope, or several; `all` stands alone. */
const ScopeShape = Type.Union([
  LockScopeShape,
  Type.Array(Type.Union([Type.Enum([...NARROW_SCOPES]), EventScopeShape]), {
    minItems: 1,
    maxItems: MAX_LOCK_SCOPES,
    uniqueItems: true,
  }),
]);

/** Another person must be able to release a hold. */
const HOLD_CONDITIONS = documented({
  not: {
    type: 'object',
    required: ['legalHold'],
    properties: { legalHold: { type: 'boolean', const: true } },
    not: { type: 'object', required: ['lockedBy'], properties: { lockedBy: { type: 'string' } } },
  },
});

/** `POST /v1/retention-lock`. A period below 1,825 days is refused with a code of its own. */
export const RetentionLockRequestShape = Type.Object(
  {
    sourceId: SourceIdShape,
    retentionPeriodDays: Type.Integer({
      maximum: MAX_RETENTION_DAYS,
      ...documented({ minimum: MIN_RETENTION_DAYS }),
    }),
    scope: ScopeShape,
    /** Where the period runs from, if not from the lock; a day counts as its last moment in UTC. */
    startsAt: Type.Optional(TimeOrDayShape),
    regulatoryBasis: Type.Optional(TextShape(0, 500)),
    /** Required with `legalHold`. */
    lockedBy: Type.Optional(PersonShape),
    /** No end until a second person releases it. */
    legalHold: Type.Optional(Type.Boolean()),
  },
  HOLD_CONDITIONS,
);

const StatutoryMinimumShape = Type.Record(Type.String(), Type.Integer(), { description: 'Days, by the rule named.' });

export const RetentionLockAnswerShape = Closed({
  ...ENVELOPE_MEMBERS,
  lockId: ObjectIdShape,
  sourceId: SourceIdShape,
  scope: ScopeShape,
  retentionPeriodDays: Type.Integer(),
  lockedAt: TimestampShape,
  /** Where it was given: the period runs from here. */
  startsAt: Type.Optional(TimestampShape),
  /** For what was recorded before the lock and before `startsAt`. Null under a legal hold. */
  expiresAt: OrNull(TimestampShape),
  appliesTo: Type.Literal('existing-and-future'),
  perRecordExpiry: Type.Literal('recordTime + period'),
  /** What the rules named in `regulatoryBasis` ask for; null where it names none that is known here. */
  statutoryMinimumDays: OrNull(StatutoryMinimumShape),
  articles: ListOf(...LOCK_REFERENCES.articles),
  relatedArticles: ListOf(...LOCK_REFERENCES.relatedArticles),
  /** The latest end of all locks that cover some of the same records. Null under a legal hold. */
  effectiveUntil: OrNull(TimestampShape),
});

/** `POST /v1/retention-lock/release`: ends a legal hold. The lock's period goes on. */
export const HoldReleaseRequestShape = Type.Object({
  lockId: IdTextShape,
  releasedBy: PersonShape,
  reason: Type.Optional(ParagraphShape),
});

export const HoldReleaseAnswerShape = Closed({
  ...ENVELOPE_MEMBERS,
  lockId: ObjectIdShape,
  releasedAt: TimestampShape,
  expiresAt: TimestampShape,
  effectiveUntil: OrNull(TimestampShape),
});

const EXPIRES_AT = '2032-11-21T09:30:00.000Z';
const LOCK_ENVELOPE = {
  ...ENVELOPE_EXAMPLE,
  attestationId: EXAMPLE_IDS.lockRecord,
  verifyUrl: `https://eu.example/v1/verify/${EXAMPLE_IDS.lockRecord}`,
} as const;

export const RETENTION_LOCK_EXAMPLE = {
  request: {
    sourceId: EXAMPLE_IDS.source,
    retentionPeriodDays: 2192,
    scope: 'all',
    regulatoryBasis: 'SEC Rule 17a-4(a)',
    lockedBy: 'records-officer',
  },
  answer: {
    ...LOCK_ENVELOPE,
    lockId: EXAMPLE_IDS.lock,
    sourceId: EXAMPLE_IDS.source,
    scope: 'all',
    retentionPeriodDays: 2192,
    lockedAt: EXAMPLE_SUBMITTED_AT,
    expiresAt: EXPIRES_AT,
    appliesTo: 'existing-and-future',
    perRecordExpiry: 'recordTime + period',
    statutoryMinimumDays: { 'SEC 17a-4(a)': 2192 },
    ...LOCK_REFERENCES,
    effectiveUntil: EXPIRES_AT,
  },
} as const;

export const HOLD_RELEASE_EXAMPLE = {
  request: { lockId: EXAMPLE_IDS.lock, releasedBy: 'general-counsel', reason: 'Case closed.' },
  answer: {
    ...ENVELOPE_EXAMPLE,
    lockId: EXAMPLE_IDS.lock,
    releasedAt: EXAMPLE_SUBMITTED_AT,
    expiresAt: EXPIRES_AT,
    effectiveUntil: EXPIRES_AT,
  },
} as const;

import Type from 'typebox';
import { OVERRIDE_REFERENCES } from '../compliance/references.ts';
import { Closed, CountShape } from '../shapes.ts';
import { REVIEW_OUTCOMES } from '../statement/vocabulary.ts';
import { ENVELOPE_EXAMPLE, ENVELOPE_MEMBERS } from './envelope.ts';
import { EXAMPLE_IDS } from './example-ids.ts';
import { SourceIdShape, TextShape } from './fields.ts';
import { IdTextShape, ListOf, ObjectIdShape, PageShape, PersonShape } from './governance-fields.ts';
import { TimeOrDayShape } from './times.ts';

/** `POST /v1/human-override`: a person looked at an output again. */
export const HumanOverrideRequestShape = Type.Object({
  sourceId: SourceIdShape,
  originalAttestationId: IdTextShape,
  reviewerId: PersonShape,
  overrideDecision: Type.Optional(TextShape(0, 2000)),
  overrideReason: Type.Optional(PageShape),
  reviewOutcome: Type.Optional(Type.Enum([...REVIEW_OUTCOMES])),
  reviewedAt: Type.Optional(TimeOrDayShape),
  /** Records the review of something that is not on record here; it then counts for nothing. */
  allowUnresolved: Type.Optional(Type.Boolean()),
});

export const HumanOverrideAnswerShape = Closed({
  ...ENVELOPE_MEMBERS,
  overrideId: ObjectIdShape,
  originalAttestationId: Type.String(),
  originalFound: Type.Boolean(),
  /** Reviews of the original on record, this one among them; 0 where the original was not found. At most 101. */
  reviewCount: CountShape,
  /** Persons among the reviewers that certainly are different ones. */
  distinctReviewers: CountShape,
  articles: ListOf(...OVERRIDE_REFERENCES.articles),
});

export const HUMAN_OVERRIDE_EXAMPLE = {
  request: {
    sourceId: EXAMPLE_IDS.source,
    originalAttestationId: EXAMPLE_IDS.decision,
    reviewerId: 'staff-0733',
    overrideDecision: 'grant',
    overrideReason: 'Income was documented after the automatic refusal.',
    reviewOutcome: 'overridden',
    reviewedAt: '2026-11-21T09:28:10.000Z',
  },
  answer: {
    ...ENVELOPE_EXAMPLE,
    attestationId: EXAMPLE_IDS.overrideRecord,
    verifyUrl: `https://eu.example/v1/verify/${EXAMPLE_IDS.overrideRecord}`,
    overrideId: EXAMPLE_IDS.override,
    originalAttestationId: EXAMPLE_IDS.decision,
    originalFound: true,
    reviewCount: 1,
    distinctReviewers: 1,
    ...OVERRIDE_REFERENCES,
  },
} as const;

import Type, { type Static } from 'typebox';
import { idPattern } from '../ids.ts';
import { Closed, CountShape, CursorShape, OrNull, RecordIdShape, TimestampShape } from '../shapes.ts';
import { EXAMPLE_IDS, EXAMPLE_SUBMITTED_AT } from './example-ids.ts';
import { SourceIdShape, TextShape } from './fields.ts';

const MAX_NAME = 200;
const MAX_WORD = 64;
const MAX_WORDS = 20;
/** Items of one page of the queue, where no number is asked for and at most. */
export const DEFAULT_OVERSIGHT_PAGE = 50;
export const MAX_OVERSIGHT_PAGE = 100;

export type PolicyId = string & { readonly __brand: 'PolicyId' };
const POLICY_ID_PATTERN = idPattern('pol');
export const PolicyIdShape = Type.Unsafe<PolicyId>(Type.String({ pattern: POLICY_ID_PATTERN }));

const POLICY_ID = new RegExp(POLICY_ID_PATTERN);

export function isPolicyId(text: string): text is PolicyId {
  return POLICY_ID.test(text);
}

/** Decisions for which all of these hold; none given: all. */
export const PolicyTermsShape = Closed(
  {
    sourceId: Type.Optional(SourceIdShape),
    /** One of these events. */
    eventTypes: Type.Optional(wordsShape()),
    /** One of these levels, as the decision says it. */
    riskLevels: Type.Optional(wordsShape()),
    /** Whether it went against the person. */
    adverse: Type.Optional(Type.Boolean()),
    /** Its confidence is given, and below this. */
    confidenceBelow: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: 1 })),
    /** Of those this part, drawn by hash, so that nobody chooses which. */
    share: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: 1 })),
  },
  { title: 'PolicyTerms' },
);
export type PolicyTerms = Readonly<Static<typeof PolicyTermsShape>>;

/** `POST /v1/oversight-policies`. */
export const PolicyRequestShape = Closed({
  name: TextShape(1, MAX_NAME),
  when: PolicyTermsShape,
  /** How many different people must look at each: 2 for what the EU AI Act Article 14(5) is about. */
  persons: Type.Optional(Type.Integer({ minimum: 1, maximum: 2 })),
});
export type PolicyRequest = Readonly<Static<typeof PolicyRequestShape>>;

/** What a person must look at, from its making on. */
export const OversightPolicyShape = Closed(
  {
    policyId: PolicyIdShape,
    name: Type.String(),
    when: PolicyTermsShape,
    persons: Type.Integer({ minimum: 1, maximum: 2 }),
    createdAt: TimestampShape,
  },
  { title: 'OversightPolicy' },
);
export type OversightPolicyAnswer = Readonly<Static<typeof OversightPolicyShape>>;

const success = Type.Literal(true);

export const MadePolicyAnswerShape = Closed({ success, policyId: PolicyIdShape, policy: OversightPolicyShape });
export const PoliciesAnswerShape = Closed({ success, policies: Type.Array(OversightPolicyShape) });
export const DeletedPolicyAnswerShape = Closed({ success, policyId: PolicyIdShape });

/** A decision that people have to look at. */
export const OversightItemShape = Closed(
  {
    attestationId: RecordIdShape,
    sourceId: Type.String(),
    submittedAt: TimestampShape,
    policies: Type.Array(PolicyIdShape),
    /** How many different people must, and did. Those of one node can be told apart. */
    persons: Type.Integer({ minimum: 1, maximum: 2 }),
    reviewCount: CountShape,
    distinctReviewers: CountShape,
  },
  { title: 'OversightItem' },
);
export type OversightItem = Readonly<Static<typeof OversightItemShape>>;

/** `GET /v1/oversight`: the oldest first. */
export const OversightQueryShape = Closed({
  cursor: Type.Optional(CursorShape),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_OVERSIGHT_PAGE })),
});
export const OversightAnswerShape = Closed({
  success,
  items: Type.Array(OversightItemShape, { maxItems: MAX_OVERSIGHT_PAGE }),
  /** Null on the last page. A page may hold few items, or none, and not be the last. */
  nextCursor: OrNull(Type.String()),
});

function wordsShape() {
  return Type.Array(TextShape(1, MAX_WORD), { minItems: 1, maxItems: MAX_WORDS, uniqueItems: true });
}

const POLICY = {
  policyId: EXAMPLE_IDS.policy,
  name: 'Refusals of low confidence',
  when: { sourceId: EXAMPLE_IDS.source, adverse: true, confidenceBelow: 0.8 },
  persons: 1,
  createdAt: EXAMPLE_SUBMITTED_AT,
};

export const OVERSIGHT_EXAMPLE = {
  request: { name: POLICY.name, when: POLICY.when, persons: 1 },
  made: { success: true, policyId: POLICY.policyId, policy: POLICY },
  list: { success: true, policies: [POLICY] },
  deleted: { success: true, policyId: POLICY.policyId },
  queue: {
    success: true,
    items: [
      {
        attestationId: EXAMPLE_IDS.decision,
        sourceId: EXAMPLE_IDS.source,
        submittedAt: EXAMPLE_SUBMITTED_AT,
        policies: [POLICY.policyId],
        persons: 1,
        reviewCount: 0,
        distinctReviewers: 0,
      },
    ],
    nextCursor: null,
  },
};

import type { AttestationRecord } from '../chain/record.ts';
import type { Timestamp } from '../time.ts';
import { eventNatureOf, type EventNature, isExpected, isPossible } from './ai-event.ts';
import { eventTimeOf, sessionShown, type SessionShown } from './event-time.ts';
import {
  EVIDENCE_FOR,
  EVIDENCE_MEANING,
  EVIDENCE_RULE_SET,
  type Fact,
  FACT_KEYS,
  type FactKey,
  type FactState,
  type Missing,
  NOT_SHOWN_OF_REVIEWS,
  type RecordedEvidence,
} from './evidence-shape.ts';
import { type LinkedRecord, speakingFor } from './linked-record.ts';
import { isHumanOverride, isOverrideOf, isVerifying, twoReviewers } from './oversight.ts';
import { isStop, reviewsShown } from './review-shown.ts';
import { evaluate, type Evaluation, type Subject } from './rules.ts';

/** What both rule sets find: the flags of `evidence-rules/1`, and beside them the facts of `evidence-rules/2`. */
export interface FullEvaluation extends Evaluation {
  readonly evidence: RecordedEvidence;
}

/** Both rule sets on one record, as a node and an offline verifier call them. */
export function evaluateFully(subject: Subject, linked: readonly LinkedRecord[], at: Timestamp | null): FullEvaluation {
  return { ...evaluate(subject, linked, at), evidence: recordedEvidence(subject, linked, at) };
}

/**
 * Rule set `evidence-rules/2`: which facts a signed record, and signed records linked to it, have on record for clauses
 * of the EU AI Act. Never what a payload says, and never whether a clause is met. A further linked record turns no
 * recorded fact to another state; one that does not hold, of another account, or of a node that does not speak for it,
 * changes nothing.
 */
export function recordedEvidence(
  { record, sigValid, speaks }: Subject,
  linked: readonly LinkedRecord[],
  at: Timestamp | null,
): RecordedEvidence {
  const same: Pick<RecordedEvidence, 'evaluatedAt' | 'meaning' | 'reviewsDoNotShow' | 'ruleSet'> = {
    ruleSet: EVIDENCE_RULE_SET,
    evaluatedAt: at,
    reviewsDoNotShow: [...NOT_SHOWN_OF_REVIEWS],
    meaning: EVIDENCE_MEANING,
  };
  if (record === null || !sigValid) {
    const facts = FACT_KEYS.map((key) => factOf(key, 'not-recorded', ['signature']));
    return { ...same, kindOfRecord: 'unknown', facts, eventTime: null, periodOfUse: null, reviews: [] };
  }
  const others = speakingFor(record, linked);
  const nature = eventNatureOf(record);
  const overrides = others.filter((other) => isOverrideOf(record, other));
  const itself = speaks && isHumanOverride(record) ? [record] : [];
  const session = sessionShown(record, speaks ? [...others, record] : []);
  return {
    ...same,
    kindOfRecord: nature === 'none' ? 'not-applicable' : 'ai-system-event',
    facts: factsOf(record, nature, missingOf(record, overrides, itself, session)),
    eventTime: eventTimeOf(record),
    periodOfUse: session.periodOfUse,
    reviews: [...reviewsShown(record, [...overrides, ...itself])],
  };
}

type MissingOf = Readonly<Record<FactKey, readonly Missing[]>>;

function factsOf(record: AttestationRecord, nature: EventNature, missing: MissingOf): Fact[] {
  return FACT_KEYS.map((key) => {
    if (isPossible(nature, key) && missing[key].length === 0) return factOf(key, 'recorded', []);
    // Of a search that led to no match there is no input to keep.
    const isMeant = isExpected(nature, key) && !(key === 'matched-input' && record.claims.matched === false);
    return isMeant ? factOf(key, 'not-recorded', missing[key]) : factOf(key, 'not-applicable', []);
  });
}

function factOf(key: FactKey, state: FactState, missing: readonly Missing[]): Fact {
  return { key, evidenceFor: EVIDENCE_FOR[key], state, missing: [...missing] };
}

/** What each fact lacks; it is recorded where it lacks nothing. */
function missingOf(
  record: AttestationRecord,
  overrides: readonly AttestationRecord[],
  itself: readonly AttestationRecord[],
  session: SessionShown,
): MissingOf {
  const { claims } = record;
  const { modelId, modelVersion, riskLevel, confidenceScore } = claims;
  const reviews = [...overrides, ...itself];
  const ofReview = lackUnless(reviews.length > 0, 'human_override');
  const ofInput = lackUnless(hasInput(record), 'input');
  return {
    // The closed shape of a record makes it a time-stamped, ordered event of a named source.
    event: [],
    input: ofInput,
    traceability: [
      ...lackUnless(isGiven(modelId), 'modelId'),
      ...lackUnless(isGiven(modelVersion), 'modelVersion'),
      ...lackUnless(isGiven(riskLevel) || confidenceScore !== undefined, 'riskLevel-or-confidenceScore'),
    ],
    'period-of-use': session.missing,
    'reference-database': lackUnless(
      (claims.referenceDatabase ?? []).some(({ id }) => id !== ''),
      'referenceDatabase',
    ),
    'matched-input': claims.matched === true ? ofInput : ['matched'],
    reviewer: lackUnless(overrides.length > 0, 'human_override'),
    review: ofReview,
    intervention: ofReview.length > 0 ? ofReview : lackUnless(reviews.some(isStop), 'stopped'),
    'second-reviewer': lackOfTwoPersons(overrides),
  };
}

/** A commitment to all of `data` where it has no member commits to nothing. */
function hasInput({ claims }: AttestationRecord): boolean {
  return claims.inputHash !== undefined && claims.asserted?.emptyData !== true;
}

function lackOfTwoPersons(overrides: readonly AttestationRecord[]): readonly Missing[] {
  if (twoReviewers(overrides).length > 0) return [];
  if (overrides.length === 0) return ['human_override', 'second-reviewer'];
  return [...lackUnless(overrides.some(isVerifying), 'reviewOutcome'), 'second-reviewer'];
}

function lackUnless(holds: boolean, missing: Missing): readonly Missing[] {
  return holds ? [] : [missing];
}

function isGiven(text: string | undefined): boolean {
  return text !== undefined && text !== '';
}

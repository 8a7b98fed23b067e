import type { AttestationRecord } from '../chain/record.ts';
import type { ReviewShown } from './evidence-shape.ts';
import { eventTimeOf, secondsFrom } from './event-time.ts';

/**
 * What reviews of a record show, in the order in which they were made, each once: how long after the record, whether
 * they say what came of it, and whether the system was stopped. Never who looked, or whether that person was competent.
 */
export function reviewsShown(record: AttestationRecord, reviews: readonly AttestationRecord[]): readonly ReviewShown[] {
  const { asserted } = eventTimeOf(record);
  const byId = new Map(reviews.map((review) => [review.id, review]));
  return [...byId.values()].toSorted(inOrder).map((review) => {
    const isItself = review.id === record.id;
    return {
      attestationId: review.id,
      reviewLag: isItself ? null : secondsFrom(record.submittedAt, review.submittedAt),
      lagFromEvent: isItself || asserted === null ? null : secondsFrom(asserted, review.submittedAt),
      outcomeGiven: review.claims.reviewOutcome !== undefined,
      stopped: isStop(review),
    };
  });
}

/** Whether a review says that the person stopped the system: Art. 14(4)(e). */
export function isStop({ claims }: AttestationRecord): boolean {
  return claims.reviewOutcome === 'stopped';
}

/** Records of several nodes may have one time: then the id decides, so that everyone has the same order. */
function inOrder(one: AttestationRecord, other: AttestationRecord): number {
  return compared(one.submittedAt, other.submittedAt) || compared(one.id, other.id);
}

function compared(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

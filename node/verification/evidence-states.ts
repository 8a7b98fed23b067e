import type { EvidenceState } from '../../protocol/api/verify.ts';
import type { AttestationRecord } from '../../protocol/chain/record.ts';
import { isOverrideOf } from '../../protocol/evidence/oversight.ts';
import type { NodeId, RecordId } from '../../protocol/ids.ts';
import type { PayloadState } from '../../protocol/verdict/payload.ts';
import { readSeeds } from '../records/payload/payload-keys.ts';
import type { Reads } from '../store/store.ts';

/** What a node knows of the evidence behind a review: null of one that another node holds. */
export interface ReviewEvidence {
  readonly attestationId: RecordId;
  readonly evidenceState: EvidenceState | null;
}

/**
 * Whether what a record commits to is still held, or only its commitment; null where that is not known: the payload is
 * withheld, its node cannot be reached, or it is not what was committed to.
 */
export function evidenceStateOf(payload: PayloadState): EvidenceState | null {
  if (payload === 'disclosed') return 'held';
  return payload === 'erased' ? 'commitment-only' : null;
}

/** The same of the reviews of a record, whose reviewers are named in their payloads alone, in the order of the ids. */
export class ReviewEvidences {
  readonly #store: Reads;
  readonly #self: NodeId;

  constructor(store: Reads, self: NodeId) {
    this.#store = store;
    this.#self = self;
  }

  /** Of those of these records that review the subject. Of none nothing is read. */
  async of(subject: AttestationRecord, linked: readonly AttestationRecord[]): Promise<readonly ReviewEvidence[]> {
    const reviews = linked.filter((record) => isOverrideOf(subject, record));
    const own = reviews.filter(({ node }) => node === this.#self);
    const seeds = own.length === 0 ? [] : await readSeeds(this.#store, own);
    const states = new Map(own.map(({ id }, i) => [id, seeds[i] === undefined ? 'commitment-only' : 'held'] as const));
    return reviews
      .map(({ id }) => ({ attestationId: id, evidenceState: states.get(id) ?? null }))
      .toSorted((one, other) => (one.attestationId < other.attestationId ? -1 : 1));
  }
}

import type { NodeId } from '../../protocol/ids.ts';
import type { AttestationRecord } from '../../protocol/chain/record.ts';
import { linkingIds } from '../records/link-tables.ts';
import { readRecord } from '../records/record-reader.ts';
import type { Store } from '../store/store.ts';
import type { Lanes } from '../lanes.ts';

/** Earlier reviews of a record that are looked at: beyond, the counts stand still. */
const MAX_REVIEWS_COUNTED = 100;

/** Reviews of a record, a new one among them. */
export interface ReviewCounts {
  readonly reviewCount: number;
  /** Reviewers that certainly are different persons: those of one node. */
  readonly distinctReviewers: number;
}

/** Human reviews of records: how often, and by how many persons, one was looked at again. */
export class Reviews {
  readonly #store: Store;
  readonly #lanes: Lanes;
  readonly #self: NodeId;

  constructor(store: Store, lanes: Lanes, self: NodeId) {
    this.#store = store;
    this.#lanes = lanes;
    this.#self = self;
  }

  /** Runs the work that records a review by this pseudonym, alone for its original, with the counts as they then are. */
  reviewing<Result>(
    original: AttestationRecord,
    reviewer: string,
    work: (counts: ReviewCounts) => Promise<Result>,
  ): Promise<Result> {
    return this.#lanes.exclusive(`review/${original.id}`, async () => work(await this.#counts(original, reviewer)));
  }

  async #counts({ id, account }: AttestationRecord, reviewer: string): Promise<ReviewCounts> {
    const ids = await linkingIds(this.#store, id, 'original', 'human_override', MAX_REVIEWS_COUNTED);
    const records = await Promise.all(ids.map((review) => readRecord(this.#store, review)));
    const earlier = records.flatMap((found) => (found?.record.account === account ? [found.record] : []));
    const reviews = earlier.map(({ node, claims }) => ({ node, reviewer: claims.reviewer }));
    reviews.push({ node: this.#self, reviewer });
    return { reviewCount: reviews.length, distinctReviewers: distinct(reviews) };
  }
}

/** Each node makes pseudonyms of its own, so only those of one node can be told apart: the most that one node shows. */
function distinct(reviews: readonly { readonly node: NodeId; readonly reviewer: string | undefined }[]): number {
  const byNode = Map.groupBy(reviews, ({ node }) => node);
  return Math.max(...[...byNode.values()].map((own) => new Set(own.map(({ reviewer }) => reviewer)).size));
}

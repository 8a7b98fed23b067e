import { homeOf } from '../../protocol/accounts/account-id.ts';
import type { AttestationRecord } from '../../protocol/chain/record.ts';
import type { NodeId } from '../../protocol/ids.ts';
import type { KeyedLock } from '../concurrency/keyed-lock.ts';
import { linkingIdsOfEach } from '../records/link-tables.ts';
import { readRecord } from '../records/record-reader.ts';
import type { Store } from '../store/store.ts';
import type { AccountSpeakers } from './account-records.ts';

/** Earlier reviews of a record that are looked at: beyond, the counts stand still. */
const MAX_REVIEWS_COUNTED = 100;
/** Where there are more, of each node but the account's home. */
const MAX_COUNTED_EACH = 16;

/** Reviews of a record, a new one among them. */
export interface ReviewCounts {
  readonly reviewCount: number;
  /** Reviewers that certainly are different persons: those of one node. */
  readonly distinctReviewers: number;
}

interface Review {
  readonly node: NodeId;
  readonly reviewer: string | undefined;
}

/**
 * Human reviews of records by nodes that speak for the account: how often, and by how many persons, one was looked at
 * again.
 */
export class Reviews {
  readonly #store: Store;
  readonly #keyedLock: KeyedLock;
  readonly #self: NodeId;
  readonly #speakers: Pick<AccountSpeakers, 'speaking'>;

  constructor(store: Store, keyedLock: KeyedLock, self: NodeId, speakers: Pick<AccountSpeakers, 'speaking'>) {
    this.#store = store;
    this.#keyedLock = keyedLock;
    this.#self = self;
    this.#speakers = speakers;
  }

  /**
   * Runs the work that records a review by this pseudonym, alone for its original, with the counts as they then are.
   */
  reviewing<Result>(
    original: AttestationRecord,
    reviewer: string,
    work: (counts: ReviewCounts) => Promise<Result>,
  ): Promise<Result> {
    return this.#keyedLock.exclusive(`review/${original.id}`, async () => {
      return work(countsOf([...(await this.#earlier(original)), { node: this.#self, reviewer }]));
    });
  }

  /** The reviews of a record so far. */
  async counted(original: AttestationRecord): Promise<ReviewCounts> {
    return countsOf(await this.#earlier(original));
  }

  async #earlier({ id, account }: AttestationRecord): Promise<readonly Review[]> {
    const links = { target: id, name: 'original', kind: 'human_override' } as const;
    const terms = { limit: MAX_REVIEWS_COUNTED, each: MAX_COUNTED_EACH, home: homeOf(account) };
    const { ids } = await linkingIdsOfEach(this.#store, links, terms);
    const records = await Promise.all(ids.map((review) => readRecord(this.#store, review)));
    const earlier = await this.#speakers.speaking(
      account,
      records.flatMap((found) => found?.record ?? []),
    );
    return earlier.map(({ node, claims }) => ({ node, reviewer: claims.reviewer }));
  }
}

/** Each node makes pseudonyms of its own, so only those of one node can be told apart: the most that one node shows. */
function countsOf(reviews: readonly Review[]): ReviewCounts {
  const byNode = Map.groupBy(reviews, ({ node }) => node);
  const distinct = [...byNode.values()].map((own) => new Set(own.map(({ reviewer }) => reviewer)).size);
  return { reviewCount: reviews.length, distinctReviewers: Math.max(0, ...distinct) };
}

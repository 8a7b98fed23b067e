import { KeyedLock } from '../concurrency/keyed-lock.ts';
import { checkContinuity, type Continuity } from '../records/sources/continuity.ts';
import type { RecordLists } from '../records/sources/record-page.ts';
import type { Alerts } from './alerts.ts';

/** From the end of one search of an account's sources to the beginning of the next. In milliseconds. */
export const GAP_SEARCH_REST_MS = 6 * 3_600_000;
/** Gaps of one piece that are told of. */
const MAX_TOLD = 100;

export interface GapSearchOptions {
  readonly alerts: Pick<Alerts, 'listeners' | 'tell'>;
  readonly recordLists: Pick<RecordLists, 'named' | 'records'>;
  readonly now: () => number;
}

/** Where the search of an account's sources goes on, and when. */
interface Place {
  /** Key of a source; undefined: from the first on. */
  readonly source: string | undefined;
  readonly sourceSeq: number;
  /** Epoch milliseconds. */
  readonly notBefore: number;
}

const BEGINNING: Place = { source: undefined, sourceSeq: 1, notBefore: 0 };

/**
 * Derives the chains of sources again, a bounded piece at each look, of accounts in turn that want to know, and tells
 * of what is missing. A search that a stop cuts off begins anew: what was told of is not told of again.
 */
export class GapSearch {
  readonly #options: GapSearchOptions;
  readonly #looks = new KeyedLock();
  /** In the order of their turns. */
  #places = new Map<string, Place>();

  constructor(options: GapSearchOptions) {
    this.#options = options;
  }

  /** Looks at one piece of one source; at nothing where no search is due. */
  async look(): Promise<void> {
    await this.#looks.exclusive('look', async () => {
      const { alerts, now } = this.#options;
      const accounts = alerts.listeners('gap.found');
      const known = [...this.#places].filter(([account]) => accounts.has(account));
      this.#places = new Map(known);
      for (const account of accounts.keys()) if (!this.#places.has(account)) this.#places.set(account, BEGINNING);
      const due = this.#places.entries().find(([, { notBefore }]) => notBefore <= now());
      if (due === undefined) return;
      const [account, place] = due;
      this.#places.delete(account);
      this.#places.set(account, place);
      this.#places.set(account, await this.#piece(account, place));
    });
  }

  async #piece(account: string, place: Place): Promise<Place> {
    const { recordLists, now } = this.#options;
    const { sources, next } = await recordLists.named({ account, sources: null }, place.source, 1);
    const [found] = sources;
    const rest = { ...BEGINNING, notBefore: now() + GAP_SEARCH_REST_MS };
    if (found === undefined) return rest;
    const sourceId = found.newest?.sourceId ?? found.first?.sourceId;
    const records = recordLists.records(account, found.source);
    const end = await records.end(sourceId);
    const from = found.source === place.source ? place.sourceSeq : 1;
    const continuity = await checkContinuity(records, end, { from, to: end.last });
    await this.#tell(account, found.source, sourceId ?? null, continuity);
    if (continuity.next !== null) return { source: found.source, sourceSeq: continuity.next, notBefore: 0 };
    return next === null ? rest : { source: next, sourceSeq: 1, notBefore: 0 };
  }

  async #tell(account: string, source: string, sourceId: string | null, { gaps, forks }: Continuity): Promise<void> {
    const found = [
      ...gaps.map(({ from, to, reason }) => ({ sourceId, reason, from, to })),
      ...forks.map(({ sourceSeq }) => ({ sourceId, reason: 'fork', from: sourceSeq, to: sourceSeq })),
    ];
    for (const data of found.slice(0, MAX_TOLD)) {
      const subject = `${source} ${data.reason} ${data.from} ${data.to}`;
      await this.#options.alerts.tell({ account, event: 'gap.found', subject, data });
    }
  }
}

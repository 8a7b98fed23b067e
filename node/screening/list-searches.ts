import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { EditionSearch } from './edition-search.ts';
import type { Edition, Lists } from './lists/contract.ts';
import { freshnessOf } from './lists/freshness.ts';
import { LIST_IDS, type ListId } from './lists/list-id.ts';
import type { PackedEdition } from './packed-edition.ts';

/** `loading`: it is there, and is being made ready. */
type ListState = 'missing' | 'too-old' | 'loading';

export interface UnavailableList {
  readonly listId: ListId;
  readonly state: ListState;
}

/** Some list cannot be screened against, so that no answer would be whole. */
export class ListsUnavailableError extends Error {
  override readonly name = 'ListsUnavailableError';
  readonly lists: readonly UnavailableList[];

  constructor(lists: readonly UnavailableList[]) {
    super(`not available: ${lists.map(({ listId, state }) => `${listId} (${state})`).join(', ')}`);
    this.lists = lists;
  }
}

/** Reads an edition and makes it ready to be searched, away from the event loop. */
export type Pack = (edition: Edition, signal: AbortSignal) => Promise<PackedEdition>;

export interface ListSearchesOptions {
  readonly lists: Pick<Lists, 'current' | 'intact' | 'onChange'>;
  readonly pack: Pack;
  readonly now: () => number;
  readonly log: Logger;
}

/** A list that can be relied on. */
export interface UsableList {
  readonly search: EditionSearch;
  readonly isStale: boolean;
}

/** How long a search waits for lists that are being made ready, as they are after a start. In milliseconds. */
const LOADING_MS = 10_000;
/** When an edition that could not be read is tried again. In milliseconds. */
const RETRY_MS = 30_000;

/**
 * The editions in force, ready to be searched. A new edition is made ready beside the old one, which answers until
 * then, and takes its place at once: an answer is of the one or the other, and names which. One that cannot be made
 * ready leaves the old one in place, which grows old by its own date.
 */
export class ListSearches implements AsyncDisposable {
  readonly #options: ListSearchesOptions;
  readonly #searches = new Map<ListId, EditionSearch>();
  /** Lists whose edition in force may be another than the one that is searched. Owned by `#run`. */
  readonly #changed = new Set<ListId>();
  readonly #over = new AbortController();
  #running: Promise<void> | null = null;
  #unsubscribe = (): void => {};

  constructor(options: ListSearchesOptions) {
    this.#options = options;
  }

  /** Makes ready what is there, and from now on whatever comes. Returns at once. */
  start(): void {
    this.#unsubscribe = this.#options.lists.onChange(({ listId }) => this.#note(listId));
    for (const listId of LIST_IDS) this.#note(listId);
  }

  /** Resolves when every edition that is in force now is searched, or could not be made ready. */
  async settled(): Promise<void> {
    while (this.#running !== null) await this.#running;
  }

  /** What `usable` gives, once no list is being made ready for the first time; waits for that a moment. */
  async ready(): Promise<ReadonlyMap<ListId, UsableList>> {
    if (LIST_IDS.some((listId) => this.#find(listId) === 'loading')) {
      const over = new AbortController();
      await Promise.race([this.settled(), sleep(LOADING_MS, undefined, { signal: over.signal }).catch(() => {})]);
      over.abort();
    }
    return this.usable();
  }

  /** Every list, of one moment. Throws `ListsUnavailableError` naming those that cannot be relied on now. */
  usable(): ReadonlyMap<ListId, UsableList> {
    const usable = new Map<ListId, UsableList>();
    const unavailable: UnavailableList[] = [];
    for (const listId of LIST_IDS) {
      const found = this.#find(listId);
      if (typeof found === 'string') unavailable.push({ listId, state: found });
      else usable.set(listId, found);
    }
    if (unavailable.length > 0) throw new ListsUnavailableError(unavailable);
    return usable;
  }

  /** Throws `ListsUnavailableError` naming the lists that will not be usable by waiting for them, if there are any. */
  requireLists(): void {
    const unavailable = LIST_IDS.flatMap((listId): UnavailableList[] => {
      const found = this.#find(listId);
      return found === 'missing' || found === 'too-old' ? [{ listId, state: found }] : [];
    });
    if (unavailable.length > 0) throw new ListsUnavailableError(unavailable);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#unsubscribe();
    this.#over.abort();
    await this.#running;
  }

  #find(listId: ListId): UsableList | ListState {
    const search = this.#searches.get(listId);
    if (search === undefined) return this.#options.lists.current().has(listId) ? 'loading' : 'missing';
    const freshness = freshnessOf(search.edition, this.#options.now());
    return freshness === 'too-old' ? freshness : { search, isStale: freshness === 'stale' };
  }

  #note(listId: ListId): void {
    if (this.#over.signal.aborted) return;
    this.#changed.add(listId);
    this.#running ??= this.#run();
  }

  /** One edition after the other: making one ready takes a core. */
  async #run(): Promise<void> {
    for (const listId of this.#changed) {
      if (this.#over.signal.aborted) break;
      this.#changed.delete(listId);
      await this.#follow(listId);
    }
    // In the same turn in which the last change was seen to: none can come in between.
    this.#running = null;
  }

  async #follow(listId: ListId): Promise<void> {
    const { lists, pack, log } = this.#options;
    const edition = lists.current().get(listId);
    const held = this.#searches.get(listId);
    if (edition === undefined) return void this.#searches.delete(listId);
    if (held?.edition.fileHash === edition.fileHash) return void this.#searches.set(listId, held.under(edition));
    try {
      const packed = await pack(edition, this.#over.signal);
      this.#searches.set(listId, new EditionSearch(edition, packed));
      log.info({ listId, fileHash: edition.fileHash, entries: edition.entryCount }, 'a list is ready to be searched');
    } catch (error) {
      if (this.#over.signal.aborted) return;
      log.error({ err: error, listId, fileHash: edition.fileHash }, 'a list could not be made ready to be searched');
      // Of damaged files nothing will ever be made: the list is missing.
      if ((await lists.intact(listId)) !== undefined) this.#retry(listId).catch(() => {});
    }
  }

  async #retry(listId: ListId): Promise<void> {
    await sleep(RETRY_MS, undefined, { signal: this.#over.signal, ref: false });
    this.#note(listId);
  }
}

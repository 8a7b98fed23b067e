import type { Logger } from 'pino';
import { type Sha256Hash, writeSha256 } from '../../../protocol/hash.ts';
import { type Timestamp, timestampOf } from '../../../protocol/time.ts';
import { hash } from 'node:crypto';
import type { Store } from '../../store/store.ts';
import { PeriodicTask } from '../../concurrency/periodic-task.ts';
import { type Fetched, fetchDocument } from './fetch-document.ts';
import type { ItemIntake } from './item-intake.ts';
import { pauseAfterFailure, pauseAfterSuccess } from './pace.ts';
import { type SourceState, sourceTable } from './regwatch-tables.ts';
import type { Source } from './sources.ts';

export interface SourceWatchOptions {
  readonly store: Store;
  readonly sources: readonly Source[];
  readonly items: Pick<ItemIntake, 'ingest'>;
  readonly now: () => number;
  /** In [0, 1). */
  readonly random: () => number;
  readonly log: Logger;
}

/** Pause between two looks at the clock, in milliseconds: follows a clock that is set, and a machine that slept. */
const LOOK_MS = 15_000;
const MAX_ERROR = 200;

/**
 * Asks each source when it is due, one after another, so that a source never has two questions of this node at once.
 *
 * Crash order: the items of a document are recorded before its validators are kept, so a document that was ingested in
 * part is asked for again; what it says twice makes no record twice.
 */
export class SourceWatch implements AsyncDisposable {
  readonly #options: SourceWatchOptions;
  readonly #task = new PeriodicTask(LOOK_MS, () => this.#look());

  constructor(options: SourceWatchOptions) {
    this.#options = options;
  }

  get sources(): readonly Source[] {
    return this.#options.sources;
  }

  /** Once records are accepted. */
  start(): void {
    if (this.#options.sources.length > 0) this.#task.start();
  }

  /** Asks the sources that are due. Never rejects. */
  look(): Promise<void> {
    return this.#task.now();
  }

  /** How a source was met the last time; undefined where it was not asked yet. */
  state(id: string): Promise<SourceState | undefined> {
    return sourceTable.get(this.#options.store, id);
  }

  /** Gives up the question under way; waits for records under way. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#task[Symbol.asyncDispose]();
  }

  async #look(): Promise<void> {
    const { sources, now, log } = this.#options;
    for (const source of sources) {
      if (this.#task.signal.aborted) return;
      try {
        const state = await this.#stateOf(source);
        if (state === undefined || Date.parse(state.nextAt) <= now()) await this.#ask(source, state);
      } catch (error) {
        // Its state could not be read or kept: the next look tries again.
        log.error({ err: error, source: source.terms.id }, 'a source of the regulatory feed could not be looked at');
      }
    }
  }

  /** What was known of another address says nothing of this one. */
  async #stateOf({ url, terms }: Source): Promise<SourceState | undefined> {
    const state = await this.state(terms.id);
    return state?.url === url ? state : undefined;
  }

  async #ask(source: Source, before: SourceState | undefined): Promise<void> {
    const { etag = null, lastModified = null } = before ?? {};
    const fetched = await fetchDocument(source.url, { etag, lastModified }, this.#task.signal);
    if (this.#task.signal.aborted) return;
    const after = await this.#stateAfter(source, before, fetched);
    await this.#options.store.write([sourceTable.put([source.terms.id], after)]);
  }

  async #stateAfter(source: Source, before: SourceState | undefined, fetched: Fetched): Promise<SourceState> {
    if (fetched.outcome === 'failed') return this.#failure(source, before, fetched.reason, fetched.retryAfterMs);
    if (fetched.outcome === 'unchanged') {
      const { etag = null, lastModified = null, documentHash = null } = before ?? {};
      return this.#success(source, { etag, lastModified, documentHash });
    }
    const documentHash = writeSha256(hash('sha256', fetched.document.bytes, 'buffer'));
    if (documentHash === before?.documentHash) return this.#success(source, { ...fetched.validators, documentHash });
    try {
      const report = await this.#options.items.ingest(fetched.document, source.terms);
      this.#options.log.info({ source: source.terms.id, ...report }, 'a source of the regulatory feed was read');
      return this.#success(source, { ...fetched.validators, documentHash });
    } catch (error) {
      return this.#failure(
        source,
        before,
        error instanceof Error ? error.message : 'its items were not recorded',
        null,
      );
    }
  }

  #success(source: Source, known: Pick<SourceState, 'etag' | 'lastModified' | 'documentHash'>): SourceState {
    const at = this.#time();
    const pause = pauseAfterSuccess(source.intervalMs, this.#options.random());
    return {
      ...known,
      url: source.url,
      checkedAt: at,
      succeededAt: at,
      nextAt: this.#time(pause),
      failures: 0,
      error: null,
    };
  }

  /** Its validators stay those of the document that was ingested. */
  #failure(
    { url, terms }: Source,
    before: SourceState | undefined,
    reason: string,
    retryAfterMs: number | null,
  ): SourceState {
    const failures = (before?.failures ?? 0) + 1;
    const error = reason.slice(0, MAX_ERROR).toWellFormed();
    this.#options.log.warn({ source: terms.id, failures, reason: error }, 'a source of the regulatory feed failed');
    return {
      url,
      etag: before?.etag ?? null,
      lastModified: before?.lastModified ?? null,
      documentHash: documentHashOf(before),
      checkedAt: this.#time(),
      succeededAt: before?.succeededAt ?? null,
      nextAt: this.#time(pauseAfterFailure(failures, retryAfterMs, this.#options.random())),
      failures,
      error,
    };
  }

  #time(later = 0): Timestamp {
    return timestampOf(this.#options.now() + later);
  }
}

function documentHashOf(state: SourceState | undefined): Sha256Hash | null {
  return state?.documentHash ?? null;
}

import { hash } from 'node:crypto';
import type { Logger } from 'pino';
import { type Sha256Hash, writeSha256 } from '../../../protocol/hash.ts';
import { type Timestamp, timestampOf } from '../../../protocol/time.ts';
import { doubledPause } from '../../concurrency/backoff.ts';
import { PeriodicTask } from '../../concurrency/periodic-task.ts';
import { type AnswerHead, HttpError, httpRequest, isConditional, type Validators } from '../../outbound/http-client.ts';
import type { Store } from '../../store/store.ts';
import { MAX_DOCUMENT_BYTES } from './document-reader.ts';
import type { ItemIntake } from './item-intake.ts';
import type { RawDocument } from './read-document.ts';
import { type SourceState, sourceTable } from './regwatch-tables.ts';
import type { Source } from './sources.ts';

type Fetched =
  | { readonly outcome: 'document'; readonly document: RawDocument; readonly validators: Validators }
  | { readonly outcome: 'unchanged' }
  | {
      readonly outcome: 'failed';
      readonly reason: string;
      /** What the source asks for. In milliseconds. */
      readonly retryAfterMs: number | null;
    };

/** From the question to the last byte. In milliseconds. */
const FETCH_MS = 30_000;
const OK = 200;
const USER_AGENT = 'meridian-regwatch/1';
const ACCEPT =
  'application/rss+xml, application/atom+xml, application/rdf+xml, application/json, application/xml, text/xml';

/**
 * Asks a source for its document, unless it is still the one that it gave last. Never throws: what goes wrong is an
 * outcome. Follows redirects where `followRedirects` does; reads no further than the largest document.
 */
export async function fetchDocument(url: string, known: Validators, signal: AbortSignal): Promise<Fetched> {
  try {
    const answer = await httpRequest(url, {
      headers: { accept: ACCEPT, 'user-agent': USER_AGENT },
      redirects: 'follow',
      validators: known,
      timeoutMs: FETCH_MS,
      maxBytes: MAX_DOCUMENT_BYTES,
      signal,
    });
    if (answer.status !== OK) return withoutDocument(answer, known);
    const { headers, validators, bytes } = answer;
    return { outcome: 'document', document: { bytes, contentType: headers.get('content-type') }, validators };
  } catch (error) {
    // What else it says than a document holds whatever became of the body.
    const head = error instanceof HttpError ? error.answer : null;
    if (head !== null && head.status !== OK) return withoutDocument(head, known);
    return failed(error instanceof Error ? reasonOf(error) : 'it cannot be reached');
  }
}

function withoutDocument({ status, headers }: AnswerHead, known: Validators): Fetched {
  if (status === 304 && isConditional(known)) return { outcome: 'unchanged' };
  return failed(`it answers ${status}`, readRetryAfter(headers.get('retry-after'), Date.now()));
}

/** RFC 9110 §10.2.3: seconds, or a date. `now` in epoch milliseconds. Null where it is neither. */
export function readRetryAfter(text: string | null, now: number): number | null {
  if (text === null) return null;
  if (/^\d{1,9}$/.test(text.trim())) return Number(text) * 1000;
  const at = Date.parse(text);
  return Number.isNaN(at) ? null : Math.max(0, at - now);
}

function failed(reason: string, retryAfter: number | null = null): Fetched {
  return { outcome: 'failed', reason, retryAfterMs: retryAfter };
}

function reasonOf(error: Error): string {
  if (!(error instanceof HttpError)) return error.message;
  if (error.code === 'too-large') return `it gives more than ${MAX_DOCUMENT_BYTES} bytes`;
  return error.code === 'unreachable' ? error.message : `it ${error.message}`;
}

/** Pause after a failure, doubled with each further one in a row. */
const RETRY = { firstMs: 60_000, mostMs: 6 * 3_600_000 };
/** A source that asks for more is asked again after this. In milliseconds. */
const MAX_RETRY_AFTER_MS = 24 * 3_600_000;
/** Parts of a pause that chance decides about, so that nodes do not ask together. */
const JITTER = 0.1;
const FAILURE_JITTER = 0.5;

/** The pause after a source has answered. `random` in [0, 1). In milliseconds. */
export function pauseAfterSuccess(intervalMs: number, random: number): number {
  return Math.round(intervalMs * (1 + JITTER * random));
}

/** The pause after `failures` in a row: never shorter than the source asks for, within a day. In milliseconds. */
export function pauseAfterFailure(failures: number, retryAfterMs: number | null, random: number): number {
  const doubled = doubledPause(failures - 1, RETRY);
  const asked = Math.min(MAX_RETRY_AFTER_MS, retryAfterMs ?? 0);
  return Math.round(Math.max(doubled, asked) * (1 + FAILURE_JITTER * random));
}

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
        if (state === undefined || isDue(state, now())) await this.#ask(source, state);
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

/** Where it was met later than now the clock was set back since: what was put off by that clock is not. */
function isDue({ checkedAt, nextAt }: SourceState, now: number): boolean {
  return Date.parse(nextAt) <= now || Date.parse(checkedAt) > now;
}

function documentHashOf(state: SourceState | undefined): Sha256Hash | null {
  return state?.documentHash ?? null;
}

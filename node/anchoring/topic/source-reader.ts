import type { Logger } from 'pino';
import { PAGE_MESSAGES } from '../ledger/mirror-client.ts';
import type { MirrorMessage } from '../ledger/mirror-shapes.ts';
import { backoffDelay } from '../../concurrency/backoff.ts';
import { AutoResetEvent } from '../../concurrency/auto-reset-event.ts';
import { LinkError } from './topic-links.ts';
import type { Agreement } from './agreement.ts';
import type { MessageSource } from './message-source.ts';

export interface SourceReaderPort {
  readonly agreement: Agreement;
  readonly source: MessageSource;
  /** Epoch milliseconds, for what is shown. */
  readonly now: () => number;
  /** In [0, 1), for the jitter of the back-off. */
  readonly random: () => number;
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** Pause between two readings when nobody waits for a message, in milliseconds. */
  readonly intervalMs: number;
  /** Whether a message is awaited. */
  readonly isFast: () => boolean;
  /** Messages that the source had not told before, and that link. */
  readonly onShown: (messages: readonly MirrorMessage[]) => void;
  /** The source answered, and what is agreed on may have changed. */
  readonly onAnswer: () => void;
}

/** Where a source says that the topic ends. */
export interface TopicEnd {
  /** When it was asked, by the monotonic clock. In milliseconds. */
  readonly askedAt: number;
  readonly sequence: number;
}

/** Pause between two readings while a message is awaited, in milliseconds. */
const FAST_INTERVAL_MS = 250;

/** `paused`: it is as far ahead of what is final as may be held. */
export type ReadOutcome = 'more' | 'end' | 'paused' | 'failed';

/** Reads one mirror source from its own position, at its own pace: none waits for another. */
export class SourceReader {
  readonly name: string;
  readonly #port: SourceReaderPort;
  readonly #wake = new AutoResetEvent();
  #failures = 0;
  #failure: string | null = null;
  #lastAnswerAt: number | null = null;
  #end: TopicEnd | null = null;
  #isPaused = false;

  constructor(port: SourceReaderPort) {
    this.#port = port;
    this.name = port.source.name;
  }

  /** Epoch milliseconds of the last answer that linked. */
  get lastAnswerAt(): number | null {
    return this.#lastAnswerAt;
  }

  /** Why the last reading failed; null where it did not. */
  get failure(): string | null {
    return this.#failure;
  }

  /** By its last answer that linked and was not full. */
  get end(): TopicEnd | null {
    return this.#end;
  }

  /** Whether it is as far ahead as may be held. */
  get isPaused(): boolean {
    return this.#isPaused;
  }

  /** Reads now, but no faster than the fast pace, and no sooner where the source failed. */
  wake(): void {
    this.#wake.notify();
  }

  /** Until the signal ends. */
  async run(): Promise<void> {
    const { signal } = this.#port;
    while (!signal.aborted) {
      const outcome = await this.read();
      if (outcome !== 'more') await this.#rest(outcome);
    }
  }

  /** Reads one page. What it throws is noted, and says nothing but that it failed. */
  async read(): Promise<ReadOutcome> {
    const { agreement, source, signal, now, onShown, onAnswer } = this.#port;
    const after = agreement.nextRead(this.name);
    this.#isPaused = after === null;
    if (after === null) return 'paused';
    const askedAt = performance.now();
    const { sequence: known } = agreement.headOf(this.name);
    let page: readonly MirrorMessage[];
    let taken: number;
    try {
      page = (await source.messages(after, signal)).slice(0, PAGE_MESSAGES);
      if (signal.aborted) return 'failed';
      taken = agreement.takePage(this.name, after, page);
    } catch (error) {
      if (!signal.aborted) this.#noteFailure(error);
      return 'failed';
    }
    this.#lastAnswerAt = now();
    this.#failure = null;
    const isEnd = page.length < PAGE_MESSAGES;
    // Where it lags behind what was read, it says nothing of the end.
    if (isEnd && page.length > 0) this.#end = { askedAt, sequence: after + page.length };
    if (isEnd && page.length === 0 && agreement.headOf(this.name).sequence === 0) this.#end = { askedAt, sequence: 0 };
    this.#noteContradiction();
    if (taken > 0) onShown(page.filter(({ sequence }) => sequence > known));
    onAnswer();
    return isEnd || taken === 0 ? 'end' : 'more';
  }

  /** A source that is contradicted is asked last: never at the fast pace, and more and more rarely. */
  async #rest(outcome: ReadOutcome): Promise<void> {
    const { signal, intervalMs, random, isFast } = this.#port;
    if (outcome === 'paused') {
      await this.#wake.wait(intervalMs, signal);
    } else if (this.#failures > 0) {
      await new AutoResetEvent().wait(backoffDelay(this.#failures, random()), signal);
    } else {
      await new AutoResetEvent().wait(Math.min(FAST_INTERVAL_MS, intervalMs), signal);
      if (!isFast()) await this.#wake.wait(Math.max(0, intervalMs - FAST_INTERVAL_MS), signal);
    }
  }

  #noteContradiction(): void {
    if (this.#port.agreement.contradictionOf(this.name) === null) this.#failures = 0;
    else this.#failures++;
  }

  #noteFailure(error: unknown): void {
    const failure = error instanceof Error ? error.message : String(error);
    const isNew = failure !== this.#failure;
    this.#failures++;
    this.#failure = failure;
    const fields = { mirror: this.name, err: error };
    if (error instanceof LinkError) {
      if (isNew) this.#port.log.error(fields, 'a mirror gave messages that do not link; dropped');
      this.#port.onAnswer();
    } else if (isNew) {
      this.#port.log.warn(fields, 'a mirror could not be read');
    }
  }
}

import type { Logger } from 'pino';
import { backoffDelay, doubledPause } from '../../concurrency/backoff.ts';
import { AutoResetEvent } from '../../concurrency/auto-reset-event.ts';
import type { TopicPoint } from '../ledger/topic-point.ts';
import type { Agreement } from './agreement.ts';
import type { TopicEnd } from './source-reader.ts';

export interface SecondSourcePort {
  readonly agreement: Agreement;
  /** Sequence number and running hash of the topic, by consensus nodes. Costs a fee. Throws where it has no answer. */
  readonly topicInfo: (signal: AbortSignal) => Promise<TopicPoint>;
  /** Epoch milliseconds, for what is shown: every wait goes by the monotonic clock. */
  readonly now: () => number;
  readonly random: () => number;
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** How long something waits for a second source before consensus nodes are asked, in milliseconds. */
  readonly waitMs: number;
  readonly onAnswer: () => void;
}

/** An answer that helps nothing doubles the pause before the next question, up to so long. In milliseconds. */
const MAX_PAUSE_MS = 300_000;
const MAX_SEEN = 1_024;
/** The loop looks so often even when nobody calls. In milliseconds. */
const LOOK_MS = 30_000;

/** Asks consensus nodes for the topic where the mirrors do not confirm each other. */
export class SecondSource {
  readonly #port: SecondSourcePort;
  readonly #wake = new AutoResetEvent();
  /**
   * When the mirrors reached further than is agreed on, by sequence number: for what is shown, and by the monotonic
   * clock.
   */
  #seen: { readonly sequence: number; readonly at: number; readonly since: number }[] = [];
  /** By the monotonic clock. */
  #endWantedAt: number | null = null;
  #agreed = 0;
  #fruitless = 0;
  #failures = 0;
  /** After an answer that did not help, by the monotonic clock. */
  #restsUntil = 0;
  /** After a failure, by the monotonic clock. */
  #failedUntil = 0;
  #failure: string | null = null;
  #lastAnswerAt: number | null = null;
  #end: TopicEnd | null = null;

  constructor(port: SecondSourcePort) {
    this.#port = port;
  }

  get lastAnswerAt(): number | null {
    return this.#lastAnswerAt;
  }

  get failure(): string | null {
    return this.#failure;
  }

  /** Where consensus nodes said last that the topic ends. */
  get end(): TopicEnd | null {
    return this.#end;
  }

  /** Epoch milliseconds since when something waits for a second source; null where nothing does. */
  get waitingSince(): number | null {
    return this.#seen[0]?.at ?? null;
  }

  /** Something was read, agreed on or told. */
  note(): void {
    const { agreement, now } = this.#port;
    const agreed = agreement.agreedBySources().sequence;
    if (agreed > this.#agreed) {
      this.#fruitless = 0;
      this.#restsUntil = 0;
    }
    this.#agreed = agreed;
    const read = agreement.highestRead();
    this.#seen = this.#seen.filter(({ sequence }) => sequence > agreed && sequence <= read);
    if (read > (this.#seen.at(-1)?.sequence ?? agreed)) {
      this.#seen.push({ sequence: read, at: now(), since: performance.now() });
    }
    if (this.#seen.length > MAX_SEEN) this.#seen.splice(1, 1);
    this.#wake.notify();
  }

  /** The end of the topic is to be asked for, at a time of the monotonic clock in milliseconds. */
  wantEnd(at: number): void {
    this.#endWantedAt = at;
    this.#wake.notify();
  }

  /** Until the signal ends. */
  async run(): Promise<void> {
    const { signal } = this.#port;
    while (!signal.aborted) {
      const pause = this.#dueAt() - performance.now();
      if (pause > 0) await this.#wake.wait(Math.min(pause, LOOK_MS), signal);
      else await this.#ask();
    }
  }

  #dueAt(): number {
    const since = this.#seen[0]?.since;
    const waited = since === undefined ? Infinity : since + this.#port.waitMs;
    return Math.max(this.#failedUntil, Math.min(Math.max(waited, this.#restsUntil), this.#endWantedAt ?? Infinity));
  }

  async #ask(): Promise<void> {
    const { agreement, topicInfo, signal, now, random, waitMs, onAnswer } = this.#port;
    const askedAt = performance.now();
    let point: TopicPoint;
    try {
      point = await topicInfo(signal);
    } catch (error) {
      if (signal.aborted) return;
      this.#noteFailure(error);
      this.#failedUntil = performance.now() + backoffDelay(++this.#failures, random());
      return;
    }
    this.#failures = 0;
    this.#failure = null;
    this.#lastAnswerAt = now();
    this.#end = { askedAt, sequence: point.sequence };
    if (this.#endWantedAt !== null && this.#endWantedAt <= askedAt) this.#endWantedAt = null;
    // Before `onAnswer`: where the answer helps, there is no rest.
    const limits = { firstMs: waitMs, mostMs: MAX_PAUSE_MS };
    this.#restsUntil = performance.now() + doubledPause(this.#fruitless++, limits);
    agreement.noteConsensus(point);
    onAnswer();
  }

  #noteFailure(error: unknown): void {
    const failure = error instanceof Error ? error.message : String(error);
    if (failure !== this.#failure) {
      this.#port.log.warn({ err: error }, 'consensus nodes did not say how the topic stands');
    }
    this.#failure = failure;
  }
}

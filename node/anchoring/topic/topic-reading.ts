import type { Logger } from 'pino';
import type { EntityId, NodeId } from '../../../protocol/ids.ts';
import type { TopicMessage } from '../../../protocol/log/decide.ts';
import { backoffDelay } from '../../concurrency/backoff.ts';
import { PAGE_MESSAGES } from '../ledger/mirror-client.ts';
import type { MirrorMessage } from '../ledger/mirror-shapes.ts';
import type { TopicPoint } from '../ledger/topic-point.ts';
import { AutoResetEvent } from '../../concurrency/auto-reset-event.ts';
import { Agreement, CONSENSUS } from './agreement.ts';
import type { MessageSource } from './message-source.ts';
import { type TopicReadingState, stateOf } from './reading-state.ts';
import { SecondSource } from './second-source.ts';
import { SourceReader, type TopicEnd } from './source-reader.ts';
import type { TopicHead } from './topic-links.ts';

export interface TopicReadingOptions {
  readonly topicId: EntityId;
  /** The last message that was processed. The caller keeps it, in the write that processes the message. */
  readonly head: TopicHead;
  /** Mirrors, one a host. */
  readonly sources: readonly MessageSource[];
  /** What consensus nodes say of the topic, under the caller's spend guard; null where they are not to be asked. */
  readonly topicInfo: ((signal: AbortSignal) => Promise<TopicPoint>) | null;
  readonly self: NodeId;
  /** All members of the newest known roster. */
  readonly members: readonly NodeId[];
  /**
   * Takes final messages, in order and at most 100 at once. The next ones come when it resolves; where it rejects, the
   * same come again after a pause.
   */
  readonly onFinal: (messages: readonly TopicMessage[]) => Promise<void>;
  /** What this node tells has changed: to be told to every member, in this order. Must not throw. */
  readonly onAgreed?: (point: TopicPoint) => void;
  /** A mirror shows messages that it had not shown before, and that link. They may never be final. Must not throw. */
  readonly onShown?: (messages: readonly MirrorMessage[]) => void;
  /** Epoch milliseconds, for what is shown: no wait goes by them. */
  readonly now: () => number;
  /** In [0, 1), for the jitter of the back-off. */
  readonly random: () => number;
  readonly log: Logger;
  /** Pause between two readings when nobody waits for a message, in milliseconds. */
  readonly intervalMs?: number;
  /** How long something waits for a second source before consensus nodes are asked, in milliseconds. */
  readonly secondSourceMs?: number;
}

const READ_INTERVAL_MS = 5_000;
const SECOND_SOURCE_MS = 10_000;
/** How long one poke makes the reading fast, in milliseconds. */
const FAST_FOR_MS = 5_000;

/** Somebody waits until the topic was processed to an end of it. */
interface EndWaiter {
  /** Of the monotonic clock: answers to earlier questions say nothing. */
  readonly since: number;
  /** By source that nobody contradicts, where its answers since then ended first. */
  readonly told: Map<string, number>;
  readonly reached: () => void;
}

/**
 * Follows the federation's topic by all of a node's sources at once, and hands out what is final (protocol §3).
 *
 * Crash order: nothing but the position is ever kept, by the caller, with what it made of the messages. What was read
 * and is not final is read again after a restart, and what others told is told again.
 *
 * Ownership: the position is moved by the delivering loop alone, after the caller took the messages.
 */
export class TopicReading implements AsyncDisposable {
  readonly #options: TopicReadingOptions;
  readonly #agreement: Agreement;
  readonly #readers: readonly SourceReader[];
  readonly #second: SecondSource | null;
  readonly #ending = new AbortController();
  readonly #deliverable = new AutoResetEvent();
  readonly #endWaiters = new Set<EndWaiter>();
  #loops: readonly Promise<void>[] | undefined;
  /** Of the monotonic clock. */
  #fastUntil = 0;
  #told: TopicPoint;

  /** Throws `RangeError` where there are fewer than two sources: nothing could ever be agreed on. */
  constructor(options: TopicReadingOptions) {
    const { topicId, head, sources, self, members, topicInfo, now, random, log, onShown = () => undefined } = options;
    if (sources.length + (topicInfo === null ? 0 : 1) < 2 || sources.length === 0) {
      throw new RangeError('a topic is read by two mirrors, or by one and consensus nodes');
    }
    this.#options = options;
    const names = sources.map(({ name }) => name);
    if (new Set(names).size < names.length) throw new RangeError('two sources have one name');
    const agreement = new Agreement({ topicId, head, sources: names, self, members });
    this.#agreement = agreement;
    this.#told = agreement.agreedBySources();
    const { signal } = this.#ending;
    const onAnswer = (): void => this.#noteChange();
    const intervalMs = options.intervalMs ?? READ_INTERVAL_MS;
    const isFast = (): boolean => performance.now() < this.#fastUntil;
    const common = { agreement, now, random, log, signal, onAnswer };
    this.#readers = sources.map((source) => new SourceReader({ ...common, source, intervalMs, isFast, onShown }));
    const waitMs = options.secondSourceMs ?? SECOND_SOURCE_MS;
    this.#second = topicInfo === null ? null : new SecondSource({ ...common, topicInfo, waitMs });
  }

  start(): void {
    const readers = [...this.#readers, ...(this.#second === null ? [] : [this.#second])];
    this.#loops ??= [this.#deliver(), ...readers.map((reader) => reader.run())];
  }

  /** A message is awaited: every mirror is read now, and often for a while. */
  poke(): void {
    this.#fastUntil = performance.now() + FAST_FOR_MS;
    for (const reader of this.#readers) reader.wake();
  }

  /** What the other members are to be told: on every connection, and when `onAgreed` is called. */
  tell(): TopicPoint {
    return this.#agreement.agreedBySources();
  }

  /** The receipt of a message of this node, from consensus nodes. */
  noteReceipt(point: TopicPoint): void {
    this.#agreement.noteConsensus(point);
    this.#noteGrowth(point);
  }

  /** What an authenticated member told. One that is not in the newest known roster is not heard. */
  noteTold(member: NodeId, point: TopicPoint): void {
    this.#agreement.noteTold(member, point);
    if (this.#agreement.told().some((told) => told.member === member)) this.#noteGrowth(point);
  }

  /** Another roster is the newest known. */
  setMembers(members: readonly NodeId[]): void {
    this.#agreement.setMembers(members);
    this.#noteChange();
  }

  /**
   * Resolves once the topic was processed to what was its end at the call or soon after, by two sources' first answers
   * to questions from then on: what is written meanwhile is not waited for. A clock that is set meanwhile changes
   * nothing. Rejects when the signal ends.
   */
  async readToEnd(signal: AbortSignal): Promise<void> {
    const since = performance.now();
    const waitMs = this.#options.secondSourceMs ?? SECOND_SOURCE_MS;
    // Where two mirrors can answer, consensus nodes are asked only when they do not.
    this.#second?.wantEnd(this.#readers.length < 2 ? since : since + waitMs);
    this.poke();
    const reached = Promise.withResolvers<void>();
    const ends = AbortSignal.any([signal, this.#ending.signal]);
    const giveUp = (): void => reached.reject(ends.reason);
    ends.addEventListener('abort', giveUp, { once: true });
    const waiter: EndWaiter = { since, told: new Map(), reached: reached.resolve };
    this.#endWaiters.add(waiter);
    try {
      if (ends.aborted) giveUp();
      this.#noteEnds();
      await reached.promise;
    } finally {
      this.#endWaiters.delete(waiter);
      ends.removeEventListener('abort', giveUp);
    }
  }

  state(): TopicReadingState {
    return stateOf(this.#agreement, this.#readers, this.#second);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort();
    await Promise.all(this.#loops ?? []);
  }

  /** Somebody says that the topic is longer than was read: it is read soon. */
  #noteGrowth({ sequence }: TopicPoint): void {
    if (sequence > this.#agreement.highestRead()) this.poke();
    this.#noteChange();
  }

  #noteChange(): void {
    const agreed = this.#agreement.agreedBySources();
    if (agreed.sequence !== this.#told.sequence || agreed.runningHash !== this.#told.runningHash) {
      this.#told = agreed;
      this.#options.onAgreed?.(agreed);
    }
    this.#second?.note();
    this.#deliverable.notify();
    this.#noteEnds();
  }

  #noteEnds(): void {
    const ends = new Map<string, TopicEnd | null>(this.#readers.map(({ name, end }) => [name, end]));
    ends.set(CONSENSUS, this.#second?.end ?? null);
    for (const { since, told, reached } of this.#endWaiters) {
      for (const [name, end] of ends) {
        if (this.#agreement.contradictionOf(name) !== null) told.delete(name);
        else if (end !== null && end.askedAt >= since) {
          told.set(name, Math.min(end.sequence, told.get(name) ?? Number.POSITIVE_INFINITY));
        }
      }
      const { sequence } = this.#agreement.position;
      if ([...told.values()].filter((end) => end <= sequence).length >= 2) reached();
    }
  }

  async #deliver(): Promise<void> {
    const { signal } = this.#ending;
    const { onFinal, random, log, intervalMs = READ_INTERVAL_MS } = this.#options;
    let failures = 0;
    while (!signal.aborted) {
      const messages = this.#agreement.nextFinal(PAGE_MESSAGES);
      if (messages.length === 0) {
        await this.#deliverable.wait(intervalMs, signal);
        continue;
      }
      try {
        await onFinal(messages);
      } catch (error) {
        log.error(
          { err: error, after: this.#agreement.position.sequence },
          'final messages were not processed; trying again',
        );
        await new AutoResetEvent().wait(backoffDelay(++failures, random()), signal);
        continue;
      }
      failures = 0;
      this.#agreement.advance(messages);
      for (const reader of this.#readers) if (reader.isPaused) reader.wake();
      this.#noteEnds();
    }
  }
}

import { Compile } from 'typebox/compile';
import type { Logger } from 'pino';
import type { Store } from '../store/store.ts';
import { jsonCodec, Table } from '../store/table.ts';
import { takeAnchors, type TopicIdentity } from './anchor-intake.ts';
import type { AnchorRow, StatementAnchorRow } from './anchors.ts';
import { type MirrorClient, PAGE_MESSAGES } from '../ledger/mirror-client.ts';
import { backOff } from '../back-off.ts';
import { INITIAL_HEAD, LinkError, linkMessages, type TopicHead, TopicHeadShape } from '../topic/topic-links.ts';
import { Wake } from '../wake.ts';

export interface TopicReaderOptions extends TopicIdentity {
  readonly store: Store;
  readonly mirror: MirrorClient;
  readonly now: () => number;
  /** In [0, 1), for the jitter of the back-off. */
  readonly random: () => number;
  readonly log: Logger;
  /** Pause between two readings when nobody waits for a message, in milliseconds. */
  readonly intervalMs?: number;
  /** Told of every first occurrence, after it is on the disk. */
  readonly onAnchor: (anchors: readonly AnchorRow[]) => void;
  /** Told of messages that name statements, after they are on the disk. */
  readonly onStatement: (statements: readonly StatementAnchorRow[]) => void;
}

export interface TopicReaderState {
  readonly head: TopicHead;
  /** Why the last reading failed; null where it did not. */
  readonly failure: string | null;
  /** Pages refused since the start because they did not link. */
  readonly refused: number;
  /** Messages since the start that were no anchor of this federation. */
  readonly skipped: number;
}

const READ_INTERVAL_MS = 5_000;
/** Pause between two readings while a message is awaited, and how long one poke makes it so. */
const FAST_INTERVAL_MS = 250;
const FAST_FOR_MS = 5_000;

const compiled = Compile(TopicHeadShape);
/** (network, topic) → how far it has been read. */
export const topicHeadTable = new Table(
  'topic-head',
  jsonCodec((value: unknown): value is TopicHead => compiled.Check(value)),
);

/**
 * Follows the federation's topic by sequence number, believing no mirror beyond what links to what was read before.
 *
 * Crash order: the anchors of a page and the head after it land in one atomic write, then listeners are told. A crash
 * before the write reads the page again; one after it has told nobody, so whoever waits for an anchor looks in the
 * store first.
 *
 * Ownership: `#head` is moved by the reading loop alone, after the write.
 */
export class TopicReader implements AsyncDisposable {
  readonly #options: TopicReaderOptions;
  readonly #wake = new Wake();
  readonly #ending = new AbortController();
  #loop: Promise<void> | undefined;
  #head: TopicHead;
  /** The mirror to ask first: turned on at every empty or failed answer, so that none can withhold messages for good. */
  #turn = 0;
  #fastUntil = 0;
  #reachedEnd = false;
  #failure: string | null = null;
  /** Rounds in a row in which no mirror gave a page that links. */
  #failures = 0;
  #refused = 0;
  #skipped = 0;

  private constructor(options: TopicReaderOptions, head: TopicHead) {
    this.#options = options;
    this.#head = head;
  }

  /** Continues after the last message in the store. */
  static async open(options: TopicReaderOptions): Promise<TopicReader> {
    const head = await topicHeadTable.get(options.store, options.network, options.topicId);
    return new TopicReader(options, head ?? INITIAL_HEAD);
  }

  start(): void {
    this.#loop ??= this.#run();
  }

  /** A message is awaited: read now, and often for a while. */
  poke(): void {
    this.#fastUntil = this.#options.now() + FAST_FOR_MS;
    this.#wake.ring();
  }

  /** Whether the last page ended where the topic did. */
  get reachedEnd(): boolean {
    return this.#reachedEnd;
  }

  state(): TopicReaderState {
    return {
      head: this.#head,
      failure: this.#failure,
      refused: this.#refused,
      skipped: this.#skipped,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort();
    await this.#loop;
  }

  async #run(): Promise<void> {
    const { signal } = this.#ending;
    while (!signal.aborted) {
      const more = await this.#readPage();
      if (more) continue;
      // A poke within the pause brings the next reading forward, but never faster than the fast pace.
      await new Wake().wait(
        this.#failures === 0 ? FAST_INTERVAL_MS : backOff(this.#failures, this.#options.random()),
        signal,
      );
      if (this.#options.now() >= this.#fastUntil) {
        await this.#wake.wait((this.#options.intervalMs ?? READ_INTERVAL_MS) - FAST_INTERVAL_MS, signal);
      }
    }
  }

  /** Reads one page from the first mirror whose page links. Whether there may be more at once. */
  async #readPage(): Promise<boolean> {
    const { mirrors } = this.#options.mirror;
    for (let i = 0; i < mirrors.length && !this.#ending.signal.aborted; i++) {
      const mirror = mirrors[this.#turn % mirrors.length] ?? '';
      try {
        const read = await this.#readFrom(mirror);
        if (read === 0) this.#turn++;
        this.#failure = null;
        this.#failures = 0;
        this.#reachedEnd = read < PAGE_MESSAGES;
        return !this.#reachedEnd;
      } catch (error) {
        this.#turn++;
        if (!this.#ending.signal.aborted) this.#noteFailure(mirror, error);
      }
    }
    this.#failures++;
    return false;
  }

  async #readFrom(mirror: string): Promise<number> {
    const { store, network, topicId, onAnchor, onStatement } = this.#options;
    const { signal } = this.#ending;
    const messages = await this.#options.mirror.messages(mirror, topicId, this.#head.sequence, signal);
    if (messages.length === 0) return 0;
    const { head, linked } = linkMessages(this.#head, topicId, messages);
    const { operations, anchors, statements, skipped } = await takeAnchors(store, this.#options, linked);
    await store.write([...operations, topicHeadTable.put([network, topicId], head)]);
    this.#head = head;
    this.#skipped += skipped;
    if (anchors.length > 0) onAnchor(anchors);
    if (statements.length > 0) onStatement(statements);
    return messages.length;
  }

  #noteFailure(mirror: string, error: unknown): void {
    const failure = error instanceof Error ? error.message : String(error);
    const isNew = failure !== this.#failure;
    this.#failure = failure;
    const fields = { mirror, head: this.#head.sequence, err: error };
    if (error instanceof LinkError) {
      this.#refused++;
      if (isNew) this.#options.log.error(fields, 'a mirror gave messages that do not link; refused');
    } else if (isNew) {
      this.#options.log.warn(fields, 'the topic could not be read');
    }
  }
}

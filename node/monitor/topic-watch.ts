import { decodeUtf8, equalBytes } from '../../protocol/bytes.ts';
import { hashBytes, hashText, type Sha256Hash } from '../../protocol/hash.ts';
import type { EntityId } from '../../protocol/ids.ts';
import { type LedgerMessage, parseLedgerMessage } from '../../protocol/log/message.ts';
import { type MirrorClient, MirrorError, PAGE_MESSAGES } from '../anchoring/mirror-client.ts';
import { MirrorFormatError } from '../anchoring/mirror-shapes.ts';
import { INITIAL_HEAD, LinkError, type LinkedMessage, linkMessages, type TopicHead } from '../anchoring/topic-links.ts';
import { nativeSuite } from '../keys/native-suite.ts';
import type { Alerts } from './alerts.ts';
import type { SeenAnchor } from './state.ts';

export interface TopicWatchOptions {
  readonly mirror: MirrorClient;
  readonly topicId: EntityId;
  /** Hash of the genesis roster. */
  readonly federation: Sha256Hash;
  readonly alerts: Alerts;
  readonly now: () => number;
  readonly signal: AbortSignal;
}

/** A message of this federation, who paid for it, and its place. */
export interface TopicEntry {
  readonly anchor: LedgerMessage;
  readonly payer: EntityId;
  readonly sequence: number;
  readonly seen: Pick<SeenAnchor, 'message' | 'consensus'>;
}

/** Pages of one round at most: between them the nodes are asked. */
const PAGES_A_ROUND = 50;
/** What a mirror may take of one round: the others wait meanwhile. In milliseconds. */
const ROUND_BUDGET_MS = 15_000;

/** What one mirror gave after the head that was held; nothing of it counts yet. */
interface Reading {
  readonly head: TopicHead;
  readonly entries: readonly TopicEntry[];
  readonly atEnd: boolean;
}

/**
 * Follows the federation's topic over all mirrors given: what one says must link to all that was read before, and no
 * other may give the last message another running hash; where one does, neither is believed, and nothing is read on. A
 * mirror alone could make up a whole topic, and one that is ahead of the others is believed until they are there.
 */
export class TopicWatch {
  readonly #options: TopicWatchOptions;
  #head: TopicHead;
  /** The mirror to ask first: another one each round, so that none can withhold messages for good. */
  #turn = 0;
  #atEnd = false;

  constructor(options: TopicWatchOptions, head: TopicHead = INITIAL_HEAD) {
    this.#options = options;
    this.#head = head;
  }

  get head(): TopicHead {
    return this.#head;
  }

  /** Whether a mirror said in the last round that there is nothing after the head. */
  get atEnd(): boolean {
    return this.#atEnd;
  }

  /** Reads what is new. Messages that are no anchors of this federation are passed over. Never rejects. */
  async read(): Promise<readonly TopicEntry[]> {
    const { mirrors } = this.#options.mirror;
    const entries: TopicEntry[] = [];
    this.#atEnd = false;
    this.#turn++;
    for (let i = 0; i < mirrors.length && !this.#options.signal.aborted; i++) {
      const mirror = mirrors[(this.#turn + i) % mirrors.length] ?? '';
      // The other mirrors may be further than the first; each is asked, and each must link.
      const reading = await this.#readFrom(mirror);
      if (reading === null || !(await this.#isAgreed(mirror, reading))) continue;
      this.#head = reading.head;
      for (const entry of reading.entries) entries.push(entry);
      if (reading.atEnd) this.#atEnd = true;
    }
    return entries;
  }

  /** Lets a round pass without reading: there is enough to work on. */
  rest(): void {
    this.#atEnd = false;
  }

  /** What follows the head; null where the mirror failed before it gave anything that does. */
  async #readFrom(mirror: string): Promise<Reading | null> {
    const { mirror: client, topicId, signal } = this.#options;
    const until = performance.now() + ROUND_BUDGET_MS;
    const entries: TopicEntry[] = [];
    let last = this.#head;
    try {
      for (let page = 0; page < PAGES_A_ROUND && performance.now() < until; page++) {
        const messages = await client.messages(mirror, topicId, last.sequence, signal);
        const { head, linked } = linkMessages(last, topicId, messages);
        last = head;
        for (const message of linked) {
          const entry = this.#entryOf(message);
          if (entry !== null) entries.push(entry);
        }
        if (messages.length < PAGE_MESSAGES) return { head, entries, atEnd: true };
      }
    } catch (error) {
      this.#note(mirror, error);
      if (last.sequence === this.#head.sequence) return null;
    }
    return { head: last, entries, atEnd: false };
  }

  /** Whether no other mirror tells otherwise. One that is behind has no such message yet, and says nothing. */
  async #isAgreed(mirror: string, { head: { sequence, runningHash } }: Reading): Promise<boolean> {
    const { mirror: client, topicId, signal, alerts, now } = this.#options;
    let isAgreed = true;
    if (sequence === 0) return isAgreed;
    for (const other of client.mirrors) {
      if (other === mirror) continue;
      try {
        const found = await client.messageAt(other, topicId, sequence, signal);
        const same = found.find((message) => message.sequence === sequence);
        if (same === undefined || equalBytes(same.runningHash, hashBytes(runningHash))) continue;
        alerts.see('mirrors-disagree', other, `message ${sequence} has another running hash than at ${mirror}`, now());
        isAgreed = false;
      } catch (error) {
        this.#note(other, error);
      }
    }
    return isAgreed;
  }

  #entryOf({ message, payer, sequence, consensusTimestamp }: LinkedMessage): TopicEntry | null {
    try {
      const text = decodeUtf8(message);
      const anchor = parseLedgerMessage(text);
      if (anchor.federation !== this.#options.federation) return null;
      const seen = { message: hashText(nativeSuite, text), consensus: consensusTimestamp };
      return { anchor, payer, sequence, seen };
    } catch {
      return null;
    }
  }

  #note(mirror: string, error: unknown): void {
    const { alerts, now, signal } = this.#options;
    if (signal.aborted) return;
    const lies = error instanceof LinkError || error instanceof MirrorFormatError;
    if (!lies && !(error instanceof MirrorError)) throw error;
    alerts.see(lies ? 'mirror-lies' : 'mirror-failing', mirror, error.message, now());
  }
}

import { decodeUtf8, equalBytes } from '../../protocol/bytes.ts';
import { hashBytes, hashText } from '../../protocol/hash.ts';
import type { EntityId } from '../../protocol/ids.ts';
import { type AnchorMessage, parseAnchorMessage } from '../../protocol/ledger/anchor-message.ts';
import { type MirrorClient, MirrorError, PAGE_MESSAGES } from '../anchoring/mirror-client.ts';
import { MirrorFormatError } from '../anchoring/mirror-shapes.ts';
import { INITIAL_HEAD, LinkError, type LinkedMessage, linkMessages, type TopicHead } from '../anchoring/topic-links.ts';
import { nativeSuite } from '../keys/native-suite.ts';
import type { Alerts } from './alerts.ts';
import type { SeenAnchor } from './state.ts';

export interface TopicWatchOptions {
  readonly mirror: MirrorClient;
  readonly topicId: EntityId;
  /** Eight hex digits of the federation's digest. */
  readonly federation: string;
  readonly alerts: Alerts;
  readonly now: () => number;
  readonly signal: AbortSignal;
}

/** An anchor message of this federation and its place. */
export interface TopicEntry {
  readonly anchor: AnchorMessage;
  readonly sequence: number;
  readonly seen: Pick<SeenAnchor, 'message' | 'consensus'>;
}

/** Pages of one round at most: between them the nodes are asked. */
const PAGES_A_ROUND = 50;

/**
 * Follows the federation's topic over all mirrors given: what one says must link to all that was read before, and the
 * others must give the last message the same running hash. A mirror alone could make up a whole topic.
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
      if (await this.#readFrom(mirror, entries)) this.#atEnd = true;
    }
    if (mirrors.length > 1) for (const mirror of mirrors) await this.#compare(mirror);
    return entries;
  }

  /** Whether the mirror's end was reached. */
  async #readFrom(mirror: string, entries: TopicEntry[]): Promise<boolean> {
    const { mirror: client, topicId, signal } = this.#options;
    try {
      for (let page = 0; page < PAGES_A_ROUND; page++) {
        const messages = await client.messages(mirror, topicId, this.#head.sequence, signal);
        const { head, linked } = linkMessages(this.#head, topicId, messages);
        this.#head = head;
        for (const message of linked) {
          const entry = this.#entryOf(message);
          if (entry !== null) entries.push(entry);
        }
        if (messages.length < PAGE_MESSAGES) return true;
      }
    } catch (error) {
      this.#note(mirror, error);
    }
    return false;
  }

  /** A mirror that is behind has no such message yet, and says nothing. */
  async #compare(mirror: string): Promise<void> {
    const { mirror: client, topicId, signal, alerts, now } = this.#options;
    const { sequence, runningHash } = this.#head;
    if (sequence === 0) return;
    try {
      const found = await client.messageAt(mirror, topicId, sequence, signal);
      const same = found.find((message) => message.sequence === sequence);
      if (same === undefined || equalBytes(same.runningHash, hashBytes(runningHash))) return;
      alerts.see('mirrors-disagree', mirror, `message ${sequence} has another running hash there`, now());
    } catch (error) {
      this.#note(mirror, error);
    }
  }

  #entryOf({ message, sequence, consensusTimestamp }: LinkedMessage): TopicEntry | null {
    try {
      const text = decodeUtf8(message);
      const anchor = parseAnchorMessage(text);
      if (anchor.federation !== this.#options.federation) return null;
      return { anchor, sequence, seen: { message: hashText(nativeSuite, text), consensus: consensusTimestamp } };
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

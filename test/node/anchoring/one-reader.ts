import { setTimeout as sleep } from 'node:timers/promises';
import type { NameStanding, Naming } from '../../../node/anchoring/anchor-submission.ts';
import type { AnchoringConfig } from '../../../node/anchoring/ledger/config.ts';
import { MirrorClient } from '../../../node/anchoring/ledger/mirror-client.ts';
import { INITIAL_HEAD, linkMessages, type TopicHead } from '../../../node/anchoring/topic/topic-links.ts';
import { decodeUtf8 } from '../../../protocol/bytes.ts';
import { parseLedgerMessage } from '../../../protocol/log/message.ts';

const READ_MS = 100;

/**
 * A topic with one reader, to whom whatever a mirror shows is final, decides its batch, and counts for its statement.
 */
export class OneReader implements Naming, AsyncDisposable {
  readonly #config: Pick<AnchoringConfig, 'mirrors' | 'topicId'>;
  readonly #texts = new Set<string>();
  readonly #closing = new AbortController();
  readonly #running: Promise<void>;
  #head: TopicHead = INITIAL_HEAD;
  /** Called with the texts that were read. */
  onRead: (texts: readonly string[]) => void = () => undefined;

  constructor(config: Pick<AnchoringConfig, 'mirrors' | 'topicId'>) {
    this.#config = config;
    this.#running = this.#run();
  }

  /** Messages that were read. */
  get sequence(): number {
    return this.#head.sequence;
  }

  /** Nothing that was named so far counts any more. */
  fall(): void {
    this.#texts.clear();
  }

  readonly standingOf = async (text: string): Promise<NameStanding> => {
    if (!this.#texts.has(text)) return 'open';
    return parseLedgerMessage(text).type === 'batch' ? 'decided' : 'counts';
  };

  readonly mayName = (): boolean => true;
  readonly readToEnd = async (): Promise<void> => {};
  readonly readSoon = (): void => {};
  readonly noteReceipt = (): void => {};

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      // A mirror that is down is asked again.
      await this.#read(signal).catch(() => undefined);
      await sleep(READ_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  async #read(signal: AbortSignal): Promise<void> {
    const { mirrors, topicId } = this.#config;
    const client = new MirrorClient(mirrors);
    const messages = await client.messages(client.mirrors[0] ?? '', topicId, this.#head.sequence, signal);
    this.#head = linkMessages(this.#head, topicId, messages);
    const texts = messages.map(({ message }) => decodeUtf8(message));
    for (const text of texts) this.#texts.add(text);
    if (texts.length > 0) this.onRead(texts);
  }
}

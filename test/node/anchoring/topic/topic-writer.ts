import { HederaClient } from '../../../../node/anchoring/ledger/hedera-client.ts';
import type { AnchoringConfig } from '../../../../node/anchoring/ledger/config.ts';
import { Store } from '../../../../node/store/store.ts';
import { ConsensusSource } from '../../../../node/anchoring/topic/consensus-source.ts';
import type { TopicPoint } from '../../../../node/anchoring/ledger/topic-point.ts';
import { until } from '../../../fixtures/until.ts';
import { temporaryDirectory } from '../anchoring-node.ts';

/** Writes messages to a topic of a real ledger and asks its consensus nodes for receipts and for the topic. */
export class TopicWriter implements AsyncDisposable {
  readonly consensus: ConsensusSource;
  readonly #ledger: HederaClient;
  readonly #closing: AsyncDisposableStack;
  /** Questions for the topic so far. */
  asked = 0;

  private constructor(ledger: HederaClient, consensus: ConsensusSource, closing: AsyncDisposableStack) {
    this.#ledger = ledger;
    this.consensus = consensus;
    this.#closing = closing;
  }

  static async open(config: AnchoringConfig): Promise<TopicWriter> {
    await using opening = new AsyncDisposableStack();
    const directory = opening.use(await temporaryDirectory());
    const store = opening.use(await Store.open(directory.path));
    const limits = { transactionsPerHour: 1e6, transactionsPerDay: 1e6, tinybarsPerDay: 1e15 };
    const consensus = opening.use(await ConsensusSource.open(config, store, limits));
    const ledger = opening.use(new HederaClient(config));
    return new TopicWriter(ledger, consensus, opening.move());
  }

  /** Resolves with the receipt of the message. */
  async write(text: string): Promise<TopicPoint> {
    const prepared = await this.#ledger.prepare(text);
    await this.#ledger.submit(prepared);
    let point: TopicPoint | null = null;
    await until(`receipt of ${text}`, async () => {
      const receipt = await this.#ledger.receipt(prepared.transactionId);
      if (receipt.kind === 'landed') ({ point } = receipt);
      return point !== null;
    });
    if (point === null) throw new Error('no receipt');
    return point;
  }

  readonly topicInfo = (signal: AbortSignal): Promise<TopicPoint> => {
    this.asked++;
    return this.consensus.topicInfo(Date.now(), signal);
  };

  [Symbol.asyncDispose](): Promise<void> {
    return this.#closing.disposeAsync();
  }
}

import { MILLISECOND } from './consensus-time.ts';
import type { Nanos } from './consensus-time.ts';
import type { Ledger } from './ledger.ts';
import { messageKey } from './ledger-store.ts';
import type { BlockRow, MessageRow, TopicRow, TransactionRow } from './rows.ts';
import { numberKey } from './table.ts';

/** Both ends are included; a missing end is open. */
export interface Between {
  readonly from?: bigint;
  readonly to?: bigint;
}

export type Order = 'asc' | 'desc';

/** The ledger as a mirror node sees it: published history up to the horizon, read from the disk. */
export class MirrorView {
  readonly #ledger: Ledger;

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
  }

  get ledger(): Ledger {
    return this.#ledger;
  }

  get isDown(): boolean {
    return this.#ledger.faults.now.mirrorDown;
  }

  /** The mirror's clock: it shows all that reached consensus until then, and nothing later. */
  get horizon(): Nanos {
    const lag = BigInt(this.#ledger.faults.now.mirrorLagMs) * MILLISECOND;
    const clock = this.#ledger.consensusClock;
    if (lag === 0n) return clock;
    const seen = this.#ledger.now() - lag;
    return seen < clock ? seen : clock;
  }

  topic(num: bigint): Readonly<TopicRow> | undefined {
    const topic = this.#ledger.state.topics.get(num);
    return topic && topic.created <= this.horizon ? topic : undefined;
  }

  async message(topic: bigint, sequence: bigint): Promise<MessageRow | undefined> {
    return this.#shown(await this.#ledger.store.messages.get(messageKey(topic, sequence)));
  }

  async messageAt(time: Nanos): Promise<MessageRow | undefined> {
    const row = await this.transactionAt(time);
    return row?.message && row.entity !== null ? this.message(row.entity, row.message.sequence) : undefined;
  }

  /** Messages of a topic within a range of sequence numbers and one of consensus times. */
  async *messages(topic: bigint, sequences: Between, times: Between, order: Order): AsyncGenerator<MessageRow> {
    const range = await this.#sequencesWithin(topic, sequences, times);
    if (!range) return;
    const keys = { gte: messageKey(topic, range.from), lte: messageKey(topic, range.to), reverse: order === 'desc' };
    yield* this.#ledger.store.messages.rows(keys);
  }

  async transactionAt(time: Nanos): Promise<TransactionRow | undefined> {
    return this.#shown(await this.#ledger.store.transactions.get(numberKey(time)));
  }

  async transaction(id: string): Promise<TransactionRow | undefined> {
    const at = await this.#ledger.store.timesById.get(id);
    return at === undefined ? undefined : this.transactionAt(at);
  }

  async *transactions(times: Between, order: Order): AsyncGenerator<TransactionRow> {
    const { from, to } = this.#shownTimes(times);
    if (from > to) return;
    yield* this.#ledger.store.transactions.rows({
      gte: numberKey(from),
      lte: numberKey(to),
      reverse: order === 'desc',
    });
  }

  /** Blocks by number. The last one may be empty, see `openBlock`. */
  async *blocks({ from = 0n, to }: Between, order: Order): AsyncGenerator<BlockRow> {
    const open = await this.#openBlock();
    const last = BigInt(open.number);
    const showsOpen = from <= last && (to === undefined || to >= last);
    const upper = to === undefined || to >= last ? last - 1n : to;
    if (showsOpen && order === 'desc') yield open;
    if (from <= upper) {
      const keys = { gte: numberKey(from), lte: numberKey(upper), reverse: order === 'desc' };
      yield* this.#ledger.store.blocks.rows(keys);
    }
    if (showsOpen && order === 'asc') yield open;
  }

  /**
   * The block without transactions that reaches from the last stored one to the mirror's clock. It is never stored: the
   * next round takes its number. Its end is what tells a client that a transaction id can no longer come.
   */
  async #openBlock(): Promise<BlockRow> {
    const last = await this.#ledger.store.blocks.first({ reverse: true });
    const shown = last && last.to > this.horizon ? await this.#lastShownBlock() : last;
    const from = (shown?.to ?? 0n) + 1n;
    const to = this.horizon > from ? this.horizon : from;
    const previous = shown?.hash ?? this.#ledger.state.head.blockHash;
    return { number: (shown?.number ?? -1) + 1, from, to, count: 0, hash: previous, previous };
  }

  async #lastShownBlock(): Promise<BlockRow | undefined> {
    for await (const block of this.#ledger.store.blocks.rows({ reverse: true })) {
      if (block.to <= this.horizon) return block;
    }
    return undefined;
  }

  async #sequencesWithin(
    topic: bigint,
    sequences: Between,
    times: Between,
  ): Promise<{ from: bigint; to: bigint } | null> {
    const { from, to } = this.#shownTimes(times);
    if (from > to) return null;
    const within = { gte: messageKey(topic, from), lte: messageKey(topic, to) };
    const first = await this.#ledger.store.sequencesByTime.first(within);
    const last = await this.#ledger.store.sequencesByTime.first({ ...within, reverse: true });
    if (first === undefined || last === undefined) return null;
    const lower = sequences.from !== undefined && sequences.from > first ? sequences.from : first;
    const upper = sequences.to !== undefined && sequences.to < last ? sequences.to : last;
    return lower <= upper ? { from: lower, to: upper } : null;
  }

  #shownTimes({ from = 0n, to }: Between): { from: Nanos; to: Nanos } {
    const { horizon } = this;
    return { from, to: to !== undefined && to < horizon ? to : horizon };
  }

  #shown<T extends { at: Nanos }>(row: T | undefined): T | undefined {
    return row && row.at <= this.horizon ? row : undefined;
  }
}

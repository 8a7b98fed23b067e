import Type from 'typebox';
import { INITIAL_HEAD, type TopicHead } from '../../../../node/anchoring/topic/topic-links.ts';
import { Store } from '../../../../node/store/store.ts';
import { jsonTable } from '../../../../node/store/table.ts';
import { type TopicPoint, TopicPointShape } from '../../../../node/anchoring/ledger/topic-point.ts';
import { TopicReading, type TopicReadingOptions } from '../../../../node/anchoring/topic/topic-reading.ts';
import type { NodeId } from '../../../../protocol/ids.ts';
import type { TopicMessage } from '../../../../protocol/log/decide.ts';
import { Closed, ConsensusTimestampShape, OrNull } from '../../../../protocol/shapes.ts';
import { silent } from '../anchoring-node.ts';

/** sequence → text of a message that was processed, and how often. */
const processedTable = jsonTable('processed', Type.Object({ text: Type.String(), times: Type.Integer() }));
/** One row: the last message that was processed. */
const headTable = jsonTable(
  'head',
  Closed({ ...TopicPointShape.properties, consensusTimestamp: OrNull(ConsensusTimestampShape) }),
);

export type MemberOptions = Pick<TopicReadingOptions, 'topicId' | 'sources' | 'topicInfo' | 'self' | 'members'> &
  Partial<TopicReadingOptions>;

/**
 * A member's store and its reading of the topic; opened again on the same directory, it is the member after a crash.
 */
export class ReadingMember implements AsyncDisposable {
  readonly id: NodeId;
  readonly reading: TopicReading;
  readonly store: Store;
  /** Refuses so many pages before it takes one. */
  refusals = 0;
  /** Called with every page that was processed. */
  onProcessed: (messages: readonly TopicMessage[]) => void = () => undefined;
  /** Others who are told. */
  others: ReadingMember[] = [];

  private constructor(id: NodeId, store: Store, head: TopicHead, options: MemberOptions) {
    this.id = id;
    this.store = store;
    this.reading = new TopicReading({
      head,
      now: Date.now,
      random: Math.random,
      log: silent,
      intervalMs: 100,
      secondSourceMs: 250,
      onFinal: (messages) => this.#process(messages),
      onAgreed: (point) => this.tell(point),
      ...options,
    });
  }

  static async open(directory: string, options: MemberOptions): Promise<ReadingMember> {
    const store = await Store.open(directory);
    const head = await headTable.get(store, 'head');
    const member = new ReadingMember(options.self, store, head ?? INITIAL_HEAD, options);
    member.reading.start();
    return member;
  }

  tell(point: TopicPoint = this.reading.tell()): void {
    for (const other of this.others) other.reading.noteTold(this.id, point);
  }

  /** Texts of the messages that were processed, in order. Throws where one was processed twice or one is missing. */
  async processed(): Promise<string[]> {
    const texts: string[] = [];
    for await (const [[sequence], { text, times }] of processedTable.under(this.store, [])) {
      if (times !== 1) throw new Error(`message ${sequence} was processed ${times} times`);
      texts.push(text);
      if (Number(sequence) !== texts.length) throw new Error(`message ${texts.length} was not processed`);
    }
    return texts;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.reading[Symbol.asyncDispose]();
    await this.store[Symbol.asyncDispose]();
  }

  async #process(messages: readonly TopicMessage[]): Promise<void> {
    if (this.refusals > 0) {
      this.refusals--;
      throw new Error('not now');
    }
    const last = messages.at(-1);
    if (last === undefined) return;
    const { sequence, runningHash, consensusTimestamp } = last;
    const operations = await Promise.all(
      messages.map(async (message) => {
        const times = (await processedTable.get(this.store, message.sequence))?.times ?? 0;
        return processedTable.put([message.sequence], {
          text: Buffer.from(message.message).toString(),
          times: times + 1,
        });
      }),
    );
    const head = headTable.put(['head'], { sequence, runningHash, consensusTimestamp });
    await this.store.write([...operations, head]);
    this.onProcessed(messages);
  }
}

/** Every member tells every other one. */
export function connect(members: readonly ReadingMember[]): void {
  for (const member of members) member.others = members.filter((other) => other !== member);
  for (const member of members) member.tell();
}

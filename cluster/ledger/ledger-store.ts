import { Level } from 'level';
import { STORE_FORMAT } from './ledger-state.ts';
import type { Draft, LedgerState } from './ledger-state.ts';
import type { AccountRow, BlockRow, HeadRow, MessageRow, TopicRow, TransactionRow } from './rows.ts';
import { LedgerTable, numberKey } from './table.ts';
import type { Database, Put } from './table.ts';

const HEAD_KEY = 'head';

export const messageKey = (topic: bigint, at: bigint): string => `${numberKey(topic)}!${numberKey(at)}`;

/**
 * The ledger on disk, in one LevelDB. Every round is one synced batch, so a crash leaves whole rounds only. Losing the
 * directory loses the network's history; changing it is found at the next start (verify-store.ts).
 */
export class LedgerStore {
  readonly accounts: LedgerTable<AccountRow>;
  readonly topics: LedgerTable<TopicRow>;
  readonly blocks: LedgerTable<BlockRow>;
  /** By consensus time. */
  readonly transactions: LedgerTable<TransactionRow>;
  /** Consensus time by transaction id. */
  readonly timesById: LedgerTable<bigint>;
  /** By topic and sequence number. */
  readonly messages: LedgerTable<MessageRow>;
  /** Sequence number by topic and consensus time. */
  readonly sequencesByTime: LedgerTable<bigint>;
  readonly #heads: LedgerTable<HeadRow>;
  readonly #database: Database;

  private constructor(database: Database) {
    this.#database = database;
    this.accounts = new LedgerTable(database, 'account');
    this.topics = new LedgerTable(database, 'topic');
    this.blocks = new LedgerTable(database, 'block');
    this.transactions = new LedgerTable(database, 'transaction');
    this.timesById = new LedgerTable(database, 'id');
    this.messages = new LedgerTable(database, 'message');
    this.sequencesByTime = new LedgerTable(database, 'time');
    this.#heads = new LedgerTable(database, 'head');
  }

  /** Opens or makes the store. Throws if another process has it open. */
  static async open(directory: string): Promise<LedgerStore> {
    const database: Database = new Level(directory);
    await database.open();
    return new LedgerStore(database);
  }

  /** Fills an empty state with the accounts, topics and head that are stored; false if nothing has been stored yet. */
  async load(state: LedgerState): Promise<boolean> {
    for await (const account of this.accounts.rows()) state.accounts.set(account.num, account);
    for await (const topic of this.topics.rows()) state.topics.set(topic.num, topic);
    const head = await this.#heads.get(HEAD_KEY);
    if (head && head.format !== STORE_FORMAT) throw new Error(`the store has the unknown format ${head.format}`);
    if (head) state.head = head;
    for await (const _key of this.#database.keys({ limit: 1 })) return true;
    return false;
  }

  /** Writes a round and returns when it is on the disk. The block is null for a draft without transactions. */
  async write(draft: Draft, block: BlockRow | null): Promise<void> {
    const puts: Put[] = [this.#heads.put(HEAD_KEY, draft.head)];
    for (const account of draft.accounts.values()) puts.push(this.accounts.put(numberKey(account.num), account));
    for (const topic of draft.topics.values()) puts.push(this.topics.put(numberKey(topic.num), topic));
    for (const transaction of draft.transactions) {
      puts.push(this.transactions.put(numberKey(transaction.at), transaction));
      puts.push(this.timesById.put(transaction.id, transaction.at));
    }
    for (const message of draft.messages) {
      puts.push(this.messages.put(messageKey(message.topic, message.sequence), message));
      puts.push(this.sequencesByTime.put(messageKey(message.topic, message.at), message.sequence));
    }
    if (block) puts.push(this.blocks.put(numberKey(block.number), block));
    await this.#database.batch(puts, { sync: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#database.close();
  }
}

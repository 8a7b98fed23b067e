import { proto } from '@hiero-ledger/proto';
import { INITIAL_RUNNING_HASH } from '../../protocol/ledger/running-hash.ts';
import { blockOf } from './blocks.ts';
import { entitiesHash } from './entities-hash.ts';
import type { LedgerState } from './ledger-state.ts';
import { messageKey } from './ledger-store.ts';
import type { LedgerStore } from './ledger-store.ts';
import type { BlockRow, HeadRow, MessageRow, TopicRow, TransactionRow } from './rows.ts';
import { runningHashAfter } from './submit-message.ts';
import { numberKey } from './table.ts';

/** Transactions whose index entries are read together. */
const WINDOW_ROWS = 500;

/**
 * Checks that the store is what this ledger wrote: the block chain over all transactions, every topic's running-hash
 * chain over its messages, the indexes, the accounts and topics, and the balances that the transfers add up to.
 * Streams: needs memory for one block, one window and one balance an account, whatever the length of the history.
 *
 * @throws Error naming the first row that does not fit
 */
export async function verifyStore(store: LedgerStore, state: LedgerState): Promise<void> {
  const entities = entitiesHash(state);
  require(equal(entities, state.head.entitiesHash), 'an account or a topic is not as the last round left it');
  const balances = new Map([...state.accounts.values()].map(({ num, opening }) => [num, opening]));
  await verifyBlocks(store, state.head, balances);
  for (const { num, balance } of state.accounts.values()) {
    require(balances.get(num) === balance, `the balance of account 0.0.${num} is not what its transfers give`);
  }
  for (const topic of state.topics.values()) await verifyTopic(store, topic);
}

async function verifyBlocks(store: LedgerStore, head: HeadRow, balances: Map<bigint, bigint>): Promise<void> {
  const transactions = store.transactions.rows();
  const seen = { blocks: 0, transactions: 0, blockHash: INITIAL_RUNNING_HASH, lastConsensus: 0n };
  const unindexed: TransactionRow[] = [];
  for await (const block of store.blocks.rows()) {
    const rows = await take(transactions, block.count);
    require(rows.length === block.count, `block ${block.number} lacks transactions`);
    const expected = blockOf({ ...head, ...seen }, rows);
    require(sameBlock(block, expected), `block ${block.number} does not match its transactions`);
    unindexed.push(...rows);
    if (unindexed.length >= WINDOW_ROWS) await verifyTransactions(store, unindexed.splice(0), balances);
    seen.blocks += 1;
    seen.transactions += block.count;
    seen.blockHash = block.hash;
    seen.lastConsensus = block.to;
  }
  await verifyTransactions(store, unindexed, balances);
  require((await transactions.next()).done === true, 'there is a transaction outside all blocks');
  require(seen.blocks === head.blocks && seen.transactions === head.transactions, 'the head does not match the blocks');
  require(equal(seen.blockHash, head.blockHash), 'the head names another last block');
  require(seen.lastConsensus === head.lastConsensus, 'the head names another last consensus time');
}

/** Checks transactions whose rows the blocks have vouched for: indexes, messages, and what they add to balances. */
async function verifyTransactions(
  store: LedgerStore,
  rows: readonly TransactionRow[],
  balances: Map<bigint, bigint>,
): Promise<void> {
  const times = await store.timesById.getMany(rows.map(({ id }) => id));
  const sent = rows.filter(({ message }) => message !== null);
  const messages = await store.messages.getMany(
    sent.map(({ entity, message }) => messageKey(entity ?? 0n, message?.sequence ?? 0n)),
  );
  for (const [i, { id, at, transfers }] of rows.entries()) {
    require(times[i] === at, `transaction ${id} is not in the index`);
    for (const { account, amount } of transfers) balances.set(account, (balances.get(account) ?? 0n) + amount);
  }
  for (const [i, row] of sent.entries()) {
    const message = messages[i];
    require(message !== undefined && carries(row, message), `the message of transaction ${row.id} is not what it sent`);
  }
}

async function verifyTopic(store: LedgerStore, topic: TopicRow): Promise<void> {
  const within = { gte: messageKey(topic.num, 0n), lte: `${numberKey(topic.num)}!9` };
  const times = store.sequencesByTime.rows(within);
  let runningHash = INITIAL_RUNNING_HASH;
  let sequence = 0n;
  for await (const message of store.messages.rows(within)) {
    const name = `message ${message.sequence} of topic 0.0.${topic.num}`;
    sequence += 1n;
    require(message.topic === topic.num && message.sequence === sequence, `${name} is out of place`);
    runningHash = runningHashAfter(runningHash, message);
    require(equal(runningHash, message.runningHash), `the running hash of ${name} does not follow`);
    require((await times.next()).value === sequence, `${name} is not in the index`);
  }
  require(sequence === topic.sequence, `topic 0.0.${topic.num} does not have ${topic.sequence} messages`);
  require(equal(runningHash, topic.runningHash), `topic 0.0.${topic.num} names another running hash`);
}

async function take<T>(rows: AsyncGenerator<T>, count: number): Promise<T[]> {
  const taken: T[] = [];
  while (taken.length < count) {
    const next = await rows.next();
    if (next.done) break;
    taken.push(next.value);
  }
  return taken;
}

/** Whether the stored message has the very bytes of the signed transaction. */
function carries(row: TransactionRow, message: MessageRow): boolean {
  const { bodyBytes } = proto.SignedTransaction.decode(row.signed);
  const sent = proto.TransactionBody.decode(bodyBytes).consensusSubmitMessage?.message ?? new Uint8Array();
  return message.at === row.at && equal(sent, message.message);
}

function sameBlock(a: BlockRow, b: BlockRow): boolean {
  const sameNumbers = a.number === b.number && a.from === b.from && a.to === b.to && a.count === b.count;
  return sameNumbers && equal(a.hash, b.hash) && equal(a.previous, b.previous);
}

const equal = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0;

function require(holds: boolean, problem: string): void {
  if (!holds) throw new Error(`the ledger's store has been changed: ${problem}`);
}

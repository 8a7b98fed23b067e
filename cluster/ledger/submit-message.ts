import { createHash } from 'node:crypto';
import { proto } from '@hiero-ledger/proto';
import { nextRunningHash } from '../../protocol/ledger/running-hash.ts';
import type { Sha384 } from '../../protocol/ledger/running-hash.ts';
import { SECOND } from './consensus-time.ts';
import type { Draft } from './ledger-state.ts';
import { Refused } from './refused.ts';
import type { ChunkRow, MessageRow, TopicRow, TransactionRow } from './rows.ts';
import { transactionIdOf } from './transaction.ts';
import type { SignedTransaction } from './transaction.ts';
import { accountNumber, fromTimestamp, topicNumber } from './wire.ts';

const MAX_MESSAGE_BYTES = 1_024;

const Code = proto.ResponseCodeEnum;

/** Appends a message to a topic. Throws Refused before it changes anything. */
export function submitMessage(
  draft: Draft,
  body: proto.IConsensusSubmitMessageTransactionBody,
  transaction: SignedTransaction,
  row: TransactionRow,
): void {
  const topic = draft.topic(topicNumber(body.topicID) ?? 0n);
  if (!topic || topic.deleted) throw new Refused(Code.INVALID_TOPIC_ID);
  row.entity = topic.num;
  if (topic.submitKey && !transaction.signatures.satisfy(proto.Key.decode(topic.submitKey))) {
    throw new Refused(Code.INVALID_SIGNATURE);
  }
  const message = Uint8Array.from(body.message ?? []);
  if (message.length > MAX_MESSAGE_BYTES) throw new Refused(Code.MESSAGE_SIZE_TOO_LARGE);
  const chunk = body.chunkInfo ? chunkOf(body.chunkInfo, transaction) : null;
  topic.sequence += 1n;
  const appended = { topic: topic.num, sequence: topic.sequence, at: row.at, payer: transaction.payer, message };
  topic.runningHash = runningHashAfter(topic.runningHash, appended);
  draft.messages.push({ ...appended, runningHash: topic.runningHash, chunk });
  row.message = { sequence: topic.sequence, runningHash: topic.runningHash };
}

/** Running hash of a topic after the given message. */
export function runningHashAfter(
  previous: TopicRow['runningHash'],
  { topic, sequence, at, payer, message }: Pick<MessageRow, 'topic' | 'sequence' | 'at' | 'payer' | 'message'>,
): Uint8Array {
  return nextRunningHash(sha384, {
    previous,
    payer: { shard: 0n, realm: 0n, num: payer },
    topic: { shard: 0n, realm: 0n, num: topic },
    seconds: at / SECOND,
    nanos: Number(at % SECOND),
    sequence,
    message,
  });
}

function chunkOf(chunk: proto.IConsensusMessageChunkInfo, { payer, id }: SignedTransaction): ChunkRow {
  const number = chunk.number ?? 0;
  const total = chunk.total ?? 0;
  if (number < 1 || number > total) throw new Refused(Code.INVALID_CHUNK_NUMBER);
  const initial = chunk.initialTransactionID;
  if (accountNumber(initial?.accountID) !== payer) throw new Refused(Code.INVALID_CHUNK_TRANSACTION_ID);
  if (number === 1 && transactionIdOf(initial) !== id) throw new Refused(Code.INVALID_CHUNK_TRANSACTION_ID);
  return { initialPayer: payer, initialValidStart: fromTimestamp(initial?.transactionValidStart), number, total };
}

const sha384: Sha384 = (data) => createHash('sha384').update(data).digest();

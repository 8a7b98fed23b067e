import { proto } from '@hiero-ledger/proto';
import { INITIAL_RUNNING_HASH } from '../../protocol/ledger/running-hash.ts';
import { SECOND } from './consensus-time.ts';
import type { Draft } from './ledger-state.ts';
import { MAX_MEMO_BYTES } from './precheck.ts';
import { Refused } from './refused.ts';
import type { TopicRow, TransactionRow } from './rows.ts';
import { isKeyRemoval, isUsableKey } from './signatures.ts';
import type { Signatures } from './signatures.ts';
import { accountNumber, fromLong, fromTimestamp, topicNumber } from './wire.ts';

const MIN_AUTO_RENEW_SECONDS = 2_592_000n;
const MAX_AUTO_RENEW_SECONDS = 8_000_001n;

const Code = proto.ResponseCodeEnum;

/** Creates a topic. Like the other operations it throws Refused before it changes anything. */
export function createTopic(
  draft: Draft,
  body: proto.IConsensusCreateTopicTransactionBody,
  signatures: Signatures,
  row: TransactionRow,
): void {
  const adminKey = keyBytes(body.adminKey);
  const submitKey = keyBytes(body.submitKey);
  const memo = memoOf(body.memo);
  const autoRenewSeconds = autoRenewOf(body.autoRenewPeriod);
  const autoRenewAccount = body.autoRenewAccount ? payingAccount(draft, body.autoRenewAccount, signatures) : null;
  if (adminKey && !signatures.satisfy(body.adminKey)) throw new Refused(Code.INVALID_SIGNATURE);
  const num = draft.nextEntity();
  draft.topics.set(num, {
    num,
    adminKey,
    submitKey,
    memo,
    created: row.at,
    updated: row.at,
    expires: row.at + autoRenewSeconds * SECOND,
    autoRenewSeconds,
    autoRenewAccount,
    deleted: false,
    sequence: 0n,
    runningHash: INITIAL_RUNNING_HASH,
  });
  row.entity = num;
  row.created = num;
}

/** Changes what the body names. Without the admin's signature a topic can only be given a later expiry. */
export function updateTopic(
  draft: Draft,
  body: proto.IConsensusUpdateTopicTransactionBody,
  signatures: Signatures,
  row: TransactionRow,
): void {
  const topic = existingTopic(draft, body.topicID, row);
  const { adminKey, submitKey, memo, autoRenewPeriod, autoRenewAccount, expirationTime } = body;
  if (adminKey || submitKey || memo || autoRenewPeriod || autoRenewAccount) requireAdmin(topic, signatures);
  const changes: Partial<TopicRow> = { updated: row.at };
  if (memo) changes.memo = memoOf(memo.value);
  if (submitKey) changes.submitKey = keyBytes(submitKey);
  if (autoRenewPeriod) changes.autoRenewSeconds = autoRenewOf(autoRenewPeriod);
  if (autoRenewAccount) {
    const clears = accountNumber(autoRenewAccount) === 0n;
    changes.autoRenewAccount = clears ? null : payingAccount(draft, autoRenewAccount, signatures);
  }
  if (expirationTime) changes.expires = laterExpiry(topic, expirationTime, row);
  if (adminKey) {
    changes.adminKey = keyBytes(adminKey);
    if (changes.adminKey && !signatures.satisfy(adminKey)) throw new Refused(Code.INVALID_SIGNATURE);
  }
  Object.assign(topic, changes);
}

export function deleteTopic(
  draft: Draft,
  body: proto.IConsensusDeleteTopicTransactionBody,
  signatures: Signatures,
  row: TransactionRow,
): void {
  const topic = existingTopic(draft, body.topicID, row);
  requireAdmin(topic, signatures);
  topic.deleted = true;
  topic.updated = row.at;
}

function existingTopic(draft: Draft, id: proto.ITopicID | null | undefined, row: TransactionRow): TopicRow {
  const topic = draft.topic(topicNumber(id) ?? 0n);
  if (!topic || topic.deleted) throw new Refused(Code.INVALID_TOPIC_ID);
  row.entity = topic.num;
  return topic;
}

function requireAdmin(topic: TopicRow, signatures: Signatures): void {
  if (!topic.adminKey) throw new Refused(Code.UNAUTHORIZED);
  if (!signatures.satisfy(proto.Key.decode(topic.adminKey))) throw new Refused(Code.INVALID_SIGNATURE);
}

function keyBytes(key: proto.IKey | null | undefined): Uint8Array | null {
  if (!key || isKeyRemoval(key)) return null;
  if (!isUsableKey(key)) throw new Refused(Code.BAD_ENCODING);
  return proto.Key.encode(key).finish();
}

function memoOf(memo: string | null | undefined): string {
  if (Buffer.byteLength(memo ?? '') > MAX_MEMO_BYTES) throw new Refused(Code.MEMO_TOO_LONG);
  return memo ?? '';
}

function autoRenewOf(period: proto.IDuration | null | undefined): bigint {
  const seconds = fromLong(period?.seconds);
  if (seconds < MIN_AUTO_RENEW_SECONDS || seconds > MAX_AUTO_RENEW_SECONDS) {
    throw new Refused(Code.AUTORENEW_DURATION_NOT_IN_RANGE);
  }
  return seconds;
}

function payingAccount(draft: Draft, id: proto.IAccountID, signatures: Signatures): bigint {
  const account = draft.account(accountNumber(id) ?? 0n);
  if (!account?.key) throw new Refused(Code.INVALID_AUTORENEW_ACCOUNT);
  if (!signatures.satisfy(proto.Key.decode(account.key))) throw new Refused(Code.INVALID_SIGNATURE);
  return account.num;
}

function laterExpiry(topic: TopicRow, stamp: proto.ITimestamp, row: TransactionRow): bigint {
  const expires = fromTimestamp(stamp);
  if (expires > row.at + MAX_AUTO_RENEW_SECONDS * SECOND) throw new Refused(Code.INVALID_EXPIRATION_TIME);
  if (expires < topic.expires) throw new Refused(Code.EXPIRATION_REDUCTION_NOT_ALLOWED);
  return expires;
}

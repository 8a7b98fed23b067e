import { proto } from '@hiero-ledger/proto';
import { SECOND } from './consensus-time.ts';
import type { Nanos } from './consensus-time.ts';
import { feeOf } from './fees.ts';
import type { FeeSchedule } from './fees.ts';
import type { LedgerState } from './ledger-state.ts';
import { Refused } from './refused.ts';
import { parseSignedTransaction } from './transaction.ts';
import type { SignedTransaction } from './transaction.ts';
import { accountNumber, fromLong, topicNumber } from './wire.ts';

const MAX_TRANSACTION_BYTES = 6_144;
export const MAX_VALIDITY: Nanos = 180n * SECOND;
export const MAX_MEMO_BYTES = 100;

const MIN_VALIDITY: Nanos = 15n * SECOND;
/** A node refuses a transaction that may expire on its way to consensus. */
const VALIDITY_RESERVE: Nanos = 10n * SECOND;

const Code = proto.ResponseCodeEnum;

/** Reads the Transaction that a client sent. Throws Refused if it is too large or is none. */
export function readTransaction(bytes: Uint8Array): SignedTransaction {
  if (bytes.length > MAX_TRANSACTION_BYTES) throw new Refused(Code.TRANSACTION_OVERSIZE);
  const signed = signedBytesOf(bytes);
  if (!signed.length) throw new Refused(Code.INVALID_TRANSACTION);
  return parseSignedTransaction(signed);
}

/**
 * What a node checks before it takes a transaction, in the order in which it answers; duplicates are the caller's part.
 *
 * @param node account number of the node that was asked
 * @throws Refused with the precheck code
 */
export function requireWellFormed(transaction: SignedTransaction, node: bigint, now: Nanos): void {
  const { validStart, validFor, body } = transaction;
  if (transaction.node !== node) throw new Refused(Code.INVALID_NODE_ACCOUNT);
  if (validFor < MIN_VALIDITY || validFor > MAX_VALIDITY) throw new Refused(Code.INVALID_TRANSACTION_DURATION);
  if (validStart > now) throw new Refused(Code.INVALID_TRANSACTION_START);
  if (validStart + validFor - VALIDITY_RESERVE < now) throw new Refused(Code.TRANSACTION_EXPIRED);
  if (Buffer.byteLength(body.memo ?? '') > MAX_MEMO_BYTES) throw new Refused(Code.MEMO_TOO_LONG);
}

/** Throws Refused if the operation lacks what it must have whatever the state of the ledger. */
export function requireCompleteOperation({ operation: { kind, body } }: SignedTransaction): void {
  if (kind === 'submitMessage') {
    if (topicNumber(body.topicID) === null) throw new Refused(Code.INVALID_TOPIC_ID);
    if (!body.message?.length) throw new Refused(Code.INVALID_TOPIC_MESSAGE);
  }
  if (kind === 'createTopic' && (body.customFees?.length || body.feeScheduleKey || body.feeExemptKeyList?.length)) {
    throw new Refused(Code.NOT_SUPPORTED);
  }
  if (kind === 'updateTopic' && (body.customFees || body.feeScheduleKey || body.feeExemptKeyList)) {
    throw new Refused(Code.NOT_SUPPORTED);
  }
  if (kind === 'transfer') requireBalancedTransfer(body);
}

/** Throws Refused unless the payer has signed, offered the fee and can pay it. */
export function requirePaying(transaction: SignedTransaction, state: LedgerState, schedule: FeeSchedule): void {
  const payer = state.accounts.get(transaction.payer);
  if (!payer?.key) throw new Refused(Code.PAYER_ACCOUNT_NOT_FOUND);
  if (!transaction.signatures.satisfy(proto.Key.decode(payer.key))) throw new Refused(Code.INVALID_SIGNATURE);
  const { total } = feeOf(schedule, transaction);
  if (fromLong(transaction.body.transactionFee) < total) throw new Refused(Code.INSUFFICIENT_TX_FEE, total);
  if (payer.balance < total) throw new Refused(Code.INSUFFICIENT_PAYER_BALANCE, total);
}

function signedBytesOf(bytes: Uint8Array): Uint8Array {
  try {
    return proto.Transaction.decode(bytes).signedTransactionBytes;
  } catch {
    throw new Refused(Code.INVALID_TRANSACTION);
  }
}

function requireBalancedTransfer({ transfers, tokenTransfers }: proto.ICryptoTransferTransactionBody): void {
  if (tokenTransfers?.length) throw new Refused(Code.NOT_SUPPORTED);
  const amounts = transfers?.accountAmounts ?? [];
  const accounts = amounts.map(({ accountID }) => accountNumber(accountID));
  if (accounts.includes(null)) throw new Refused(Code.INVALID_ACCOUNT_ID);
  if (new Set(accounts).size < accounts.length) throw new Refused(Code.ACCOUNT_REPEATED_IN_ACCOUNT_AMOUNTS);
  const sum = amounts.reduce((total, { amount }) => total + fromLong(amount), 0n);
  if (sum !== 0n) throw new Refused(Code.INVALID_ACCOUNT_AMOUNTS);
}

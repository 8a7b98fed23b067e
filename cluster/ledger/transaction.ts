import { createHash } from 'node:crypto';
import { proto } from '@hiero-ledger/proto';
import { SECOND, timeText } from './consensus-time.ts';
import type { Nanos } from './consensus-time.ts';
import { Refused } from './refused.ts';
import { Signatures } from './signatures.ts';
import { accountNumber, entityText, fromLong, fromTimestamp } from './wire.ts';

/** What a transaction asks for: the operations that this ledger knows. */
export type Operation =
  | { kind: 'createTopic'; body: proto.IConsensusCreateTopicTransactionBody }
  | { kind: 'updateTopic'; body: proto.IConsensusUpdateTopicTransactionBody }
  | { kind: 'deleteTopic'; body: proto.IConsensusDeleteTopicTransactionBody }
  | { kind: 'submitMessage'; body: proto.IConsensusSubmitMessageTransactionBody }
  | { kind: 'transfer'; body: proto.ICryptoTransferTransactionBody };

export type OperationKind = Operation['kind'];

export interface SignedTransaction {
  /** The SignedTransaction message as it came: what is hashed, stored and charged for. */
  readonly bytes: Uint8Array;
  /** SHA-384 of the bytes, 48 bytes. */
  readonly hash: Uint8Array;
  readonly body: proto.ITransactionBody;
  readonly operation: Operation;
  readonly signatures: Signatures;
  /** `0.0.payer@seconds.nanos`, unique on the ledger. */
  readonly id: string;
  readonly payer: bigint;
  readonly node: bigint;
  readonly validStart: Nanos;
  readonly validFor: Nanos;
}

export const TRANSACTION_NAMES: Record<OperationKind, string> = {
  createTopic: 'CONSENSUSCREATETOPIC',
  updateTopic: 'CONSENSUSUPDATETOPIC',
  deleteTopic: 'CONSENSUSDELETETOPIC',
  submitMessage: 'CONSENSUSSUBMITMESSAGE',
  transfer: 'CRYPTOTRANSFER',
};

const Code = proto.ResponseCodeEnum;

/**
 * Reads a serialised SignedTransaction.
 *
 * @throws Refused with the precheck code of a node that cannot read it or does not know its operation
 */
export function parseSignedTransaction(bytes: Uint8Array): SignedTransaction {
  const { bodyBytes, sigMap } = decoded(() => proto.SignedTransaction.decode(bytes), Code.INVALID_TRANSACTION);
  const body = decoded(() => proto.TransactionBody.decode(bodyBytes), Code.INVALID_TRANSACTION_BODY);
  const payer = accountNumber(body.transactionID?.accountID);
  if (payer === null || body.transactionID?.scheduled || body.transactionID?.nonce) {
    throw new Refused(Code.INVALID_TRANSACTION_ID);
  }
  const validStart = fromTimestamp(body.transactionID?.transactionValidStart);
  return {
    bytes,
    hash: createHash('sha384').update(bytes).digest(),
    body,
    operation: operationOf(body),
    signatures: new Signatures(sigMap?.sigPair ?? [], bodyBytes),
    id: transactionId(payer, validStart),
    payer,
    node: accountNumber(body.nodeAccountID) ?? 0n,
    validStart,
    validFor: fromLong(body.transactionValidDuration?.seconds) * SECOND,
  };
}

export function transactionId(payer: bigint, validStart: Nanos): string {
  return `${entityText(payer)}@${timeText(validStart)}`;
}

/** The id in a query or a chunk, or null if it names no payer of this ledger. */
export function transactionIdOf(id: proto.ITransactionID | null | undefined): string | null {
  const payer = accountNumber(id?.accountID);
  return payer === null ? null : transactionId(payer, fromTimestamp(id?.transactionValidStart));
}

function decoded<T>(decode: () => T, code: number): T {
  try {
    return decode();
  } catch {
    throw new Refused(code);
  }
}

function operationOf(body: proto.ITransactionBody): Operation {
  if (body.consensusSubmitMessage) return { kind: 'submitMessage', body: body.consensusSubmitMessage };
  if (body.consensusCreateTopic) return { kind: 'createTopic', body: body.consensusCreateTopic };
  if (body.consensusUpdateTopic) return { kind: 'updateTopic', body: body.consensusUpdateTopic };
  if (body.consensusDeleteTopic) return { kind: 'deleteTopic', body: body.consensusDeleteTopic };
  if (body.cryptoTransfer) return { kind: 'transfer', body: body.cryptoTransfer };
  throw new Refused(Code.NOT_SUPPORTED);
}

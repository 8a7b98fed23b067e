import type { TopicPoint } from './topic-point.ts';

/** `payer@seconds.nanos`, e.g. `0.0.1001@1763717400.000000001`. */
export type TransactionId = string & { readonly __brand: 'TransactionId' };

/** A signed transaction, frozen: sending the same bytes again can never anchor twice. */
export interface PreparedTransaction {
  readonly transactionId: TransactionId;
  /** Base64 of the signed bytes for every node that it may be sent to. */
  readonly bytes: string;
  /** Epoch second after which no node can take it to consensus. */
  readonly validUntil: number;
}

/**
 * `accepted`: a node has it. `ambiguous`: a node may or may not have it. Neither says that it reached consensus.
 */
export type SubmitOutcome = 'accepted' | 'ambiguous';

/**
 * `landed`: where the message stands, by the word of one node. `failed`: it reached consensus and was refused there,
 * with the ledger's status code. `unknown`: no node told.
 */
export type ReceiptOutcome =
  | { readonly kind: 'landed'; readonly point: TopicPoint }
  | { readonly kind: 'failed'; readonly code: string }
  | { readonly kind: 'unknown' };

/**
 * A refusal that sending the same bytes again does not cure, e.g. `INVALID_SIGNATURE`, `INSUFFICIENT_PAYER_BALANCE`.
 */
export class LedgerError extends Error {
  override readonly name = 'LedgerError';
  /** Status code of the ledger, or `UNUSABLE_TRANSACTION` where the bytes could not be read. */
  readonly code: string;

  constructor(code: string, message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }
}

/** Writes to one topic of one ledger. Every call is bounded in time. */
export interface LedgerClient extends AsyncDisposable {
  /** Signs a transaction with the message. Needs no network. */
  prepare(message: string): Promise<PreparedTransaction>;
  /** Sends the bytes. Throws `LedgerError`; every transport failure, and the signal, makes it `ambiguous`. */
  submit(prepared: PreparedTransaction, signal?: AbortSignal): Promise<SubmitOutcome>;
  /** Asks for the receipt, without ever sending anything again. Never throws. */
  receipt(transactionId: TransactionId, signal?: AbortSignal): Promise<ReceiptOutcome>;
}

const TRANSACTION_ID = /^\d{1,19}\.\d{1,19}\.\d{1,19}@\d{1,11}\.\d{9}$/;

export function isTransactionId(text: string): text is TransactionId {
  return TRANSACTION_ID.test(text);
}

/** Throws `LedgerError` unless the text is a transaction id in its written form. */
export function transactionId(text: string): TransactionId {
  if (!isTransactionId(text)) throw new LedgerError('UNUSABLE_TRANSACTION', 'not a transaction id');
  return text;
}

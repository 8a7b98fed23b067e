export type PaymentErrorCode =
  /** The payment does not hold, for `reason`. Nothing was charged. */
  | 'refused'
  /** The work was done, the payment could not be settled, for `reason`. Nothing was charged. */
  | 'settlement-failed'
  /** The authorization is bound to another request. */
  | 'bound-elsewhere'
  /** The payment identifier came with another request. */
  | 'identifier-conflict'
  /** Settled, and the answer is not held any more. */
  | 'answer-ended'
  /** Payments cannot be taken now. Nothing was charged. */
  | 'unavailable'
  /** It is not known whether the payment was settled: the same signature finds out. */
  | 'outcome-unknown'
  /** The payment is settled and its records are not made yet: the same signature is answered once they are. */
  | 'not-published'
  /** The payment is settled, and this node can make no records any more: its operator owes the money. */
  | 'never-published'
  /** The wallet has too many calls under way. */
  | 'wallet-busy'
  /** The node has too many calls under way. */
  | 'node-busy'
  /** Nobody waited for the answer any more, so nothing was charged. */
  | 'abandoned';

/** Why a paid call has no answer. */
export class PaymentError extends Error {
  override readonly name = 'PaymentError';
  readonly code: PaymentErrorCode;
  /** A machine's word, as `invalid_exact_evm_insufficient_balance`. */
  readonly reason: string;

  constructor(code: PaymentErrorCode, reason: string = code, cause?: unknown) {
    super(`${code}: ${reason}`, { cause });
    this.code = code;
    this.reason = reason;
  }
}

import Type, { type Static } from 'typebox';
import { PAYMENT_IDENTIFIER_PATTERN } from '../../protocol/payments/identifier.ts';
import { AtomicAmountShape, TransactionShape, WalletAddressShape } from '../../protocol/payments/settlement.ts';
import { Closed, CountShape, OrdinalShape, OrNull, Sha256Shape, TimestampShape } from '../../protocol/shapes.ts';
import { bytesCodec, jsonTable, Table, textCodec } from '../store/table.ts';

/**
 * `settling`: a settlement was begun, and what came of it is not on record. `unknown`: it has ended without anyone
 * knowing. `unpaid`: it was refused, nothing was charged, and the same signature can still pay. `settled`: the payee
 * has the money, and the records are not made yet. `published`: they are, and the answer is complete. `burnt`: the
 * authorization was spent on something else. Before the first of these a payment is in memory alone: a crash forgets
 * it, and it can be made again. One that is over unpaid is deleted, with all that was prepared for it.
 */
const PAYMENT_STATES = ['settling', 'unknown', 'unpaid', 'settled', 'published', 'burnt'] as const;

const PublicationShape = Closed({ submittedAt: TimestampShape, groupRoot: Sha256Shape });
/** When and where the records of a payment came into the order of records. */
export type Publication = Readonly<Static<typeof PublicationShape>>;

const PaymentRowShape = Closed({
  state: Type.Enum([...PAYMENT_STATES]),
  /**
   * Keyed digest of the one request that the authorization is bound to: method, path, query and body. Of a payment that
   * the release before began, their hash. Null once the answer has ended, so that nobody can guess what was asked.
   */
  request: OrNull(Sha256Shape),
  /** Hash of authorization, signature and identifier: who shows the same again is the payer. */
  proof: Sha256Shape,
  service: Type.String({ minLength: 1, maxLength: 64 }),
  amount: AtomicAmountShape,
  payTo: WalletAddressShape,
  /** Second from which the chain takes the authorization no more. */
  validBefore: CountShape,
  /** When it first came, in epoch milliseconds: it was not settled before. */
  since: CountShape,
  identifier: OrNull(Type.String({ pattern: PAYMENT_IDENTIFIER_PATTERN })),
  /** Settlements begun. */
  attempts: OrdinalShape,
  /** Records that are prepared for it, or were. */
  drafts: CountShape,
  /**
   * When what is held for the payment is let go of, in epoch milliseconds; null while it is neither published nor
   * burnt.
   */
  ends: OrNull(CountShape),
  /** Place in the settlement ledger, and the transaction; null before the payee has the money. */
  settlement: OrNull(Closed({ seq: OrdinalShape, transaction: TransactionShape })),
  /** Null unless published; also where the answer came without a record. */
  publication: OrNull(PublicationShape),
  /** Why the last settlement came to nothing. */
  reason: OrNull(Type.String({ minLength: 1, maxLength: 128 })),
});
export type PaymentRow = Readonly<Static<typeof PaymentRowShape>>;

/** `request`: as in the row of the payment. */
const IdentifierRowShape = Closed({ request: OrNull(Sha256Shape), payment: Type.String() });
export type IdentifierRow = Readonly<Static<typeof IdentifierRowShape>>;

/** (network, asset, payer, nonce) → what became of the authorization. Of a published one never deleted. */
export const paymentTable = jsonTable('payment', PaymentRowShape);
/** (the same) → nothing. A row for each payment that is open. */
export const paymentOpenTable = new Table('payment-open', textCodec);
/** (the same) → nothing. A row for each payment that is settled, and whose records are still to be made. */
export const paymentUnpublishedTable = new Table('payment-unpublished', textCodec);
/** (the same) → the answer as the work left it, sealed. Written before the settlement is begun. */
export const paymentAnswerTable = new Table('payment-answer', bytesCodec);
/** (the same, place among its records) → a record that is prepared for it: see `prepared-rows.ts`. */
export const paymentDraftTable = new Table('payment-draft', bytesCodec);
/** (epoch milliseconds, the same) → nothing: what is held for the payment ends then. */
export const paymentEndTable = new Table('payment-end', textCodec);
/** (payer, identifier) → the payment that was made under it. */
export const paymentIdentifierTable = jsonTable('payment-identifier', IdentifierRowShape);

/** Whether a settlement was begun of which nobody knows what came of it. */
export function isUncertain({ state }: Pick<PaymentRow, 'state'>): boolean {
  return state === 'settling' || state === 'unknown';
}

/** Whether the authorization is neither spent nor over, as far as is known: it may still be settled, or have been. */
export function isOpen(row: Pick<PaymentRow, 'state'>): boolean {
  return isUncertain(row) || row.state === 'unpaid';
}

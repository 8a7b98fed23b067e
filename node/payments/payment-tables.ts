import Type, { type Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { PAYMENT_IDENTIFIER_PATTERN } from '../../protocol/payments/identifier.ts';
import { AtomicAmountShape, TransactionShape, WalletAddressShape } from '../../protocol/payments/settlement.ts';
import { Closed, CountShape, OrdinalShape, OrNull, Sha256Shape } from '../../protocol/shapes.ts';
import { bytesCodec, jsonCodec, Table, textCodec } from '../store/table.ts';

/**
 * `unpaid`: nothing was charged and the same signature can still pay. `settling`: a settlement was begun, and what came of
 * it is not on record. `unknown`: it has ended without anyone knowing. `settled`: the payee has the money. `burnt`: the
 * authorization was spent on something else. Before the first of these a payment is in memory alone: a crash forgets it,
 * and it can be made again.
 */
const PAYMENT_STATES = ['unpaid', 'settling', 'unknown', 'settled', 'burnt'] as const;

const PaymentRowShape = Closed({
  state: Type.Enum([...PAYMENT_STATES]),
  /** Hash of the one request that the authorization is bound to: method, path, query and body. */
  request: Sha256Shape,
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
  attempts: CountShape,
  /** When what is held for the payment is let go of, in epoch milliseconds; null while a settlement is open. */
  ends: OrNull(CountShape),
  /** Place in the settlement ledger, and the transaction; null unless settled. */
  settlement: OrNull(Closed({ seq: OrdinalShape, transaction: TransactionShape })),
  /** Why the last settlement came to nothing. */
  reason: OrNull(Type.String({ minLength: 1, maxLength: 128 })),
});
export type PaymentRow = Readonly<Static<typeof PaymentRowShape>>;

const IdentifierRowShape = Closed({ request: Sha256Shape, payment: Type.String() });
export type IdentifierRow = Readonly<Static<typeof IdentifierRowShape>>;

const compiledPayment = Compile(PaymentRowShape);
const compiledIdentifier = Compile(IdentifierRowShape);

/** (network, asset, payer, nonce) → what became of the authorization. Never deleted. */
export const paymentTable = new Table(
  'payment',
  jsonCodec((value: unknown): value is PaymentRow => compiledPayment.Check(value)),
);
/** (the same) → nothing. A row for each payment whose settlement is open. */
export const paymentOpenTable = new Table('payment-open', textCodec);
/** (the same) → the answer, sealed. Written before the settlement is begun. */
export const paymentAnswerTable = new Table('payment-answer', bytesCodec);
/** (the same) → records made for it and what its answer needs beside them, sealed. In the records' own write. */
export const paymentWorkTable = new Table('payment-work', bytesCodec);
/** (epoch milliseconds, the same) → nothing: what is held for the payment ends then. */
export const paymentEndTable = new Table('payment-end', textCodec);
/** (payer, identifier) → the payment that was made under it. */
export const paymentIdentifierTable = new Table(
  'payment-identifier',
  jsonCodec((value: unknown): value is IdentifierRow => compiledIdentifier.Check(value)),
);
/** (record id) → the payment that it was made for, which is not settled. Such a record is shown to nobody. */
export const unpaidRecordTable = new Table('payment-unpaid', textCodec);

/** Whether what came of a settlement is still to be found out. */
export function isOpen({ state }: Pick<PaymentRow, 'state'>): boolean {
  return state === 'settling' || state === 'unknown';
}

import Type, { type Static } from 'typebox';
import { hashText, type Sha256Hash } from '../hash.ts';
import type { NodeId } from '../ids.ts';
import { canonicalize } from '../json/canonical.ts';
import { Closed, OrdinalShape, Sha256Shape, TimestampShape } from '../shapes.ts';
import { canonicalText } from '../statement/statement.ts';
import type { Suite } from '../suite/suite.ts';
import type { Timestamp } from '../time.ts';
import { PAYMENT_NONCE_PATTERN, type PaymentNonce, WALLET_ADDRESS_PATTERN, type WalletAddress } from './payment.ts';
import { ATOMIC_AMOUNT_PATTERN, type AtomicAmount } from './usdc.ts';

export const WalletAddressShape = Type.Unsafe<WalletAddress>(Type.String({ pattern: WALLET_ADDRESS_PATTERN }));
const PaymentNonceShape = Type.Unsafe<PaymentNonce>(Type.String({ pattern: PAYMENT_NONCE_PATTERN }));
export const AtomicAmountShape = Type.Unsafe<AtomicAmount>(Type.String({ pattern: ATOMIC_AMOUNT_PATTERN }));
export const TRANSACTION_PATTERN = '^0x[0-9a-f]{64}$';
/** Hash of a transaction of the chain. */
export const TransactionShape = Type.String({ pattern: TRANSACTION_PATTERN });

/** One payment that reached the payee: who paid what, for which service, by which transaction. */
const SettlementShape = Closed({
  amount: AtomicAmountShape,
  asset: WalletAddressShape,
  /** When the node had it settled. Never before the entry before it. */
  at: TimestampShape,
  network: Type.String(),
  nonce: PaymentNonceShape,
  payTo: WalletAddressShape,
  payer: WalletAddressShape,
  /** Gapless counter of the node's settlement ledger, from 1. */
  seq: OrdinalShape,
  service: Type.String({ minLength: 1, maxLength: 64 }),
  transaction: TransactionShape,
  v: Type.Literal(1),
});
export type Settlement = Static<typeof SettlementShape>;

/** What was settled, before the ledger gives it its place and time. */
export type SettlementFacts = Omit<Settlement, 'v' | 'seq' | 'at'>;

/** A settlement and the hash of the line before it: what is hashed and stored. */
const SettlementLineShape = Closed({ prev: Sha256Shape, settlement: SettlementShape });
export const settlementLine = canonicalText('settlement line', SettlementLineShape);

/** The end of the ledger: counter, hash and time of its last line. The hash is the ledger's head. */
export interface SettlementEnd {
  readonly seq: number;
  readonly hash: Sha256Hash;
  /** Null before the first settlement. */
  readonly at: Timestamp | null;
}

export interface ExtendedSettlements {
  readonly settlement: Settlement;
  readonly line: string;
  readonly end: SettlementEnd & { readonly at: Timestamp };
}

/** A line that does not belong where it stands. */
export class SettlementChainError extends Error {
  override readonly name = 'SettlementChainError';
}

type Hasher = Pick<Suite, 'sha256Hex'>;

/** Where a node's ledger begins. The first line's `prev` is the hash of its name, so none passes for another's. */
export function beginSettlements(suite: Hasher, node: NodeId): SettlementEnd {
  return { seq: 0, hash: hashText(suite, canonicalize({ node, type: 'settlement-ledger', v: 1 })), at: null };
}

/** The next line and the end after it. A time before that of the line before is lifted to it. */
export function extendSettlements(
  suite: Hasher,
  end: SettlementEnd,
  facts: SettlementFacts,
  at: Timestamp,
): ExtendedSettlements {
  const time = end.at !== null && end.at > at ? end.at : at;
  const settlement: Settlement = { ...facts, at: time, seq: end.seq + 1, v: 1 };
  const line = settlementLine.write({ prev: end.hash, settlement });
  return { settlement, line, end: { seq: settlement.seq, hash: hashText(suite, line), at: time } };
}

/** The end after a line that is said to follow. Throws `SettlementChainError` or `StatementError` where it does not. */
export function followSettlements(suite: Hasher, end: SettlementEnd, line: string): ExtendedSettlements {
  const { prev, settlement } = settlementLine.parse(line);
  const seq = end.seq + 1;
  if (settlement.seq !== seq) throw new SettlementChainError(`line ${seq} says that it is line ${settlement.seq}`);
  if (prev !== end.hash) throw new SettlementChainError(`line ${seq} does not name the hash of the line before`);
  if (end.at !== null && settlement.at < end.at) throw new SettlementChainError(`line ${seq} is before the one before`);
  return { settlement, line, end: { seq, hash: hashText(suite, line), at: settlement.at } };
}

/** The end that a line names before itself: trusted by anyone who starts there. Throws `StatementError`. */
export function settlementsBefore(line: string): SettlementEnd {
  const { prev, settlement } = settlementLine.parse(line);
  return { seq: settlement.seq - 1, hash: prev, at: null };
}

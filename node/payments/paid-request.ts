import type { Sha256Hash } from '../../protocol/hash.ts';
import type { JsonObject } from '../../protocol/json/value.ts';
import type { Payment, WalletAddress } from '../../protocol/payments/payment.ts';
import type { ServiceName } from '../../protocol/payments/prices.ts';
import type { PaymentRequirements } from '../../protocol/payments/terms.ts';
import type { AtomicAmount } from '../../protocol/payments/usdc.ts';
import type { Blank } from './answer-draft.ts';
import type { IsWanted } from './ongoing-calls.ts';
import type { PaidRecording } from './paid-recording.ts';
import type { SignedAuthorization } from './facilitator/contract.ts';

/** A payment that is shown for a service. */
export interface Offer {
  readonly service: ServiceName;
  readonly payment: Payment & Pick<SignedAuthorization, 'listing'>;
  readonly terms: PaymentRequirements;
  /** Hash of authorization, signature and identifier. */
  readonly proof: Sha256Hash;
}

/** A call that shows a payment. */
export interface PaidRequest extends Offer {
  /** Hash of method, path, query and body: an authorization pays for one of these. */
  readonly request: Sha256Hash;
  readonly isWanted: IsWanted;
}

/** What a paid call did. `charged: false`: it came to nothing that is worth its price, and is not charged. */
export interface PaidAnswer {
  readonly body: JsonObject;
  /** Members of the body, null as yet, that are known once the records of the call are made. */
  readonly blanks?: readonly Blank[];
  readonly charged?: false;
}

/**
 * Does what is paid for. What it throws is not charged, and the payment stays as good as it was. The signal is aborted,
 * with `PaymentError` `abandoned`, when nobody waits for the answer any more: work that throws that reason gives up,
 * and whoever came meanwhile with the same call begins again.
 */
export type Work = (recording: PaidRecording, signal: AbortSignal) => Promise<PaidAnswer>;
/** Checks what is asked for, and hands over the work. What it throws is not charged. */
export type Order = () => Promise<Work>;

/** That the payee was paid. */
export interface Receipt {
  readonly payer: WalletAddress;
  readonly amount: AtomicAmount;
  readonly asset: string;
  readonly network: string;
  readonly transaction: string;
}

export interface PaidOutcome {
  readonly body: JsonObject;
  /** Null where the call was not charged. */
  readonly receipt: Receipt | null;
  /** Whether this is the answer of an earlier call. */
  readonly isReplay: boolean;
}

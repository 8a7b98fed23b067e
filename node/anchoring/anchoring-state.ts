import type { SpendState } from './ledger/spend-guard.ts';
import type { BatchRow } from './outbox.ts';

/** How the ledger's consensus nodes answer, as far as anchoring has tried since the start. */
export interface LedgerContact {
  /** Null until the first answer or failure. */
  readonly reachable: boolean | null;
  /** Epoch milliseconds of the last time that a node took a transaction or refused it. */
  readonly lastAnswerAt: number | null;
  /** Status code of the last permanent refusal, until a transaction is taken; null otherwise. */
  readonly refusal: string | null;
}

/** What a health page, a metric or the operator wants to know of anchoring. */
export interface AnchoringState {
  readonly ledger: LedgerContact;
  readonly spend: SpendState;
  /** Batches that are being carried to the ledger now. */
  readonly inFlight: number;
  /** Unconfirmed batches, counted as a range of batch numbers: at most so many. */
  readonly backlog: number;
  /** Seconds since the oldest unconfirmed batch was sealed; 0 where all are confirmed. */
  readonly lagSeconds: number;
  /** The spend guard holds batches back. */
  readonly delayed: boolean;
}

/** Where one sealed batch stands. `delayed` is true while the spend guard holds it back. */
export interface BatchStatus extends Pick<BatchRow, 'batch' | 'status' | 'attempts' | 'history'> {
  readonly delayed: boolean;
}

import type { UncountedLimitsOptions } from '../accounts/limits/address-limits.ts';
import type { LeavingOptions } from '../federation/leaving.ts';
import type { RescueOptions } from '../log/rescue.ts';
import type { PaymentMeans } from '../payments/payment-services.ts';
import type { CommitGate } from '../store/operation.ts';

/** What a test may put in the place of the real thing. */
export interface Overrides extends Pick<UncountedLimitsOptions, 'uncountedPerSecond'> {
  readonly now?: () => number;
  /** The clock that dates records, where it is another. */
  readonly recordClock?: () => number;
  readonly random?: () => number;
  readonly payments?: PaymentMeans;
  /** Stands between the store and its disk. */
  readonly gate?: CommitGate;
  /** Whether batches are sealed however far the ledger is behind. */
  readonly sealsAhead?: boolean;
  /** Whether a start signs without having read the ledger or asked anybody: for a ledger that is down for good. */
  readonly startsUnread?: boolean;
  /** The clock that a start waits by, in milliseconds. */
  readonly monotonic?: () => number;
  /** When batches of other nodes are named. */
  readonly rescue?: Partial<Pick<RescueOptions, 'afterMs' | 'mayRescue'>>;
  /** How long former members are let in. */
  readonly leaving?: Pick<LeavingOptions, 'leaveMs'>;
}

import type { GivenRosters } from '../../protocol/keys/roster-file.ts';
import type { Misdeed } from '../../protocol/proof/misdeed.ts';
import type { Alert, ConditionCode, NoticeCode } from './alerts.ts';
import type { Patience } from './conditions.ts';

export type MonitorEvent =
  | {
      readonly kind: 'alert' | 'cleared';
      readonly code: ConditionCode;
      readonly subject: string;
      readonly detail: string;
    }
  | { readonly kind: 'notice'; readonly code: NoticeCode; readonly subject: string; readonly detail: string }
  | {
      readonly kind: 'proof';
      readonly code: Misdeed;
      readonly subject: string;
      readonly detail: string;
      readonly file: string;
    };

export interface MonitorOptions {
  /**
   * The genesis is the pin: everything is judged by it and by what the ledger says. Later ones save asking for them.
   */
  readonly rosters: GivenRosters;
  /** Addresses of the nodes. Default: those that the roster in force names. */
  readonly nodes?: readonly string[];
  /** Addresses of mirrors of the ledger; each counts as a source of its own. */
  readonly mirrors: readonly string[];
  /** Folder of the monitor's store. Null keeps nothing: everything is read again at the next start. */
  readonly stateDirectory: string | null;
  /** Where proofs are written. */
  readonly proofDirectory: string;
  readonly now: () => number;
  /** In [0, 1): what nodes are asked for besides what is new. Default: `Math.random`. */
  readonly random?: () => number;
  readonly onEvent: (event: MonitorEvent) => void;
  readonly patience?: Partial<Patience>;
  /** Rounds in a row in which a node must fail before that is told. Default 3. */
  readonly failingPolls?: number;
}

/** What a round came to. */
export interface PollResult {
  /** Whether ledger and chains were read to their ends. */
  readonly complete: boolean;
  readonly alerts: readonly Alert[];
  /** Proofs that were written in this round. */
  readonly newProofs: number;
}

import type { Problem } from './problem.ts';
import type { PayloadState } from './payload.ts';
import type { Quorum } from './witnesses.ts';

/** `unjudged`: there is nobody to judge it by, since rosters or pin do not join. */
export type Judged = 'holds' | 'fails' | 'unjudged';

/**
 * `mismatch`: it names another envelope, cannot have been made, or stands without a batch. That it was made is not for
 * it to say: checkpoints do.
 */
export type DecisionState = 'absent' | 'fits' | 'mismatch' | 'misdated' | 'unjudged';

/** What is true of one proof (protocol §8). Anyone who brings more facts judges by the same function. */
export interface Facts {
  readonly signed: Judged;
  /** Null where there is no batch yet. */
  readonly sealed: Judged | null;
  readonly decision: DecisionState;
  /** Checkpoints of enough members cover the decision, whose rosters all have their majorities. */
  readonly onLedger: boolean;
  /** As many of these vouch for the batch. */
  readonly witnessed: boolean;
  /** `stale`: enough would cover the decision and vouch, were no key revoked. */
  readonly checkpoints: 'enough' | 'stale' | 'too-few';
  /** The verifier knows better. */
  readonly contradicted: boolean;
  readonly payload: PayloadState;
  /** `unproven`: one of them has no majority here. */
  readonly rosters: 'in-force' | 'unproven' | 'do-not-join';
  readonly pin: 'joins' | 'none' | 'does-not-join';
}

/** The facts of one proof, what they rest on, and what speaks against it. */
export interface JudgedProof {
  readonly facts: Facts;
  /** Members that make the decision true, and the roster that they are counted within; null where it is not. */
  readonly quorum: Quorum | null;
  /** The ledger's time is more than 24 hours after `sealedAt`. */
  readonly isLate: boolean;
  /**
   * Place of its decision in the log, where checkpoints of enough members show that it stands there, or the verifier's
   * own log has it so; else null.
   */
  readonly index: number | null;
  readonly problems: readonly Problem[];
}

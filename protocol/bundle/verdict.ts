import type { NodeId, RecordId } from '../ids.ts';
import type { Sha256Hash } from '../hash.ts';
import type { Timestamp } from '../time.ts';

/** The five checks, in the order in which they are made. */
export const CHECKS = ['leafRederived', 'payloadHashMatch', 'proofWalk', 'bundleBinding', 'sigValid'] as const;
export type Check = (typeof CHECKS)[number];
export type Checks = Readonly<Record<Check, boolean>>;

export type FindingCode =
  | 'record-malformed'
  | 'payload-mismatch'
  | 'disclosure-malformed'
  | 'statement-malformed'
  | 'path-to-group'
  | 'path-to-batch'
  | 'node-mismatch'
  | 'range-mismatch'
  | 'anchor-mismatch'
  | 'anchor-malformed'
  | 'running-hash-mismatch'
  | 'ledger-mismatch'
  | 'cosignature-mismatch'
  | 'cosignature-doubled'
  | 'witness-unknown'
  | 'roster-invalid'
  | 'roster-unknown'
  | 'federation-mismatch'
  | 'key-unknown'
  | 'key-not-valid'
  | 'key-revoked'
  | 'certificate-invalid'
  | 'revocation-invalid'
  | 'signature-invalid';

/** One thing that did not hold, and the check that it fails. */
export interface Finding {
  readonly check: Check;
  readonly code: FindingCode;
  readonly detail: string;
}

export type PayloadState = 'available' | 'erased' | 'withheld' | 'unreachable';
export type AnchoringStatus = 'pending' | 'buffered' | 'anchored' | 'confirmed';

export interface Verdict {
  /** All that can be checked holds and the batch is on the ledger. */
  readonly verified: boolean;
  /** A quorum of members other than the origin cosigned the batch. */
  readonly witnessed: boolean;
  readonly checks: Checks;
  readonly payloadState: PayloadState;
  readonly status: AnchoringStatus;
  readonly problems: readonly Finding[];
  readonly record: {
    readonly id: RecordId;
    readonly kind: string;
    readonly node: NodeId;
    readonly submittedAt: Timestamp;
  } | null;
  /** Hash of the genesis roster that the bundle carries; null where its rosters do not hold. */
  readonly federation: Sha256Hash | null;
  /** Whether that genesis roster is the one the verifier pinned. */
  readonly pinned: boolean;
}

import type { AgentVerdict } from '../evidence/agent.ts';
import type { Evaluation } from '../evidence/rules.ts';
import type { Sha256Hash } from '../hash.ts';
import type { NodeId, RecordId } from '../ids.ts';
import type { RecordKind } from '../statement/vocabulary.ts';
import type { Timestamp } from '../time.ts';

/** The five checks, in the order in which they are made. */
export const CHECKS = ['leafRederived', 'payloadHashMatch', 'proofWalk', 'bundleBinding', 'sigValid'] as const;
export type Check = (typeof CHECKS)[number];
export type Checks = Readonly<Record<Check, boolean>>;

export const FINDING_CODES = [
  'record-malformed',
  'payload-mismatch',
  'disclosure-malformed',
  'statement-malformed',
  'path-to-group',
  'path-to-batch',
  'node-mismatch',
  'range-mismatch',
  'anchor-mismatch',
  'anchor-malformed',
  'running-hash-mismatch',
  'ledger-mismatch',
  'cosignature-mismatch',
  'cosignature-doubled',
  'witness-unknown',
  'roster-invalid',
  'federation-mismatch',
  'key-unknown',
  'key-not-valid',
  'key-revoked',
  'certificate-invalid',
  'revocation-invalid',
  'signature-invalid',
] as const;
export type FindingCode = (typeof FINDING_CODES)[number];

/** One thing that did not hold, and the check that it fails. */
export interface Finding {
  readonly check: Check;
  readonly code: FindingCode;
  readonly detail: string;
}

export const PAYLOAD_STATES = ['available', 'erased', 'withheld', 'unreachable'] as const;
export type PayloadState = (typeof PAYLOAD_STATES)[number];
export const ANCHORING_STATUSES = ['pending', 'buffered', 'anchored', 'confirmed'] as const;
export type AnchoringStatus = (typeof ANCHORING_STATUSES)[number];

/** What became of a linked record. One that does not hold counts for nothing, and changes nothing for the bundle's own. */
export interface LinkedVerdict {
  /** Null where the record cannot be read. */
  readonly id: RecordId | null;
  readonly kind: RecordKind | null;
  readonly holds: boolean;
  readonly problems: readonly Finding[];
}

/** The five checks on a record, and the evidence that it shows with the linked records that hold. */
export interface Verdict extends Evaluation {
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
    readonly kind: RecordKind;
    readonly node: NodeId;
    readonly submittedAt: Timestamp;
  } | null;
  /** Hash of the genesis roster that the bundle carries; null where its rosters do not hold. */
  readonly federation: Sha256Hash | null;
  /** Whether that genesis roster is the one the verifier pinned. */
  readonly pinned: boolean;
  /** In the order of the bundle. */
  readonly linked: readonly LinkedVerdict[];
  /** The agent that signed beside the node; null where none claims to have, or where the record does not hold. */
  readonly agent: AgentVerdict | null;
}

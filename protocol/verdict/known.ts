import type { Sha256Hash } from '../hash.ts';
import type { NodeId } from '../ids.ts';
import type { Checkpoint } from '../log/checkpoint.ts';
import type { Base64url } from '../shapes.ts';
import type { Timestamp } from '../time.ts';
import type { RevocationsFile, RosterFile } from './bundle.ts';

/** A checkpoint that a node counted: its signature held, and the node's own tree of that size had that root. */
export interface CountedCheckpoint {
  readonly checkpoint: Checkpoint;
  /** The identity key of the member that certified the checkpoint's key. */
  readonly identityKey: Base64url;
}

/**
 * What a node knows by its own log. It is taken as true, and has to answer only for what it is asked about: undefined
 * is not known, and contradicts nothing.
 */
export interface LogView {
  /** Root of the node's tree of that size. */
  readonly rootAt: (size: number) => Sha256Hash | undefined;
  /** Text of the decision at that place. */
  readonly decisionAt: (index: number) => string | undefined;
  /** Text of the decision that names this batch. */
  readonly decidedBatch: (node: NodeId, batch: number) => string | undefined;
  /** From the genesis on; of each later one the text of its decision. */
  readonly rosters: readonly { readonly text: string; readonly decision: string | null }[];
  /** Revocations in force, with the texts of their decisions. */
  readonly revocations: readonly { readonly statement: string; readonly decision: string }[];
  readonly checkpoints: readonly CountedCheckpoint[];
}

/** What a verifier knows beside a bundle. Anyone who knows more always passes it in. */
export interface Known {
  /** Hash of a roster that the verifier trusts. Without a pin a bundle is only consistent with itself. */
  readonly pin?: Sha256Hash;
  /** Rosters taken as known; the last is the pin where no other is given. */
  readonly rosters?: RosterFile;
  /** Decided revocations that the bundle may not carry, with what proves them. */
  readonly revocations?: RevocationsFile;
  /** A node's own log. Its genesis is the pin where no other is given. */
  readonly log?: LogView;
  /**
   * Why no payload is disclosed, where the verifier knows; `damaged` is one that is stored and is not what was stored.
   */
  readonly payload?: 'damaged' | 'erased' | 'unreachable';
  /** Whether the ledger took a transaction that names the record's batch. */
  readonly anchored?: boolean;
  /** When the evidence is evaluated, for the verdict to say so. */
  readonly at?: Timestamp;
}

/** Without a pin, of whatever sort, a bundle is only consistent with itself. */
export function isPinned({ pin, rosters, log }: Known): boolean {
  return pin !== undefined || rosters !== undefined || log !== undefined;
}

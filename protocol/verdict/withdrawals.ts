import type { Sha256Hash } from '../hash.ts';
import type { NodeId } from '../ids.ts';
import type { Checkpoint } from '../log/checkpoint.ts';

/** A revocation that is in force, as far as a verdict needs it. */
export interface DecidedRevocation {
  readonly node: NodeId;
  readonly keyId: Sha256Hash;
  /** Place of its decision in the log. */
  readonly index: number;
  /**
   * Since when the key may have been somebody else's, in epoch milliseconds, no earlier than the revocation may reach;
   * null where it was only rotated.
   */
  readonly compromisedSince: number | null;
}

/**
 * What the decided revocations of a verdict take back, all at once (protocol §5). One concerns that key of that node
 * alone.
 */
export class Withdrawals {
  readonly #byKey: ReadonlyMap<string, readonly DecidedRevocation[]>;

  constructor(decided: readonly DecidedRevocation[]) {
    this.#byKey = Map.groupBy(decided, ({ node, keyId }) => nameOf(node, keyId));
  }

  /**
   * Whether a checkpoint counts: by a compromised key never, by a rotated one where it does not reach the revocation.
   */
  counts = ({ node, keyId, size }: Checkpoint): boolean => {
    return this.#of(node, keyId).every(({ compromisedSince, index }) => compromisedSince === null && size <= index);
  };

  /** Whether groups and envelopes by this key stand that were decided at that time; null for those that were not. */
  stands(node: NodeId, keyId: Sha256Hash, decidedAt: number | null): boolean {
    return this.#of(node, keyId).every(
      ({ compromisedSince }) => compromisedSince === null || (decidedAt !== null && decidedAt < compromisedSince),
    );
  }

  /** Whether a revocation of the key was in force before that place of the log: its name decided nothing there. */
  isInForceAt(node: NodeId, keyId: Sha256Hash, index: number): boolean {
    return this.#of(node, keyId).some((revocation) => revocation.index < index);
  }

  /** Whether a revocation of the key is in force, whatever its reason. */
  isRevoked(node: NodeId, keyId: Sha256Hash): boolean {
    return this.#of(node, keyId).length > 0;
  }

  /** Whether somebody else may have held the key, at whatever time. */
  isCompromised(node: NodeId, keyId: Sha256Hash): boolean {
    return this.#of(node, keyId).some(({ compromisedSince }) => compromisedSince !== null);
  }

  #of(node: NodeId, keyId: Sha256Hash): readonly DecidedRevocation[] {
    return this.#byKey.get(nameOf(node, keyId)) ?? [];
  }
}

function nameOf(node: NodeId, keyId: Sha256Hash): string {
  return `${node} ${keyId}`;
}

import type { Sha256Hash } from '../hash.ts';
import type { NodeId } from '../ids.ts';
import { type Checkpoint, checkpointStatement, type SignedCheckpoint } from '../log/checkpoint.ts';
import type { Member, Roster } from '../log/roster.ts';
import type { Base64url } from '../shapes.ts';
import { type SignedStatement, StatementError } from '../statement/statement.ts';
import type { Certificates } from './certificates.ts';
import type { CountedCheckpoint } from './known.ts';
import type { PlacedDecision } from './placed-decision.ts';
import type { SignatureChecks } from './signature-checks.ts';

interface Entry {
  readonly checkpoint: Checkpoint;
  /** Null where the verifier counted it before, by a key that `certifiedBy` certified. */
  readonly signed: SignedStatement | null;
  readonly certifiedBy: Base64url | null;
}

/** What is asked of the members of one roster. */
export interface Question {
  readonly decision: PlacedDecision;
  readonly roster: Roster;
  /** How many members settle it. */
  readonly needed: number;
  /** The member that does not count, for it speaks of its own; null where all do. */
  readonly except: NodeId | null;
  /** Which checkpoints count. */
  readonly accepts: (checkpoint: Checkpoint) => boolean;
}

/**
 * The checkpoints at hand. What is not canonical, or of another federation, is passed over as it is read; the signature of
 * another is checked only where it may settle what is asked.
 */
export class Checkpoints {
  readonly #signatures: SignatureChecks;
  readonly #certificates: Certificates;
  readonly #byNode = new Map<NodeId, Entry[]>();

  constructor(signatures: SignatureChecks, certificates: Certificates) {
    this.#signatures = signatures;
    this.#certificates = certificates;
  }

  add(federation: Sha256Hash, { text, signature }: SignedCheckpoint): void {
    const checkpoint = readCheckpoint(text);
    if (checkpoint?.federation !== federation) return;
    this.#keep({ checkpoint, signed: { statement: text, signature }, certifiedBy: null });
  }

  addCounted(federation: Sha256Hash, { checkpoint, identityKey }: CountedCheckpoint): void {
    if (checkpoint.federation === federation) {
      this.#keep({ checkpoint, signed: null, certifiedBy: identityKey });
    }
  }

  /** Ids of the keys that any of them is signed by, with their nodes. */
  *keys(): Generator<{ readonly node: NodeId; readonly keyId: Sha256Hash }> {
    for (const entries of this.#byNode.values()) for (const { checkpoint } of entries) yield checkpoint;
  }

  /** Whether enough members could settle it, were all signatures good. Costs hashes alone. */
  couldSettle(question: Question): boolean {
    return this.#candidates(question).length >= question.needed;
  }

  /**
   * Members of the roster, each once, whose checkpoint covers the decision and counts: no more than are needed, and none
   * where there are too few. A checkpoint counts by a key that the member's identity key in this very roster certifies.
   */
  settledBy(question: Question): readonly NodeId[] {
    const candidates = this.#candidates(question);
    const settled: NodeId[] = [];
    for (const [tried, { member, entries }] of candidates.entries()) {
      if (settled.length + (candidates.length - tried) < question.needed) return [];
      if (entries.some((entry) => this.#isSignedBy(member, entry))) settled.push(member.node);
      if (settled.length >= question.needed) return settled;
    }
    return [];
  }

  #candidates({ decision, roster, except, accepts }: Question) {
    return roster.members.flatMap((member) => {
      if (member.node === except) return [];
      const entries = (this.#byNode.get(member.node) ?? []).filter(
        ({ checkpoint }) => accepts(checkpoint) && decision.isIn(checkpoint),
      );
      return entries.length === 0 ? [] : [{ member, entries }];
    });
  }

  #isSignedBy({ node, identityKey }: Member, { checkpoint, signed, certifiedBy }: Entry): boolean {
    if (signed === null) return certifiedBy === identityKey;
    const publicKey = this.#certificates.publicKey(node, checkpoint.keyId, identityKey);
    return publicKey !== null && this.#signatures.holdsIfCounted(checkpointStatement, signed, publicKey);
  }

  #keep(entry: Entry): void {
    const { node } = entry.checkpoint;
    const known = this.#byNode.get(node);
    if (known === undefined) this.#byNode.set(node, [entry]);
    else known.push(entry);
  }
}

function readCheckpoint(text: string): Checkpoint | null {
  try {
    return checkpointStatement.parse(text);
  } catch (error) {
    if (error instanceof StatementError) return null;
    throw error;
  }
}

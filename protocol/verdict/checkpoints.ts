import type { Sha256Hash } from '../hash.ts';
import type { NodeId } from '../ids.ts';
import { type Checkpoint, checkpointStatement, type SignedCheckpoint } from '../log/checkpoint.ts';
import type { Member, Roster } from '../log/roster.ts';
import type { Base64url } from '../shapes.ts';
import { type SignedStatement, StatementError } from '../statement/statement.ts';
import type { Certificates } from './certificates.ts';
import type { CountedCheckpoint, LogView } from './known.ts';
import type { PlacedDecision } from './placed-decision.ts';
import type { SignatureChecks } from './signature-checks.ts';

interface Entry {
  readonly checkpoint: Checkpoint;
  /** Null where the verifier counted it before, by a key that `certifiedBy` certified. */
  readonly signed: SignedStatement | null;
  readonly certifiedBy: Base64url | null;
  /** Undefined until it is checked. A key id has one key, so it is the same whoever certified that. */
  holds: boolean | undefined;
}

/** What is asked of the members of one roster. */
export interface Question {
  readonly roster: Roster;
  /** How many members settle it. */
  readonly needed: number;
  /** The member that does not count, for it speaks of its own; null where all do. */
  readonly except: NodeId | null;
}

/** The members that say a thing, as far as their signatures hold. */
export interface Answers {
  /** Whether enough members could settle it, were all signatures good. Costs no signature. */
  couldSettle(question: Question): boolean;
  /**
   * Members of the roster, each once, that say it: no more than are needed, and none where there are too few. A
   * checkpoint counts by a key that the member's identity key in this very roster certifies.
   */
  settledBy(question: Question): readonly NodeId[];
}

/**
 * The checkpoints at hand. What is not canonical, or of another federation, is passed over as it is read; the signature
 * of another is checked only where it may settle what is asked.
 */
export class Checkpoints {
  readonly #signatures: SignatureChecks;
  readonly #certificates: Certificates;
  readonly #log: LogView | undefined;
  readonly #entries: Entry[] = [];
  readonly #seen = new Set<string>();

  /** `log`: what the verifier knows by its own. */
  constructor(signatures: SignatureChecks, certificates: Certificates, log: LogView | undefined) {
    this.#signatures = signatures;
    this.#certificates = certificates;
    this.#log = log;
  }

  add(federation: Sha256Hash, { text, signature }: SignedCheckpoint): void {
    const name = `${signature} ${text}`;
    const checkpoint = this.#seen.has(name) ? null : readCheckpoint(text);
    this.#seen.add(name);
    if (checkpoint?.federation !== federation) return;
    this.#entries.push({
      checkpoint,
      signed: { statement: text, signature },
      certifiedBy: null,
      holds: undefined,
    });
  }

  addCounted(federation: Sha256Hash, { checkpoint, identityKey }: CountedCheckpoint): void {
    if (checkpoint.federation !== federation) return;
    this.#entries.push({ checkpoint, signed: null, certifiedBy: identityKey, holds: true });
  }

  /** Ids of the keys that any of them is signed by, with their nodes. */
  keys(): readonly { readonly node: NodeId; readonly keyId: Sha256Hash }[] {
    return this.#entries.map(({ checkpoint }) => checkpoint);
  }

  /** Who covers a decision by a checkpoint that is accepted. Costs hashes alone. */
  covering(decision: PlacedDecision, accepts: (checkpoint: Checkpoint) => boolean): Answers {
    return this.saying((checkpoint) => accepts(checkpoint) && decision.isIn(checkpoint, this.#log));
  }

  /** Who has a checkpoint that is accepted. */
  saying(accepts: (checkpoint: Checkpoint) => boolean): Answers {
    const byNode = Map.groupBy(
      this.#entries.filter(({ checkpoint }) => accepts(checkpoint)),
      ({ checkpoint }) => checkpoint.node,
    );
    return {
      couldSettle: ({ roster, needed, except }) => {
        return roster.members.filter(({ node }) => node !== except && byNode.has(node)).length >= needed;
      },
      settledBy: (question) => this.#settledBy(byNode, question),
    };
  }

  #settledBy(byNode: ReadonlyMap<NodeId, readonly Entry[]>, { roster, needed, except }: Question): readonly NodeId[] {
    const candidates = roster.members.filter(({ node }) => node !== except && byNode.has(node));
    const settled: NodeId[] = [];
    for (const [tried, member] of candidates.entries()) {
      if (settled.length + (candidates.length - tried) < needed || this.#signatures.isExhausted) return [];
      const entries = byNode.get(member.node) ?? [];
      if (entries.some((entry) => this.#isSignedBy(member, entry))) settled.push(member.node);
      if (settled.length >= needed) return settled;
    }
    return [];
  }

  #isSignedBy({ node, identityKey }: Member, entry: Entry): boolean {
    const { checkpoint, signed, certifiedBy } = entry;
    if (signed === null) return certifiedBy === identityKey;
    if (entry.holds === false) return false;
    const publicKey = this.#certificates.publicKey(node, checkpoint.keyId, identityKey);
    if (publicKey === null) return false;
    entry.holds ??= this.#signatures.holdsIfCounted(checkpointStatement, signed, publicKey);
    return entry.holds;
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

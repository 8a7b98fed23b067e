import { hashBytes, type Sha256Hash, writeSha256 } from '../hash.ts';
import { type Decision, decisionText } from '../log/decision.ts';
import { type LedgerMessage, parseLedgerMessage } from '../log/message.ts';
import { leafHash } from '../merkle/hash.ts';
import type { Checkpoint } from '../log/checkpoint.ts';
import { rootFromPath } from '../merkle/inclusion.ts';
import { StatementError } from '../statement/statement.ts';
import type { Suite } from '../suite/suite.ts';
import { timestampOfConsensus } from '../time.ts';
import type { DecisionProof } from './bundle.ts';
import type { LogView } from './known.ts';

type Path = DecisionProof['paths'][number];

const NO_ROOTS: ReadonlySet<Sha256Hash> = new Set();

/**
 * A decision and the checkpoints that it is in: its leaf is made of its text alone, never read. What is kept here
 * follows from the proof alone, so that one may serve many verdicts.
 */
export class PlacedDecision {
  readonly text: string;
  readonly value: Decision;
  readonly #suite: Suite;
  readonly #leaf: Uint8Array;
  readonly #paths: ReadonlyMap<number, readonly Path[]>;
  readonly #roots = new Map<number, ReadonlySet<Sha256Hash>>();
  #milliseconds: number | undefined;
  #named: LedgerMessage | null | undefined;

  /** Throws `StatementError` where the text is no decision. */
  constructor(suite: Suite, proof: DecisionProof) {
    this.text = proof.text;
    this.value = decisionText.parse(proof.text);
    this.#suite = suite;
    this.#leaf = leafHash(suite, proof.text);
    this.#paths = Map.groupBy(proof.paths, ({ size }) => size);
  }

  /** Consensus time in epoch milliseconds, its nanoseconds cut. */
  get milliseconds(): number {
    this.#milliseconds ??= Date.parse(timestampOfConsensus(this.value.consensusTimestamp));
    return this.#milliseconds;
  }

  /** What its message names; null where the message is none of a federation. */
  get named(): LedgerMessage | null {
    if (this.#named === undefined) this.#named = messageIn(this.value.message);
    return this.#named;
  }

  /**
   * Whether the tree of this checkpoint holds the decision at its place. A root that the verifier knows otherwise is
   * none.
   */
  isIn({ size, root }: Checkpoint, log: LogView | undefined): boolean {
    if (size <= this.value.index) return false;
    const known = log?.rootAt(size);
    if (known !== undefined) {
      if (known !== root) return false;
      if (log?.decisionAt(this.value.index) === this.text) return true;
    }
    return this.#rootsOf(size).has(root);
  }

  #rootsOf(size: number): ReadonlySet<Sha256Hash> {
    const paths = this.#paths.get(size);
    if (paths === undefined) return NO_ROOTS;
    const known = this.#roots.get(size);
    if (known !== undefined) return known;
    const roots = paths.flatMap(({ path }) => {
      const root = rootFromPath(this.#suite, this.#leaf, this.value.index, size, path.map(hashBytes));
      return root === null ? [] : [writeSha256(root)];
    });
    const found = new Set(roots);
    this.#roots.set(size, found);
    return found;
  }
}

function messageIn(text: string): LedgerMessage | null {
  try {
    return parseLedgerMessage(text);
  } catch (error) {
    if (error instanceof StatementError) return null;
    throw error;
  }
}

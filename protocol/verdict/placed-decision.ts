import { hashBytes, type Sha256Hash, writeSha256 } from '../hash.ts';
import { type Decision, decisionText } from '../log/decision.ts';
import { leafHash } from '../merkle/hash.ts';
import type { Checkpoint } from '../log/checkpoint.ts';
import { rootFromPath } from '../merkle/inclusion.ts';
import type { Suite } from '../suite/suite.ts';
import { timestampOfConsensus } from '../time.ts';
import type { DecisionProof } from './bundle.ts';
import type { LogView } from './known.ts';

type Path = DecisionProof['paths'][number];

/** A decision and the checkpoints that it is in: its leaf is made of its text alone, never read. */
export class PlacedDecision {
  readonly text: string;
  readonly value: Decision;
  readonly #suite: Suite;
  readonly #leaf: Uint8Array;
  readonly #paths: ReadonlyMap<number, readonly Path[]>;
  readonly #log: LogView | undefined;
  readonly #roots = new Map<number, ReadonlySet<Sha256Hash>>();

  /** Throws `StatementError` where the text is no decision. */
  constructor(suite: Suite, proof: DecisionProof, log: LogView | undefined) {
    this.text = proof.text;
    this.value = decisionText.parse(proof.text);
    this.#suite = suite;
    this.#leaf = leafHash(suite, proof.text);
    this.#paths = Map.groupBy(proof.paths, ({ size }) => size);
    this.#log = log;
  }

  /** Consensus time in epoch milliseconds, its nanoseconds cut. */
  get milliseconds(): number {
    return Date.parse(timestampOfConsensus(this.value.consensusTimestamp));
  }

  /** Whether the tree of this checkpoint holds the decision at its place. A root that the verifier knows otherwise is none. */
  isIn({ size, root }: Checkpoint): boolean {
    if (size <= this.value.index) return false;
    const known = this.#log?.rootAt(size);
    if (known !== undefined) {
      if (known !== root) return false;
      if (this.#log?.decisionAt(this.value.index) === this.text) return true;
    }
    return this.#rootsOf(size).has(root);
  }

  #rootsOf(size: number): ReadonlySet<Sha256Hash> {
    const known = this.#roots.get(size);
    if (known !== undefined) return known;
    const roots = (this.#paths.get(size) ?? []).flatMap(({ path }) => {
      const root = rootFromPath(this.#suite, this.#leaf, this.value.index, size, path.map(hashBytes));
      return root === null ? [] : [writeSha256(root)];
    });
    const found = new Set(roots);
    this.#roots.set(size, found);
    return found;
  }
}

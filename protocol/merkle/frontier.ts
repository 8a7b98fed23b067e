import { nodeHash, type Sha256 } from './hash.ts';

/**
 * The right edge of a growing RFC 9162 tree: the roots of the full subtrees that its leaves fall into, largest first.
 * Appending costs one hash on average and the root O(log n), so nothing that went in is ever hashed again.
 */
export class Frontier {
  readonly #suite: Sha256;
  /**
   * `#peaks[height]` is the root of the full subtree of 2^height leaves at the edge; present iff that bit of size is 1.
   */
  readonly #peaks: (Uint8Array | undefined)[] = [];
  readonly #completed: ((height: number, root: Uint8Array) => void) | undefined;
  #size = 0;

  /** `completed` is told of every full subtree as its last leaf arrives, leaves (height 0) included. */
  constructor(suite: Sha256, completed?: (height: number, root: Uint8Array) => void) {
    this.#suite = suite;
    this.#completed = completed;
  }

  /** A frontier that goes on from the `peaks` of another. `completed` is told of what comes after. */
  static resume(
    suite: Sha256,
    peaks: readonly (Uint8Array | undefined)[],
    completed?: (height: number, root: Uint8Array) => void,
  ): Frontier {
    const frontier = new Frontier(suite, completed);
    peaks.forEach((peak, height) => {
      frontier.#peaks[height] = peak;
      if (peak !== undefined) frontier.#size += 2 ** height;
    });
    return frontier;
  }

  get size(): number {
    return this.#size;
  }

  /** By height, the root of the full subtree of 2^height leaves at the edge, where there is one. */
  get peaks(): readonly (Uint8Array | undefined)[] {
    return [...this.#peaks];
  }

  append(leaf: Uint8Array): void {
    let carry = leaf;
    let height = 0;
    this.#completed?.(height, carry);
    for (let left = this.#peaks[height]; left !== undefined; left = this.#peaks[height]) {
      carry = nodeHash(this.#suite, left, carry);
      this.#peaks[height] = undefined;
      height++;
      this.#completed?.(height, carry);
    }
    this.#peaks[height] = carry;
    this.#size++;
  }

  /** MTH of RFC 9162 §2.1.1: 32 bytes; SHA-256 of nothing for an empty tree. */
  root(): Uint8Array {
    let root: Uint8Array | undefined;
    for (const peak of this.#peaks) {
      if (peak !== undefined) root = root === undefined ? peak : nodeHash(this.#suite, peak, root);
    }
    return root ?? this.#suite.sha256();
  }
}

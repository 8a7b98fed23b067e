import type { Sha384Hash } from '../../../protocol/hash.ts';
import type { TopicPoint } from '../ledger/topic-point.ts';

/**
 * Points of the topic that somebody told, by sequence number, a bounded number of them. Over the bound the second
 * highest goes: the lowest are those that a reading which lags behind reaches first, and the highest covers all.
 */
export class Points {
  readonly #most: number;
  #points: TopicPoint[] = [];

  /** `most`: points kept, at least 2. */
  constructor(most: number) {
    this.#most = most;
  }

  get highest(): TopicPoint | undefined {
    return this.#points.at(-1);
  }

  [Symbol.iterator](): Iterator<TopicPoint> {
    return this.#points[Symbol.iterator]();
  }

  hashAt(sequence: number): Sha384Hash | undefined {
    return this.#points.find((point) => point.sequence === sequence)?.runningHash;
  }

  /** Takes the place of what was told for the same sequence number. */
  add(point: TopicPoint): void {
    const after = this.#points.findIndex(({ sequence }) => sequence >= point.sequence);
    const at = after < 0 ? this.#points.length : after;
    const replaced = this.#points[at]?.sequence === point.sequence ? 1 : 0;
    this.#points.splice(at, replaced, { sequence: point.sequence, runningHash: point.runningHash });
    if (this.#points.length > this.#most) this.#points.splice(-2, 1);
  }

  /** Forgets what was told for this sequence number and past it. */
  dropFrom(sequence: number): void {
    this.#points = this.#points.filter((point) => point.sequence < sequence);
  }

  /** Forgets what was told up to this sequence number. */
  dropThrough(sequence: number): void {
    this.#points = this.#points.filter((point) => point.sequence > sequence);
  }
}

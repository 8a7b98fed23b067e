import type { SeenAnchor } from './state.ts';

/** Anchors of one chain that wait for their batches, and of one batch of it, before more are not kept. */
const MAX_AHEAD = 20_000;
const MAX_OF_BATCH = 8;
/** So many that the ledger waits while the chain is being read. */
const MANY_AHEAD = MAX_AHEAD / 2;

/**
 * Anchors of batches that were not read yet. Whoever may write to the topic can name any batch there, so of too many the
 * ones of the nearest batches are kept: those are read next.
 */
export class AnchorsAhead {
  readonly #byBatch = new Map<number, SeenAnchor[]>();
  #size = 0;

  constructor(anchors: readonly SeenAnchor[] = []) {
    for (const seen of anchors) this.add(seen);
  }

  get isMany(): boolean {
    return this.#size >= MANY_AHEAD;
  }

  add(seen: SeenAnchor): void {
    const same = this.#byBatch.get(seen.batch) ?? [];
    if (same.length >= MAX_OF_BATCH || same.some(({ message }) => message === seen.message)) return;
    if (this.#size >= MAX_AHEAD && !this.#makeRoom(seen.batch)) return;
    this.#byBatch.set(seen.batch, [...same, seen]);
    this.#size++;
  }

  /** Takes out those of a batch that was read. */
  take(batch: number): readonly SeenAnchor[] {
    const taken = this.#byBatch.get(batch) ?? [];
    this.#byBatch.delete(batch);
    this.#size -= taken.length;
    return taken;
  }

  all(): SeenAnchor[] {
    return [...this.#byBatch.values()].flat();
  }

  /** Whether anchors of a later batch gave way. */
  #makeRoom(batch: number): boolean {
    let last = batch;
    for (const other of this.#byBatch.keys()) last = Math.max(last, other);
    return last > batch && this.take(last).length > 0;
  }
}

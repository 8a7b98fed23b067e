const FIRST_CAPACITY = 8;

/** Times of one subject's requests, oldest first: a ring that grows by doubling, so that memory follows use. */
export class RequestTimes {
  /** Its length is a power of two. */
  #ring: Float64Array;
  #oldest = 0;
  #count = 0;

  constructor(capacity = FIRST_CAPACITY) {
    this.#ring = new Float64Array(capacity);
  }

  get count(): number {
    return this.#count;
  }

  /** The time at a place from the oldest on, which there must be. */
  at(index: number): number {
    return this.#ring[(this.#oldest + index) & (this.#ring.length - 1)] ?? Number.NEGATIVE_INFINITY;
  }

  /** Whether nothing happened after `time`. */
  isIdleSince(time: number): boolean {
    return this.#count === 0 || this.at(this.#count - 1) <= time;
  }

  /** `time` is not before any other. */
  add(time: number): void {
    if (this.#count === this.#ring.length) this.#grow();
    this.#ring[(this.#oldest + this.#count) & (this.#ring.length - 1)] = time;
    this.#count++;
  }

  /** Drops what happened at `time` or before it. Each time is dropped once, so this costs nothing in the long run. */
  forgetUntil(time: number): void {
    while (this.#count > 0 && this.at(0) <= time) {
      this.#oldest = (this.#oldest + 1) & (this.#ring.length - 1);
      this.#count--;
    }
  }

  copy(): RequestTimes {
    const copy = new RequestTimes();
    for (let i = 0; i < this.#count; i++) copy.add(this.at(i));
    return copy;
  }

  #grow(): void {
    const ring = new Float64Array(this.#ring.length * 2);
    for (let i = 0; i < this.#count; i++) ring[i] = this.at(i);
    this.#ring = ring;
    this.#oldest = 0;
  }
}

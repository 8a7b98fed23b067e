/** A token bucket: `burst` at once, `rate` a second after that. Times in milliseconds from any steady clock. */
export class Bucket {
  readonly #rate: number;
  readonly #burst: number;
  #tokens: number;
  #at: number;

  constructor(rate: number, burst: number, now: number) {
    this.#rate = rate;
    this.#burst = burst;
    this.#tokens = burst;
    this.#at = now;
  }

  /** Whether there is a token to take. */
  fill(now: number): boolean {
    this.#tokens = Math.min(this.#burst, this.#tokens + ((now - this.#at) / 1000) * this.#rate);
    this.#at = now;
    return this.#tokens >= 1;
  }

  take(tokens = 1) {
    this.#tokens -= tokens;
  }
}

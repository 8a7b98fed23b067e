import { SECOND } from './consensus-time.ts';
import type { Clock, Nanos } from './consensus-time.ts';

/** A token bucket that holds one second's worth. */
export class Throttle {
  readonly #perSecond: number;
  readonly #clock: Clock;
  #tokens: number;
  #filledAt: Nanos;

  constructor(perSecond: number, clock: Clock) {
    this.#perSecond = perSecond;
    this.#clock = clock;
    this.#tokens = perSecond;
    this.#filledAt = clock();
  }

  /** Takes one token; false if there is none. */
  take(): boolean {
    const now = this.#clock();
    const elapsed = now > this.#filledAt ? Number(now - this.#filledAt) / Number(SECOND) : 0;
    this.#tokens = Math.min(this.#perSecond, this.#tokens + elapsed * this.#perSecond);
    this.#filledAt = now;
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }
}

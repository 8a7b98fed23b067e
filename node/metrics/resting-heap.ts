import { type EventLoopUtilization, performance } from 'node:perf_hooks';
import { FlagSwitch, type Tell } from './flag-switch.ts';

const LOOK_MS = 1_000;
/** Of the time between two looks that the event loop works: no more is rest, and more than the other is work. */
const REST_SHARE = 0.2;
const BUSY_SHARE = 0.4;
/** So many looks at rest, one after the other, and memory is saved; one look at work, and it no longer is. */
const RESTING_LOOKS = 5;
/**
 * V8 looks by itself some seconds after a burst whether it should collect, again and again, and asks this flag too.
 * Code that is compiled under one of them is compiled anew under the other, in place of what a cache has of it.
 */
const SAVING = { on: '--optimize-for-size', off: '--no-optimize-for-size' } as const;

/** Where the time of the event loop is read, and what V8 is told. */
export interface RestingHeapOptions {
  readonly utilization?: (since?: EventLoopUtilization) => EventLoopUtilization;
  readonly tell?: Tell;
}

/**
 * Has V8 give back what a burst of requests took, in small steps, once the event loop rests. By itself it leaves that
 * to a node's next burst after some of them, for more than a minute and a half; where memory goes before speed it does
 * not. That holds for all heaps of the process, those of threads too: who waits for a thread waits somewhat longer.
 */
export class RestingHeap implements Disposable {
  readonly #utilization: (since?: EventLoopUtilization) => EventLoopUtilization;
  readonly #saving: FlagSwitch;
  readonly #timer: NodeJS.Timeout;
  #last: EventLoopUtilization;
  #resting = 0;

  constructor({ utilization = ownUtilization, tell }: RestingHeapOptions = {}) {
    this.#utilization = utilization;
    this.#saving = new FlagSwitch(SAVING, tell);
    this.#last = utilization();
    this.#timer = setInterval(() => this.look(), LOOK_MS).unref();
  }

  /** Done each second. */
  look(): void {
    const { utilization: share } = this.#utilization(this.#last);
    this.#last = this.#utilization();
    this.#resting = share > REST_SHARE ? 0 : this.#resting + 1;
    if (this.#resting >= RESTING_LOOKS) this.#saving.turn(true);
    else if (share > BUSY_SHARE) this.#saving.turn(false);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    this.#saving[Symbol.dispose]();
  }
}

function ownUtilization(since?: EventLoopUtilization): EventLoopUtilization {
  return performance.eventLoopUtilization(since);
}

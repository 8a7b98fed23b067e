import { passingThreads } from '../concurrency/worker-pool.ts';
import { FlagSwitch, type Tell } from './flag-switch.ts';

const LOOK_MS = 250;
const MEBIBYTE = 1 << 20;
/** What a thread takes, about, beside what is given to it. In bytes. */
const THREAD_BYTES = 24 * MEBIBYTE;
/** What buffers and threads take together: past it the heap is pressed, and below the other no more. In bytes. */
const PRESSED_BYTES = 64 * MEBIBYTE;
const RELEASED_BYTES = 48 * MEBIBYTE;
/**
 * Of what a heap may grow by until it is looked through, the share at which V8 begins with that, in percent; with 0 it
 * decides by itself. Under another flag a thread that starts finds no code compiled the first time, and takes half as
 * long again each time.
 */
const PRESSING = { on: '--incremental-marking-hard-trigger=5', off: '--incremental-marking-hard-trigger=0' } as const;

/** Where it is read what takes memory, and what V8 is told. */
export interface PressedHeapOptions {
  /** Of buffers, in bytes. */
  readonly buffers?: () => number;
  readonly threads?: () => number;
  readonly tell?: Tell;
}

/**
 * Has V8 look through the heaps of this process sooner while bodies and threads that end soon take memory beside them,
 * so that garbage does not stand beside both. At other times that would cost a node under load a sixth of what it does.
 */
export class PressedHeap implements Disposable {
  readonly #buffers: () => number;
  readonly #threads: () => number;
  readonly #pressing: FlagSwitch;
  readonly #timer: NodeJS.Timeout;

  constructor({ buffers = ownBuffers, threads = passingThreads, tell }: PressedHeapOptions = {}) {
    this.#buffers = buffers;
    this.#threads = threads;
    this.#pressing = new FlagSwitch(PRESSING, tell);
    this.#timer = setInterval(() => this.look(), LOOK_MS).unref();
  }

  /** Done four times a second. */
  look(): void {
    const beside = this.#buffers() + this.#threads() * THREAD_BYTES;
    if (beside > PRESSED_BYTES) this.#pressing.turn(true);
    else if (beside < RELEASED_BYTES) this.#pressing.turn(false);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    this.#pressing[Symbol.dispose]();
  }
}

function ownBuffers(): number {
  return process.memoryUsage().arrayBuffers;
}

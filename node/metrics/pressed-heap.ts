import { setFlagsFromString } from 'node:v8';
import { passingThreads } from '../concurrency/worker-pool.ts';

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
const TRIGGER = { pressed: '--incremental-marking-hard-trigger=5', released: '--incremental-marking-hard-trigger=0' };

/** Where it is read what takes memory, and what V8 is told. */
export interface PressedHeapOptions {
  /** Of buffers, in bytes. */
  readonly buffers?: () => number;
  readonly threads?: () => number;
  readonly tell?: (flag: string) => void;
}

/**
 * Has V8 look through the heaps of this process sooner while bodies and threads that end soon take memory beside them,
 * so that garbage does not stand beside both. At other times that would cost a node under load a sixth of what it does.
 */
export class PressedHeap implements Disposable {
  readonly #buffers: () => number;
  readonly #threads: () => number;
  readonly #tell: (flag: string) => void;
  readonly #timer: NodeJS.Timeout;
  #isPressed = false;

  constructor({ buffers = ownBuffers, threads = passingThreads, tell = setFlagsFromString }: PressedHeapOptions = {}) {
    this.#buffers = buffers;
    this.#threads = threads;
    this.#tell = tell;
    this.#timer = setInterval(() => this.look(), LOOK_MS).unref();
  }

  /** Done four times a second. */
  look(): void {
    const beside = this.#buffers() + this.#threads() * THREAD_BYTES;
    if (!this.#isPressed && beside > PRESSED_BYTES) this.#press(true);
    else if (this.#isPressed && beside < RELEASED_BYTES) this.#press(false);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    if (this.#isPressed) this.#press(false);
  }

  #press(isPressed: boolean): void {
    this.#isPressed = isPressed;
    this.#tell(isPressed ? TRIGGER.pressed : TRIGGER.released);
  }
}

function ownBuffers(): number {
  return process.memoryUsage().arrayBuffers;
}

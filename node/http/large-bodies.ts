import { Problem } from './problem.ts';

/** Bytes of long bodies that have arrived and are not answered yet: in memory, each takes several times as much. */
const MAX_LARGE_BODY_BYTES = 64 << 20;
/** When a caller whose body found no room may send it again. In seconds. */
const RETRY_AFTER_SECONDS = 2;

/** A bound on the long bodies of the process that are being worked on. */
export class LargeBodies {
  readonly #limit: number;
  #bytes = 0;

  constructor(limit = MAX_LARGE_BODY_BYTES) {
    this.#limit = limit;
  }

  /** A place until it is disposed. Throws `Problem` 503 where there is none. */
  enter(bytes: number): Disposable {
    if (this.#bytes + bytes > this.#limit) {
      const headers = { 'Retry-After': String(RETRY_AFTER_SECONDS) };
      throw new Problem('dependency-unavailable', 'Too many large bodies are being worked on.', { headers });
    }
    this.#bytes += bytes;
    let isOver = false;
    return {
      [Symbol.dispose]: () => {
        if (!isOver) this.#bytes -= bytes;
        isOver = true;
      },
    };
  }
}

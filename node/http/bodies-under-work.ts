import type { Holder } from '../limits/holder.ts';
import { HOLDER_SHARE } from '../limits/route-weights.ts';
import { Problem } from './problem.ts';

/** When a caller whose body found no room may send it again. In seconds. */
const RETRY_AFTER_SECONDS = 2;

/**
 * A bound on the bodies of one kind that have arrived and are worked on: in memory, each takes several times its bytes. One
 * holder has its share of them at most, and never less than one body.
 */
export class BodiesUnderWork {
  readonly #limit: number;
  readonly #held = new Map<string, number>();
  #bytes = 0;

  /** `limit`: bytes of all bodies together. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Room for one body until it is disposed. Throws `Problem` 503 where there is none. */
  enter(bytes: number, { kind, id }: Holder): Disposable {
    if (this.#bytes + bytes > this.#limit) throw noRoom('Too many large bodies are being worked on.', 'memory');
    const name = `${kind}/${id}`;
    const held = this.#held.get(name) ?? 0;
    const isShared = kind !== 'operator' && kind !== 'none';
    if (isShared && held > 0 && held + bytes > this.#limit * HOLDER_SHARE) {
      throw noRoom('You have as many bytes under way as one caller may have.', 'share');
    }
    this.#bytes += bytes;
    this.#held.set(name, held + bytes);
    let isOver = false;
    return {
      [Symbol.dispose]: () => {
        if (!isOver) this.#leave(name, bytes);
        isOver = true;
      },
    };
  }

  #leave(name: string, bytes: number): void {
    this.#bytes -= bytes;
    const left = (this.#held.get(name) ?? bytes) - bytes;
    if (left === 0) this.#held.delete(name);
    else this.#held.set(name, left);
  }
}

function noRoom(detail: string, reason: 'memory' | 'share'): Problem {
  const headers = { 'Retry-After': String(RETRY_AFTER_SECONDS) };
  return new Problem('dependency-unavailable', detail, { headers, expected: true, reason });
}

import type { Holder } from '../accounts/limits/holder.ts';
import { HolderCounts } from '../accounts/limits/holder-counts.ts';
import { HOLDER_SHARE } from '../accounts/limits/route-weights.ts';
import { Problem } from './problem.ts';

/** When a caller whose body found no room may send it again. In seconds. */
const RETRY_AFTER_SECONDS = 2;

/**
 * A bound on the bodies of one kind that have arrived and are worked on: in memory, each takes several times its bytes. One
 * holder has its share of them at most, and never less than one body.
 */
export class BodiesUnderWork {
  readonly #limit: number;
  readonly #held = new HolderCounts();
  #bytes = 0;

  /** `limit`: bytes of all bodies together. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Room for one body until it is disposed. Throws `Problem` 503 where there is none. */
  enter(bytes: number, { kind, id }: Holder): Disposable {
    if (this.#bytes + bytes > this.#limit) throw noCapacity('Too many large bodies are being worked on.', 'memory');
    const name = `${kind}/${id}`;
    const held = this.#held.of(name);
    const isShared = kind !== 'operator' && kind !== 'none';
    if (isShared && held > 0 && held + bytes > this.#limit * HOLDER_SHARE) {
      throw noCapacity('You have as many bytes under way as one caller may have.', 'share');
    }
    using entering = new DisposableStack();
    entering.use(this.#held.add(name, bytes));
    this.#bytes += bytes;
    entering.defer(() => void (this.#bytes -= bytes));
    return entering.move();
  }
}

function noCapacity(detail: string, reason: 'memory' | 'share'): Problem {
  const headers = { 'Retry-After': String(RETRY_AFTER_SECONDS) };
  return new Problem('dependency-unavailable', detail, { headers, expected: true, reason });
}

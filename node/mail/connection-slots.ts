import { MailError } from './mail-error.ts';

/** Lets a bounded number of mails have a connection each, and a bounded number wait for theirs, first come first. */
export class ConnectionSlots {
  readonly #maxWaiting: number;
  readonly #waiting = new Set<() => void>();
  #free: number;

  constructor(connections: number, maxWaiting: number) {
    this.#free = connections;
    this.#maxWaiting = maxWaiting;
  }

  /** Resolves when there is a connection to be had, until the result is disposed. Throws the signal's reason. */
  async take(signal: AbortSignal): Promise<Disposable> {
    signal.throwIfAborted();
    if (this.#free > 0) this.#free--;
    else await this.#turn(signal);
    return { [Symbol.dispose]: () => this.#pass() };
  }

  #turn(signal: AbortSignal): Promise<void> {
    if (this.#waiting.size >= this.#maxWaiting) throw new MailError('unreachable', 'too many mails are waiting');
    return new Promise((resolve, reject) => {
      const go = (): void => {
        signal.removeEventListener('abort', leave);
        resolve();
      };
      const leave = (): void => {
        this.#waiting.delete(go);
        reject(signal.reason);
      };
      this.#waiting.add(go);
      signal.addEventListener('abort', leave, { once: true });
    });
  }

  #pass(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#free++;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}

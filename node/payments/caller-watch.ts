import { PaymentError } from './payment-error.ts';
import type { IsWanted } from './ongoing-calls.ts';

/** How often it is looked whether anybody still waits. In milliseconds. */
const LOOK_MS = 200;

/** Tells work that nobody waits for it any more, by aborting its signal with `PaymentError` `abandoned`. */
export class CallerWatch implements Disposable {
  readonly #lost = new AbortController();
  readonly #looking: NodeJS.Timeout;

  constructor(isWanted: IsWanted) {
    this.#looking = setInterval(() => {
      if (!isWanted()) this.#lost.abort(new PaymentError('abandoned'));
    }, LOOK_MS);
    this.#looking.unref();
  }

  get signal(): AbortSignal {
    return this.#lost.signal;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#looking);
  }
}

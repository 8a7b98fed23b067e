import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { unlessAborted } from './abandon.ts';
import { FacilitatorError } from './facilitator-error.ts';

/** Whether payments can be taken, and if not, why. */
export type Readiness = { readonly ready: true } | { readonly ready: false; readonly reason: string };

export interface ReadinessOptions {
  /** Resolves where payments can be taken; throws with the reason where not. */
  readonly probe: () => Promise<void>;
  readonly log: Logger;
  readonly pauses?: Partial<ReadinessPauses>;
}

/** In milliseconds. */
export interface ReadinessPauses {
  /** Between two looks while all is well. */
  readonly calmMs: number;
  /** After the first failure; doubled with each more. */
  readonly firstMs: number;
  readonly mostMs: number;
}

const PAUSES: ReadinessPauses = { calmMs: 30_000, firstMs: 500, mostMs: 15_000 };
const NOT_ASKED = 'not_asked_yet';

/** Asks again and again whether payments can be taken: a node starts without chain and facilitator, and goes on without. */
export class ReadinessWatch implements AsyncDisposable {
  readonly #probe: () => Promise<void>;
  readonly #log: Logger;
  readonly #pauses: ReadinessPauses;
  readonly #end = new AbortController();
  #state: Readiness = { ready: false, reason: NOT_ASKED };
  #loop: Promise<void> = Promise.resolve();

  constructor({ probe, log, pauses = {} }: ReadinessOptions) {
    this.#probe = probe;
    this.#log = log;
    this.#pauses = { ...PAUSES, ...pauses };
  }

  get state(): Readiness {
    return this.#state;
  }

  /** Resolves after the first answer, whichever it is. */
  async start(): Promise<void> {
    await this.#ask();
    this.#loop = this.#run();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#end.abort();
    await this.#loop;
  }

  async #run(): Promise<void> {
    let pause = this.#pauses.firstMs;
    while (!this.#end.signal.aborted) {
      const ms = this.#state.ready ? this.#pauses.calmMs : pause;
      pause = this.#state.ready ? this.#pauses.firstMs : Math.min(2 * pause, this.#pauses.mostMs);
      await sleep(ms, undefined, { signal: this.#end.signal }).catch(() => {});
      if (!this.#end.signal.aborted) await this.#ask();
    }
  }

  async #ask(): Promise<void> {
    const before = this.#state;
    try {
      await unlessAborted(this.#probe(), this.#end.signal);
      this.#state = { ready: true };
      if (!before.ready) this.#log.info('payments are taken');
    } catch (error) {
      if (this.#end.signal.aborted) return;
      const reason = error instanceof FacilitatorError ? error.reason : 'probe_failed';
      this.#state = { ready: false, reason };
      if (before.ready || before.reason !== reason) this.#log.warn({ reason }, 'payments are not taken');
    }
  }
}

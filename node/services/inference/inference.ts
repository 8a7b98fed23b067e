import type { Logger } from 'pino';
import { BusyError, Semaphore } from '../../concurrency/semaphore.ts';
import { type Completion, type Engine, InferenceError, type Prompt } from './engine.ts';

export interface InferenceOptions {
  /** Null where this node has no model. */
  readonly engine: Engine | null;
  /** Of one completion from the moment that it is asked for, waiting included. In milliseconds. */
  readonly timeLimitMs: number;
  /** What every answer must say of the model. */
  readonly label: string | null;
  readonly log: Logger;
}

/** Who may wait for the model while it works. */
export const MAX_WAITING = 8;
const NO_MODEL = 'This node has no model: its operator sets INFERENCE_URL or MODEL_PATH.';

/** The model of this node, and the line before it. */
export class Inference implements AsyncDisposable {
  readonly #options: InferenceOptions;
  readonly #line: Semaphore;

  constructor(options: InferenceOptions) {
    this.#options = options;
    this.#line = new Semaphore({ places: options.engine?.atOnce ?? 1, waiting: MAX_WAITING });
  }

  get label(): string | null {
    return this.#options.label;
  }

  /** Throws `InferenceError` `unavailable` where it is known that nothing can be completed at present. */
  requireReady(): Engine {
    const { engine } = this.#options;
    if (engine === null) throw new InferenceError('unavailable', NO_MODEL);
    if (engine.trouble !== null) throw new InferenceError('unavailable', engine.trouble);
    return engine;
  }

  /**
   * Completes a prompt when its turn comes. Rejects with the signal's reason where that was aborted, else with
   * `InferenceError`.
   */
  async complete(prompt: Prompt, signal: AbortSignal): Promise<Completion> {
    const engine = this.requireReady();
    const { timeLimitMs, log } = this.#options;
    const limit = AbortSignal.timeout(timeLimitMs);
    const either = AbortSignal.any([signal, limit]);
    try {
      using _place = await this.#line.enter(either);
      return await engine.complete(prompt, either);
    } catch (error) {
      signal.throwIfAborted();
      if (limit.aborted) throw new InferenceError('timed-out', `The model took over ${timeLimitMs / 1000} seconds.`);
      if (error instanceof BusyError) throw new InferenceError('busy', 'Too many wait for the model.');
      if (!(error instanceof InferenceError)) log.error({ err: error }, 'a completion failed');
      else if (error.code === 'failed') log.warn({ err: error }, 'a completion failed');
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#options.engine?.[Symbol.asyncDispose]();
  }
}

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { NodeConfig } from '../../node/config/config.ts';
import { CHILD_ENVIRONMENT } from '../fixtures/child-environment.ts';
import type { Moment, RowWrite } from './death.ts';
import type { Order } from './victim.ts';
import type { StepName } from './write-path.ts';

const SCRIPT = join(import.meta.dirname, 'victim.ts');
/** How long a process may take to load, to obey, or to die. In milliseconds. */
const PATIENCE_MS = 20_000;

/** The parent's side of `victim.ts`. */
export class VictimProcess implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #gone: Promise<NodeJS.Signals | null>;
  readonly #warm: Promise<void>;

  /** `cache`: folder in which one process leaves the compiled sources for the next, where the test has none itself. */
  constructor(cache: string) {
    const env = { NODE_COMPILE_CACHE: cache, ...CHILD_ENVIRONMENT };
    this.#child = fork(SCRIPT, [], { env, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    const gone = Promise.withResolvers<NodeJS.Signals | null>();
    this.#child.once('exit', (_code, signal) => gone.resolve(signal));
    this.#gone = gone.promise;
    this.#warm = this.#answer();
  }

  /** Resolves once the node accepts records. Its clock is ahead by `aheadMs`. */
  async start(config: NodeConfig, markFile: string, aheadMs = 0): Promise<void> {
    await this.#warm;
    await this.#obey({ type: 'start', config, markFile, aheadMs, row: null });
  }

  /** Starts it to die at the first write of such a row, which may be before it accepts records. */
  async startToDie(config: NodeConfig, aheadMs: number, write: RowWrite, moment: Moment): Promise<void> {
    await this.#warm;
    this.#child.send({ type: 'start', config, markFile: '', aheadMs, row: { write, moment } } satisfies Order);
    await this.death();
  }

  /** From now on it dies at this step. */
  dieAt(step: StepName, moment: Moment): Promise<void> {
    return this.#obey({ type: 'die', step, moment });
  }

  /** Ends the node in order. */
  stop(): Promise<void> {
    return this.#obey({ type: 'stop' });
  }

  get isGone(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#gone;
  }

  /** Resolves once it killed itself. Rejects where it ended otherwise, or not in time. */
  async death(): Promise<void> {
    const signal = await inTime(this.#gone, 'the process did not die');
    if (signal !== 'SIGKILL') throw new Error(`the process ended by ${signal ?? 'itself'}`);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.kill();
  }

  async #obey(order: Order): Promise<void> {
    const answer = this.#answer();
    this.#child.send(order);
    await answer;
  }

  async #answer(): Promise<void> {
    const ended = this.#gone.then(() => Promise.reject(new Error('the process ended instead of answering')));
    await inTime(Promise.race([once(this.#child, 'message'), ended]), 'the process did not answer');
  }
}

async function inTime<Value>(promise: Promise<Value>, failure: string): Promise<Value> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(failure)), PATIENCE_MS);
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

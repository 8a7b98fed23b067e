import { type ChildProcess, spawn } from 'node:child_process';
import { open } from 'node:fs/promises';
import { doubledPause } from '../../node/concurrency/backoff.ts';
import { StartError } from './start-error.ts';

/**
 * Time that a part has to say that it is ready: a node may wait three minutes for one that is away. In milliseconds.
 */
const READY_MS = 300_000;
/** Time that a part has to end by itself before it is killed. Every process must be gone within five seconds. */
const STOP_MS = 3_500;
/** Pause before a part that died is started again: doubled each time, forgotten once it has lived for a while. */
const RESTART_PAUSES = { firstMs: 500, mostMs: 10_000 };
const FORGIVE_AFTER_MS = 30_000;

export interface ChildSpec {
  readonly name: string;
  /** Of Node. */
  readonly flags?: readonly string[];
  readonly script: string;
  readonly args?: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Takes what the part prints. */
  readonly logFile: string;
}

/** Who is told about a part. */
export interface ChildListener {
  /** There is a process, which is not ready yet. */
  readonly onProcess?: (pid: number) => void;
  /** The part is ready again under another pid. */
  readonly onRestart?: (child: Child) => void;
}

/** One process of the cluster: started, watched, started again when it dies, ended with the cluster. */
export class Child implements AsyncDisposable {
  readonly #spec: ChildSpec;
  readonly #listener: ChildListener;
  #running: ChildProcess | undefined;
  #restart: NodeJS.Timeout | undefined;
  #restarts = 0;
  #stopping = false;

  constructor(spec: ChildSpec, listener: ChildListener = {}) {
    this.#spec = spec;
    this.#listener = listener;
  }

  get name(): string {
    return this.#spec.name;
  }

  get pid(): number | null {
    return this.#running?.pid ?? null;
  }

  /**
   * Starts it and waits until it is ready. Throws `StartError` where it ends instead, and starts it no more; see its
   * log.
   */
  async start(): Promise<void> {
    try {
      await this.#launch();
    } catch (error) {
      await this[Symbol.asyncDispose]();
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping = true;
    clearTimeout(this.#restart);
    const child = this.#running;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    child.kill('SIGTERM');
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
    await ended;
    clearTimeout(timer);
  }

  async #launch(): Promise<void> {
    const { name, flags = [], script, args = [], env, logFile } = this.#spec;
    await using log = await open(logFile, 'a', 0o600);
    if (this.#stopping) throw new StartError(`${name} was told to stop`);
    // The IPC channel tells the part when the supervisor is gone, however it went.
    const child = spawn(process.execPath, [...flags, script, ...args], {
      env: { ...env },
      stdio: ['ignore', log.fd, log.fd, 'ipc'],
    });
    this.#running = child;
    if (child.pid !== undefined) this.#listener.onProcess?.(child.pid);
    const started = Date.now();
    child.once('exit', () => this.#onExit(started));
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => reject(new StartError(`${name} is not ready after ${READY_MS} ms`)), READY_MS);
      child.once('message', () => {
        clearTimeout(timer);
        resolve();
      });
      child.once('exit', (code, signal) => {
        clearTimeout(timer);
        reject(new StartError(`${name} ended with ${code ?? signal} before it was ready; see ${logFile}`));
      });
    });
  }

  #onExit(started: number): void {
    if (this.#stopping) return;
    if (Date.now() - started > FORGIVE_AFTER_MS) this.#restarts = 0;
    this.#restart = setTimeout(
      () => {
        this.#launch().then(
          () => this.#listener.onRestart?.(this),
          // Its own exit event starts the next attempt.
          () => {},
        );
      },
      doubledPause(this.#restarts++, RESTART_PAUSES),
    );
  }
}

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { endChild } from './end-child.ts';

/** A process of the bench. It speaks JSON values over its IPC channel and ends, by its pid, with the object. */
export class Forked implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #script: string;

  /** `variables`: of its environment, beside those of this process. */
  constructor(script: string, args: readonly string[] = [], variables: Readonly<Record<string, string>> = {}) {
    this.#script = script;
    const env = { ...process.env, ...variables };
    this.#child = fork(script, [...args], { env, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Sends a value, if there is one, and waits for the next answer. Throws where the process ends instead. */
  async ask(question?: object): Promise<unknown> {
    if (question !== undefined) this.#child.send(question);
    const ended = new AbortController();
    const answer = once(this.#child, 'message', { signal: ended.signal });
    const end = once(this.#child, 'exit', { signal: ended.signal }).then(([code, signal]: unknown[]) => {
      throw new Error(`${this.#script} ended with ${String(code ?? signal)}`);
    });
    try {
      const [message]: unknown[] = await Promise.race([answer, end]);
      return message;
    } finally {
      answer.catch(() => {});
      end.catch(() => {});
      ended.abort();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await endChild(this.#child);
  }
}

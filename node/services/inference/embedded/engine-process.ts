import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import { InferenceError, type Prompt } from '../engine.ts';
import {
  type CallEnd,
  type Completed,
  type FromEngine,
  type Loaded,
  type ModelSetting,
  readFromEngine,
  type ToEngine,
} from './engine-messages.ts';

const SCRIPT = join(import.meta.dirname, 'main.ts');
/** All that the process knows of the node's environment. */
const ENVIRONMENT = { NODE_LLAMA_CPP_SKIP_DOWNLOAD: 'true' };
/**
 * How long work goes on that was cancelled, before the process is ended instead: between two tokens it listens. In
 * milliseconds.
 */
const CANCEL_MS = 2_000;
/** How long it may take to end by itself. In milliseconds. */
const END_MS = 1_000;
/** Kept of what it complains about, for the log. In characters. */
const COMPLAINT_CHARACTERS = 500;

interface WaitingCall {
  readonly end: (end: CallEnd) => void;
  readonly fail: (error: unknown) => void;
}

/** A process with a model in it. Ends with the node, however that ends: it listens for the end of its channel. */
export class EngineProcess implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #calls = new Map<number, WaitingCall>();
  readonly #loaded = Promise.withResolvers<Loaded>();
  readonly #ended = Promise.withResolvers<void>();
  #hasEnded = false;
  #complaint = '';
  #lastCall = 0;

  /** Starts it, and has it load the model. */
  constructor(model: ModelSetting) {
    this.#child = fork(SCRIPT, [], { execArgv: [], env: ENVIRONMENT, stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
    this.#child.stderr?.on('data', (chunk: Buffer) => {
      this.#complaint = (this.#complaint + chunk.toString('latin1')).slice(-COMPLAINT_CHARACTERS);
    });
    this.#child.on('message', (message: unknown) => this.#take(readFromEngine(message)));
    this.#child.once('error', (error) => this.#end(String(error)));
    this.#child.once('exit', (code, signal) => this.#end(`it ended with ${code ?? signal}`));
    // Anyone who waits for it is told; nobody has to.
    this.#loaded.promise.catch(() => {});
    this.#say({ type: 'load', model });
  }

  /** What was loaded, once it is. Rejects with `InferenceError` `unavailable`. */
  get loaded(): Promise<Loaded> {
    return this.#loaded.promise;
  }

  /** Null once it has ended. */
  get pid(): number | null {
    return this.#hasEnded ? null : (this.#child.pid ?? null);
  }

  /**
   * Completes a prompt; one at a time. Rejects with the signal's reason, `prompt-too-long` or `failed`, and only once
   * the process does nothing for it any more.
   */
  async complete(prompt: Prompt, signal: AbortSignal): Promise<Completed> {
    signal.throwIfAborted();
    const call = ++this.#lastCall;
    const { promise, resolve, reject } = Promise.withResolvers<CallEnd>();
    this.#calls.set(call, { end: resolve, fail: reject });
    let overdue: NodeJS.Timeout | undefined;
    const cancel = (): void => {
      this.#say({ type: 'cancel', call });
      overdue = setTimeout(() => this.#child.kill('SIGKILL'), CANCEL_MS);
    };
    signal.addEventListener('abort', cancel, { once: true });
    try {
      if (this.#hasEnded) throw this.#crash();
      this.#say({ type: 'complete', call, prompt });
      return completedOf(await promise, signal);
    } catch (error) {
      signal.throwIfAborted();
      throw error;
    } finally {
      signal.removeEventListener('abort', cancel);
      clearTimeout(overdue);
      this.#calls.delete(call);
    }
  }

  /** Resolves once it has ended. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#hasEnded) return;
    if (this.#child.connected) this.#child.disconnect();
    const overdue = setTimeout(() => this.#child.kill('SIGKILL'), END_MS);
    await this.#ended.promise;
    clearTimeout(overdue);
  }

  #take(message: FromEngine | undefined): void {
    if (message === undefined) return;
    if (message.type === 'loaded') this.#loaded.resolve(message);
    else if (message.type === 'load-failed') this.#loaded.reject(cannotLoad(message.reason));
    else this.#calls.get(message.call)?.end(message);
  }

  #say(message: ToEngine): void {
    // Where the channel is gone the process is about to be: its end fails every call.
    if (this.#child.connected) this.#child.send(message, () => {});
  }

  #end(how: string): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#complaint = `${how}; ${this.#complaint}`;
    this.#loaded.reject(cannotLoad(this.#complaint));
    for (const { fail } of this.#calls.values()) fail(this.#crash());
    this.#ended.resolve();
  }

  #crash(): InferenceError {
    return new InferenceError('failed', 'The engine ended before the completion did.', { cause: this.#complaint });
  }
}

function completedOf(end: CallEnd, signal: AbortSignal): Completed {
  if (end.type === 'completed') return end;
  if (end.type === 'too-long') {
    const { promptTokens, contextTokens } = end;
    const message = `The prompt has ${promptTokens} tokens; the model takes ${contextTokens} with its answer.`;
    throw new InferenceError('prompt-too-long', message, { counts: { promptTokens, contextTokens } });
  }
  signal.throwIfAborted();
  const cause = end.type === 'failed' ? end.reason.slice(0, COMPLAINT_CHARACTERS) : end.type;
  throw new InferenceError('failed', 'The engine could not complete the prompt.', { cause });
}

function cannotLoad(cause: string): InferenceError {
  return new InferenceError('unavailable', 'The model cannot be loaded at present.', { cause });
}

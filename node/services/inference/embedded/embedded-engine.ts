import { createHash } from 'node:crypto';
import { createReadStream, type ReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Logger } from 'pino';
import { type Sha256Hash, writeSha256 } from '../../../../protocol/hash.ts';
import type { EmbeddedInferenceConfig } from '../config.ts';
import { type Completion, type Engine, InferenceError, type ModelIdentity, type Prompt } from '../engine.ts';
import type { Completed, Loaded } from './engine-messages.ts';
import { EngineProcess } from './engine-process.ts';

/** The bytes of a file at a time, by all that changes when they do. */
interface FileState {
  /** Inode, size and time of change. */
  readonly identity: string;
  readonly digest: Sha256Hash;
}

/** Read and hashed at a time: a millisecond's work. In bytes. */
const CHUNK_BYTES = 256 << 10;
/** Times that a file which changes meanwhile is read. */
const ATTEMPTS = 3;

/** A file of weights, whose digest is computed once for each state that the file is in. */
class ModelFile {
  readonly path: string;
  readonly #signal: AbortSignal;
  #known: FileState | undefined;
  #hashing: Promise<FileState> | undefined;

  /** The signal ends what is being read. */
  constructor(path: string, signal: AbortSignal) {
    this.path = path;
    this.#signal = signal;
  }

  /** The file as it is now. Throws what the file system throws. */
  async state(): Promise<FileState> {
    const identity = await this.#identity();
    if (this.#known?.identity === identity) return this.#known;
    this.#hashing ??= this.#hash().finally(() => {
      this.#hashing = undefined;
    });
    return this.#hashing;
  }

  /** Whether the file is still in this state. */
  async isIn(state: FileState): Promise<boolean> {
    return (await this.#identity().catch(() => '')) === state.identity;
  }

  /** A file that changes while it is read has a digest of neither state: then it is read again. */
  async #hash(): Promise<FileState> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const identity = await this.#identity();
      const hash = createHash('sha256');
      for await (const chunk of this.#bytes()) hash.update(chunk);
      if ((await this.#identity()) !== identity) continue;
      this.#known = { identity, digest: writeSha256(hash.digest()) };
      return this.#known;
    }
    throw new Error('the model file is being written');
  }

  #bytes(): ReadStream {
    return createReadStream(this.path, { highWaterMark: CHUNK_BYTES, signal: this.#signal });
  }

  async #identity(): Promise<string> {
    const { dev, ino, size, mtimeNs, ctimeNs } = await stat(this.path, { bigint: true });
    return [dev, ino, size, mtimeNs, ctimeNs].join('/');
  }
}

export interface EmbeddedEngineOptions {
  readonly config: Pick<EmbeddedInferenceConfig, 'path' | 'contextTokens' | 'threads'>;
  readonly log: Logger;
  /** How long the model stays in memory with nothing to do. In milliseconds. */
  readonly idleMs?: number;
}

/** A model in memory, and the state of the file that it was loaded from. */
interface Running {
  readonly process: EngineProcess;
  readonly loaded: Loaded;
  readonly file: FileState;
}

const IDLE_MS = 300_000;
/** How long a model that could not be loaded is not tried again. In milliseconds. */
const PAUSE_MS = 10_000;
const CANNOT_LOAD = 'The model cannot be loaded at present.';
const MAX_NAME = 256;

/**
 * A file of weights on this machine, in a process of its own that is started when there is something to complete and
 * ended when there was nothing for a while. Invariant: a completion names the digest of the file that it was made with,
 * in which the file still was when it was done.
 */
export class EmbeddedEngine implements Engine {
  readonly atOnce = 1;
  readonly #options: EmbeddedEngineOptions;
  readonly #file: ModelFile;
  readonly #over = new AbortController();
  #running: Promise<Running> | undefined;
  /** As soon as it is started. */
  #process: EngineProcess | undefined;
  #idle: NodeJS.Timeout | undefined;
  #pausedUntil = 0;

  constructor(options: EmbeddedEngineOptions) {
    this.#options = options;
    this.#file = new ModelFile(options.config.path, this.#over.signal);
  }

  get trouble(): string | null {
    return performance.now() < this.#pausedUntil ? CANNOT_LOAD : null;
  }

  /** Pid of the process with the model; null where none is in memory. */
  get pid(): number | null {
    return this.#process?.pid ?? null;
  }

  /** Computes the digest of the file, so that the first completion need not wait for it. */
  async warm(): Promise<void> {
    const { log, config } = this.#options;
    try {
      const { digest } = await this.#file.state();
      log.info({ model: basename(config.path), digest }, 'the model was hashed');
    } catch (error) {
      if (this.#over.signal.aborted) return;
      this.#pause();
      log.error({ err: error }, 'MODEL_PATH cannot be read');
    }
  }

  async complete(prompt: Prompt, signal: AbortSignal): Promise<Completion> {
    clearTimeout(this.#idle);
    try {
      const running = await aborted(this.#current(), signal);
      const completed = await running.process.complete(prompt, signal);
      if (!(await this.#file.isIn(running.file))) {
        throw new InferenceError('failed', 'The model was replaced while it was at work.');
      }
      return completionOf(completed, this.#identityOf(running));
    } finally {
      this.#rest();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#over.abort();
    clearTimeout(this.#idle);
    await this.#unload();
  }

  /**
   * The model in memory, of the file as it is now. Loading goes on anyone who gives up on it: the next one wants it
   * too.
   */
  async #current(): Promise<Running> {
    if (this.#over.signal.aborted) throw new InferenceError('unavailable', 'The node is stopping.');
    if (this.#running !== undefined) {
      const { process, file } = await this.#running;
      if (process.pid !== null && (await this.#file.isIn(file))) return this.#running;
      await this.#unload();
    }
    this.#running ??= this.#load();
    return this.#running;
  }

  async #load(): Promise<Running> {
    const { config, log } = this.#options;
    try {
      const file = await this.#file.state();
      this.#over.signal.throwIfAborted();
      const process = new EngineProcess(config);
      this.#process = process;
      const loaded = await process.loaded;
      log.info({ model: basename(config.path), pid: process.pid }, 'the model is in memory');
      return { process, loaded, file };
    } catch (error) {
      await this.#unload();
      this.#pause();
      log.error({ err: error }, 'the model was not loaded');
      throw new InferenceError('unavailable', CANNOT_LOAD, { cause: error });
    }
  }

  async #unload(): Promise<void> {
    const process = this.#process;
    this.#process = undefined;
    this.#running = undefined;
    await process?.[Symbol.asyncDispose]();
  }

  #rest(): void {
    if (this.#over.signal.aborted) return;
    this.#idle = setTimeout(() => void this.#unload(), this.#options.idleMs ?? IDLE_MS);
    this.#idle.unref();
  }

  #pause(): void {
    this.#pausedUntil = performance.now() + PAUSE_MS;
  }

  #identityOf({ loaded, file: { digest } }: Running): ModelIdentity {
    const model = (loaded.name ?? basename(this.#options.config.path)).slice(0, MAX_NAME).toWellFormed();
    return {
      model,
      modelVersion: `${model}@${digest}+${loaded.runtime}`,
      modelDigest: digest,
      modelSource: { engine: 'embedded', digestOf: 'weights', declaredByOperator: false, systemFingerprint: null },
    };
  }
}

function completionOf(completed: Completed, model: ModelIdentity): Completion {
  const { content, finishReason, promptTokens, completionTokens, parameters } = completed;
  const usage = { promptTokens, completionTokens, totalTokens: promptTokens + completionTokens };
  return { content, finishReason, usage, parameters, model };
}

/** What the promise comes to, unless the signal is aborted first. */
async function aborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  signal.throwIfAborted();
  const { promise: gone, reject } = Promise.withResolvers<never>();
  const leave = (): void => reject(signal.reason);
  signal.addEventListener('abort', leave, { once: true });
  try {
    return await Promise.race([promise, gone]);
  } finally {
    signal.removeEventListener('abort', leave);
  }
}

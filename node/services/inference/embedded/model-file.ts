import { createHash } from 'node:crypto';
import { createReadStream, type ReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { type Sha256Hash, writeSha256 } from '../../../../protocol/hash.ts';

/** The bytes of a file at a time, by all that changes when they do. */
export interface FileState {
  /** Inode, size and time of change. */
  readonly identity: string;
  readonly digest: Sha256Hash;
}

/** Read and hashed at a time: a millisecond's work. In bytes. */
const CHUNK_BYTES = 256 << 10;
/** Times that a file which changes meanwhile is read. */
const ATTEMPTS = 3;

/** A file of weights, whose digest is computed once for each state that the file is in. */
export class ModelFile {
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

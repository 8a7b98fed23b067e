import type { Timestamp } from '../../../protocol/time.ts';

/** Of a link, since they were last written. */
export interface Uses {
  readonly account: string;
  readonly count: number;
  readonly lastAt: Timestamp;
}

export interface ShareUsesOptions {
  /** Adds them to what the link's row says. */
  readonly write: (digest: string, uses: Uses) => Promise<void>;
  /** Told of a write that failed; what it held is tried again with the next use that is noted. */
  readonly onFailure: (error: unknown) => void;
}

/**
 * Counts how often links are opened, off the path of the request: one small write of a link for all that arrived
 * meanwhile. A kill of the process loses what was not written; the account's log has a line for each use beside.
 */
export class ShareUses implements AsyncDisposable {
  readonly #options: ShareUsesOptions;
  /** Digest → uses that are not on the disk. */
  readonly #waiting = new Map<string, Uses>();
  #writing: Promise<void> | undefined;

  constructor(options: ShareUsesOptions) {
    this.#options = options;
  }

  /** Counts one more. */
  note(digest: string, account: string, lastAt: Timestamp): void {
    const count = (this.#waiting.get(digest)?.count ?? 0) + 1;
    this.#waiting.set(digest, { account, count, lastAt });
    this.#writing ??= this.#write();
  }

  /** Resolves once what was counted before was written, or could not be. */
  async settled(): Promise<void> {
    await this.#writing;
  }

  /** Writes what waits. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#writing;
  }

  async #write(): Promise<void> {
    try {
      while (this.#waiting.size > 0) for (const [digest, uses] of this.#waiting) await this.#writeOne(digest, uses);
    } catch (error) {
      this.#options.onFailure(error);
    } finally {
      this.#writing = undefined;
    }
  }

  async #writeOne(digest: string, uses: Uses): Promise<void> {
    this.#waiting.delete(digest);
    try {
      await this.#options.write(digest, uses);
    } catch (error) {
      const since = this.#waiting.get(digest);
      const lastAt = since?.lastAt ?? uses.lastAt;
      this.#waiting.set(digest, { ...uses, count: uses.count + (since?.count ?? 0), lastAt });
      throw error;
    }
  }
}

import { Problem } from './problem.ts';

/** Exports that an account may read at once: each holds a few hundred kilobytes for as long as its reader takes. */
const EXPORTS_AT_ONCE = 2;
/** When a caller who reads that many may come back. In seconds. */
const RETRY_AFTER_SECONDS = 5;

/** Who reads exports of one sort now. */
export class ExportReaders {
  readonly #reading = new Map<string, number>();

  /** Counts one more reader of an account; the returned function lets go of it. Throws `Problem` 429. */
  enter(account: string): () => void {
    const now = this.#reading.get(account) ?? 0;
    if (now >= EXPORTS_AT_ONCE) {
      const headers = { 'Retry-After': String(RETRY_AFTER_SECONDS) };
      throw new Problem('rate-limited', `${EXPORTS_AT_ONCE} exports of this account are being read.`, { headers });
    }
    this.#reading.set(account, now + 1);
    return () => {
      const left = (this.#reading.get(account) ?? 1) - 1;
      if (left === 0) this.#reading.delete(account);
      else this.#reading.set(account, left);
    };
  }
}

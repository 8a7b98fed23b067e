/** Versions that an account may have at once, about, and how long it takes until one more is free. In milliseconds. */
export const STATEMENT_BURST = 20;
export const STATEMENT_EVERY_MS = 60_000;
/** Accounts from which on those that have rested are forgotten. */
const MANY_ACCOUNTS = 1_000;

interface Used {
  /** Versions that count, as of `at`. */
  readonly versions: number;
  readonly at: number;
}

/**
 * How soon an account may have its next version: at once where it has changed seldom, and the later the more it has changed,
 * so that changes in quick succession share a version, and that who changes keys all day leaves one version a minute. In
 * memory: a restart forgets.
 */
export class StatementPace {
  readonly #steady: () => number;
  readonly #used = new Map<string, Used>();

  /** `steady` is a clock that is never set, in milliseconds. */
  constructor(steady: () => number = () => performance.now()) {
    this.#steady = steady;
  }

  /** Milliseconds until the next version of an account. */
  wait(account: string): number {
    const used = this.#used.get(account);
    if (used === undefined) return 0;
    const since = this.#steady() - used.at;
    return Math.max(0, STATEMENT_EVERY_MS * (used.versions / STATEMENT_BURST) ** 3 - since);
  }

  /** A version was made. */
  note(account: string): void {
    if (this.#used.size >= MANY_ACCOUNTS) this.#forgetRested();
    this.#used.set(account, { versions: this.#versionsOf(account) + 1, at: this.#steady() });
  }

  #versionsOf(account: string): number {
    const used = this.#used.get(account);
    return used === undefined ? 0 : Math.max(0, used.versions - (this.#steady() - used.at) / STATEMENT_EVERY_MS);
  }

  #forgetRested(): void {
    for (const account of this.#used.keys()) if (this.#versionsOf(account) === 0) this.#used.delete(account);
  }
}

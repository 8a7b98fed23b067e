import { LRUCache } from 'lru-cache';
import { ADDRESS_ALLOWANCE } from './allowances.ts';

export interface UncountedLimitsOptions {
  readonly uncountedPerSecond?: number;
  /** A steady clock in milliseconds. */
  readonly now?: () => number;
}

const SECOND_MS = 1_000;
/** How long an answer waits for its turn at most: so many connections of one subject are answered more often again. */
const LONGEST_WAIT_MS = 5_000;
/** Addresses, accounts and wallets whose answers are kept apart. */
const MAX_SUBJECTS = 20_000;

/**
 * Spaces the answers that no other limit counts: refusals, what does not exist, the health. Of each subject those of one
 * second are sent at once, later ones one after another at the same rate (the generic cell rate algorithm).
 */
export class UncountedLimits {
  readonly #now: () => number;
  readonly #spacingMs: number;
  /** When the last answer of a subject would be sent if none were sent at once. */
  readonly #sent = new LRUCache<string, number>({ max: MAX_SUBJECTS });

  constructor(options: UncountedLimitsOptions = {}) {
    this.#now = options.now ?? (() => performance.now());
    this.#spacingMs = SECOND_MS / (options.uncountedPerSecond ?? ADDRESS_ALLOWANCE.uncountedAnswersPerSecond);
  }

  /** Counts an answer; how long it is to wait before it is sent. In milliseconds. */
  take(subject: string): number {
    const now = this.#now();
    const after = Math.max(this.#sent.get(subject) ?? Number.NEGATIVE_INFINITY, now - SECOND_MS);
    const sent = Math.min(after + this.#spacingMs, now + LONGEST_WAIT_MS);
    this.#sent.set(subject, sent);
    return Math.max(0, sent - now);
  }
}

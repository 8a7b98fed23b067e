import { type AuditFacts, ENTRIES_LOST } from '../../../protocol/audit/entry.ts';

/** Entries that wait for the disk at most, of all accounts. Past it they are counted, not kept. About 25 MB. */
export const MAX_WAITING = 50_000;

/** Something that happened, and when, in epoch milliseconds. */
export interface WaitingEntry {
  at: number;
  facts: AuditFacts;
}

/** In order of accounts, and for each in the order in which things happened. */
export type Waiting = ReadonlyMap<string, readonly WaitingEntry[]>;

/** What is not on the disk yet. Where it overflows, each account's last entry tells how many of its own were lost. */
export class WaitingEntries {
  readonly #limit: number;
  #accounts = new Map<string, WaitingEntry[]>();
  #count = 0;

  constructor(limit = MAX_WAITING) {
    this.#limit = limit;
  }

  get count(): number {
    return this.#count;
  }

  /** Keeps an entry, or counts it where too many wait. */
  add(account: string, entry: WaitingEntry): void {
    if (this.#count < this.#limit) this.keep(account, entry);
    else this.countLost(account, entry.at);
  }

  /** Counts an entry that is not kept. */
  countLost(account: string, at: number): void {
    const last = this.#accounts.get(account)?.at(-1);
    if (last?.facts.lost === undefined) return this.keep(account, { at, facts: lostFacts(1) });
    last.facts = lostFacts(last.facts.lost + 1);
    last.at = at;
  }

  /** Keeps an entry however many wait. */
  keep(account: string, entry: WaitingEntry): void {
    const list = this.#accounts.get(account);
    if (list === undefined) this.#accounts.set(account, [entry]);
    else list.push(entry);
    this.#count++;
  }

  /** Moves out all that waits. */
  takeAll(): Waiting {
    const taken = this.#accounts;
    this.#accounts = new Map();
    this.#count = 0;
    return taken;
  }

  /** Moves out what waits of one account. */
  takeOf(account: string): readonly WaitingEntry[] {
    const taken = this.#accounts.get(account) ?? [];
    this.#accounts.delete(account);
    this.#count -= taken.length;
    return taken;
  }

  /** Puts back, in front of what came since. */
  giveBack(taken: Waiting): void {
    for (const [account, entries] of taken) {
      const since = this.#accounts.get(account) ?? [];
      this.#accounts.set(account, [...entries, ...since]);
      this.#count += entries.length;
    }
  }
}

function lostFacts(lost: number): AuditFacts {
  return { action: ENTRIES_LOST, address: null, by: 'node', lost, requestId: null, status: null, subject: null };
}

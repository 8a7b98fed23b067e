import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Sha256Hash } from '../../protocol/hash.ts';
import type { NodeId } from '../../protocol/ids.ts';
import type { SignedRoster } from '../../protocol/keys/signed-roster.ts';
import type { Member } from '../../protocol/log/roster.ts';
import type { RosterBook, RosterOutcome } from './roster-book.ts';

/** The signed rosters from a version on that a member shows to anyone at its public address. */
export type AskRosters = (baseUrl: string, from: number, signal: AbortSignal) => Promise<readonly SignedRoster[]>;

export interface RosterInquiryOptions {
  readonly self: NodeId;
  readonly book: Pick<RosterBook, 'chain' | 'knows'>;
  readonly askRosters: AskRosters;
  /** Throws `PeerStatementError` where a roster does not hold. */
  readonly learn: (roster: SignedRoster) => Promise<RosterOutcome>;
  readonly rosterPatienceMs?: number;
  readonly log: Logger;
}

/** How long peers have to bring a roster that the ledger names, before it is asked for. In milliseconds. */
const PATIENCE_MS = 3_000;
/** Rosters looked for at once. Each round asks for all that a member has, whichever were named. */
const MAX_WANTED = 64;
/** Pauses before each further round: whoever may write to the topic can name rosters that nobody has. In milliseconds. */
const PAUSES_MS = [30_000, 120_000] as const;

/**
 * Looks for rosters that the ledger names and no peer brought, at the members' public addresses. A node that was removed
 * while it was off is dialled by nobody and refused by all; this is how it hears, and signs no more. The ledger says it
 * once: so a node that starts and meets nobody asks too, for an earlier run may have ended before it had an answer.
 */
export class RosterInquiry implements AsyncDisposable {
  readonly #options: RosterInquiryOptions;
  readonly #closing = new AbortController();
  readonly #wanted = new Set<Sha256Hash>();
  #running: Promise<void> | undefined;
  #beginning: Promise<void> | undefined;

  constructor(options: RosterInquiryOptions) {
    this.#options = options;
  }

  /** The ledger names these rosters. Returns at once. */
  note(rosters: readonly Sha256Hash[]): void {
    for (const roster of rosters) {
      if (this.#wanted.size < MAX_WANTED && !this.#options.book.knows(roster)) this.#wanted.add(roster);
    }
    if (this.#closing.signal.aborted || this.#wanted.size === 0) return;
    this.#running ??= this.#inquire().finally(() => {
      this.#running = undefined;
    });
  }

  /** Asks every member once, unless a peer is met before their time is up. Returns at once. */
  begin(hasMet: () => boolean): void {
    this.#beginning ??= this.#askUnmet(hasMet);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    await Promise.all([this.#running, this.#beginning]);
  }

  async #askUnmet(hasMet: () => boolean): Promise<void> {
    const { signal } = this.#closing;
    await sleep(this.#options.rosterPatienceMs ?? PATIENCE_MS, undefined, { signal }).catch(() => undefined);
    for (const member of this.#others()) {
      if (signal.aborted || hasMet()) return;
      await this.#ask(member);
    }
  }

  async #inquire(): Promise<void> {
    const { rosterPatienceMs = PATIENCE_MS } = this.#options;
    const { signal } = this.#closing;
    for (const pause of [rosterPatienceMs, ...PAUSES_MS]) {
      await sleep(pause, undefined, { signal }).catch(() => undefined);
      if (signal.aborted || this.#isSatisfied()) return;
      for (const member of this.#others()) {
        await this.#ask(member);
        if (signal.aborted || this.#isSatisfied()) return;
      }
    }
    const [roster] = this.#wanted;
    this.#options.log.warn({ roster, of: this.#wanted.size }, 'the ledger names rosters that no member shows');
    this.#wanted.clear();
  }

  #isSatisfied(): boolean {
    for (const roster of this.#wanted) if (this.#options.book.knows(roster)) this.#wanted.delete(roster);
    return this.#wanted.size === 0;
  }

  #others(): readonly Member[] {
    return this.#options.book.chain.current.members.filter(({ node }) => node !== this.#options.self);
  }

  async #ask({ node, baseUrl }: Member): Promise<void> {
    const { askRosters, learn, book, log } = this.#options;
    try {
      const rosters = await askRosters(baseUrl, book.chain.current.version + 1, this.#closing.signal);
      for (const roster of rosters) await learn(roster);
    } catch (error) {
      log.debug({ err: error, node }, 'a member does not show its rosters');
    }
  }
}

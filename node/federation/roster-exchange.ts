import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Sha256Hash } from '../../protocol/hash.ts';
import type { NodeId } from '../../protocol/ids.ts';
import type { SignedRoster } from '../../protocol/keys/signed-roster.ts';
import type { Roster } from '../../protocol/log/roster.ts';
import type { Operation } from '../store/operation.ts';
import type { LedgerView } from './ledger-view.ts';
import type { RosterBook, RosterOutcome } from './roster-book.ts';
import type { Transport, TransportMember } from './transport/contract.ts';

/** How long a member that leaves stays connected, so that it hears why. In milliseconds. */
const LEAVE_MS = 3_000;

export interface RosterExchangeOptions {
  readonly self: NodeId;
  readonly book: RosterBook;
  readonly ledger: Pick<LedgerView, 'statementAnchor'>;
  readonly transport: Pick<Transport, 'setMembers'>;
  readonly log: Logger;
  readonly leaveMs?: number;
  /** Rings the others: there is a roster of this hash. */
  readonly announce: (roster: Sha256Hash) => Promise<void>;
  /** A member may be new, and have everything still to learn. */
  readonly exchangeAll: () => void;
  /** The roster does not name this node any more. */
  readonly onRemoved: () => void;
}

/**
 * Takes rosters that peers and operators show, and applies them while the node runs: who is not named is hung up and kept
 * out, who is new is dialled and caught up with, who moved is dialled elsewhere from the next dial on.
 *
 * Ownership: `#allowed` is what the transport was told last.
 */
export class RosterExchange implements AsyncDisposable {
  readonly #options: RosterExchangeOptions;
  readonly #stop: () => void;
  readonly #closing = new AbortController();
  #applying: Promise<void> = Promise.resolve();
  #allowed: readonly TransportMember[];

  constructor(options: RosterExchangeOptions) {
    this.#options = options;
    this.#allowed = options.book.chain.current.members;
    this.#stop = options.book.onRoster((roster) => this.#schedule(roster));
  }

  /** Throws `PeerStatementError` where it does not hold or cannot be judged yet. */
  async learn(signed: SignedRoster, besides: readonly Operation[] = []): Promise<RosterOutcome> {
    const { book, log } = this.#options;
    const known = book.rivals.length;
    const outcome = await book.learn(signed, besides);
    if (book.rivals.length > known) log.error({ signed }, 'a quorum signed two rosters of one version');
    if (outcome !== 'rival') return outcome;
    await this.settle();
    return book.chain.signed.some(({ statement }) => statement === signed.statement) ? 'added' : 'rival';
  }

  /** Lets the ledger decide between rosters that compete. Call at the start, and when the ledger named a roster. */
  async settle(): Promise<void> {
    const { book, ledger, log } = this.#options;
    if (book.rivals.length === 0) return;
    const changed = await book.settle(async (text) => {
      const anchor = await ledger.statementAnchor({ type: 'roster', text });
      return anchor && BigInt(anchor.sequence);
    });
    if (changed) log.error({ version: book.chain.current.version }, 'the ledger named another roster first; it holds');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop();
    this.#closing.abort();
    await this.#applying;
  }

  /** Rosters are applied one after the other: the last word that the transport hears is of the last one. */
  #schedule(roster: Roster): void {
    this.#applying = this.#applying.then(async () => {
      try {
        await this.#apply(roster);
      } catch (error) {
        if (this.#closing.signal.aborted) return;
        this.#options.log.error({ err: error, version: roster.version }, 'a roster could not be applied');
      }
    });
  }

  async #apply(roster: Roster): Promise<void> {
    const { self, book, log, announce, exchangeAll, onRemoved, leaveMs = LEAVE_MS } = this.#options;
    const { version, members } = roster;
    const names = members.map(({ node }) => node);
    log.info({ version, members: names }, 'a new roster is in force');
    if (!names.includes(self)) {
      onRemoved();
      await this.#allow([]);
      return;
    }
    const leaving = this.#allowed.filter((known) => !members.some((member) => isSame(member, known)));
    // Told before they are dropped: whoever leaves should hear why.
    await this.#allow([...members, ...leaving.filter((known) => !members.some((member) => collides(member, known)))]);
    await announce(book.chain.hash);
    exchangeAll();
    if (leaving.length === 0) return;
    await sleep(leaveMs, undefined, { signal: this.#closing.signal });
    await this.#allow(members);
  }

  async #allow(members: readonly TransportMember[]): Promise<void> {
    await this.#options.transport.setMembers(members);
    this.#allowed = members;
  }
}

function isSame(a: TransportMember, b: TransportMember): boolean {
  return a.node === b.node && a.peerId === b.peerId;
}

function collides(a: TransportMember, b: TransportMember): boolean {
  return a.node === b.node || a.peerId === b.peerId;
}

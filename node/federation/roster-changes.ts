import type { Logger } from 'pino';
import type { NodeId } from '../../protocol/ids.ts';
import type { Roster } from '../../protocol/log/roster.ts';
import type { RosterBook } from './roster-book.ts';
import type { Transport, TransportMember } from './transport/contract.ts';

/**
 * How long a member that leaves stays connected: it has to read its removal on the ledger with the others' word, and they
 * have to get what it recorded last. In milliseconds.
 */
const LEAVE_MS = 10_000;

export interface RosterChangesOptions {
  readonly self: NodeId;
  readonly book: RosterBook;
  readonly transport: Pick<Transport, 'setMembers'>;
  readonly log: Logger;
  readonly leaveMs?: number;
  /** A member may be new, and have everything still to learn. */
  readonly exchangeAll: () => void;
  /** The roster does not name this node any more. */
  readonly onRemoved: () => void;
}

/**
 * Applies the newest roster while the node runs: who is not named is hung up and kept out, who is new is dialled and
 * caught up with, who moved is dialled elsewhere from the next dial on.
 *
 * Ownership: `#allowed` is what the transport was told last.
 */
export class RosterChanges implements AsyncDisposable {
  readonly #options: RosterChangesOptions;
  readonly #stop: () => void;
  #closed = false;
  #leaving: NodeJS.Timeout | undefined;
  #applying: Promise<void> = Promise.resolve();
  #allowed: readonly TransportMember[];
  #isContradictionTold = false;

  constructor(options: RosterChangesOptions) {
    this.#options = options;
    this.#allowed = options.book.chain.current.members;
    this.#tellContradiction();
    this.#stop = options.book.onRoster((roster) => {
      this.#tellContradiction();
      this.#schedule(roster.version, () => this.#apply(roster));
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    this.#stop();
    clearTimeout(this.#leaving);
    await this.#applying;
  }

  /** Rosters are applied one after the other: the last word that the transport hears is of the last one. */
  #schedule(version: number, apply: () => Promise<void>): void {
    this.#applying = this.#applying.then(async () => {
      try {
        if (!this.#closed) await apply();
      } catch (error) {
        if (!this.#closed) this.#options.log.error({ err: error, version }, 'a roster could not be applied');
      }
    });
  }

  async #apply({ version, members }: Roster): Promise<void> {
    const { self, log, exchangeAll, onRemoved, leaveMs = LEAVE_MS } = this.#options;
    const names = members.map(({ node }) => node);
    log.info({ version, members: names }, 'a new roster is in force');
    const isRemoved = !names.includes(self);
    if (isRemoved) onRemoved();
    const leaving = this.#allowed.filter((known) => !members.some((member) => isSame(member, known)));
    await this.#allow([...members, ...leaving.filter((known) => !members.some((member) => collides(member, known)))]);
    exchangeAll();
    clearTimeout(this.#leaving);
    if (leaving.length === 0) return;
    this.#leaving = setTimeout(() => this.#schedule(version, () => this.#allow(isRemoved ? [] : members)), leaveMs);
  }

  async #allow(members: readonly TransportMember[]): Promise<void> {
    await this.#options.transport.setMembers(members);
    this.#allowed = members;
  }

  #tellContradiction(): void {
    const { book, log } = this.#options;
    if (this.#isContradictionTold || book.contradiction === null) return;
    this.#isContradictionTold = true;
    log.error({ ...book.contradiction }, 'THE ROSTER FILE NAMES ANOTHER ROSTER THAN THE LEDGER; the ledger holds');
  }
}

function isSame(a: TransportMember, b: TransportMember): boolean {
  return a.node === b.node && a.peerId === b.peerId;
}

function collides(a: TransportMember, b: TransportMember): boolean {
  return a.node === b.node || a.peerId === b.peerId;
}

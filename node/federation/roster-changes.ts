import type { Logger } from 'pino';
import type { NodeId } from '../../protocol/ids.ts';
import { hasMember, type Roster } from '../../protocol/log/roster.ts';
import { PeriodicTask } from '../concurrency/periodic-task.ts';
import type { CurrentRosters } from '../log/members/current-rosters.ts';
import type { Transport, TransportMember } from '../transport/contract.ts';

/** How often it is looked whether one that leaves is done. In milliseconds. */
const LOOK_MS = 5_000;

export interface RosterChangesOptions {
  readonly self: NodeId;
  readonly currentRosters: Pick<CurrentRosters, 'chain' | 'contradiction' | 'onRoster'>;
  readonly transport: Pick<Transport, 'setMembers'>;
  readonly log: Logger;
  /** Former members that are let in still. Default: none. */
  readonly leaving?: () => Promise<readonly TransportMember[]>;
  /** Whether this node was removed, and is done. Default: no. */
  readonly isReleased?: () => boolean;
  /** A member may be new, and have everything still to learn. */
  readonly exchangeAll: () => void;
  /** The roster does not name this node any more. */
  readonly onRemoved: () => void;
}

/**
 * Applies the newest roster while the node runs: who is not named is hung up and kept out once it is done, who is new
 * is dialled and caught up with, who moved is dialled elsewhere from the next dial on. A node that was removed hangs up
 * once it is released.
 *
 * Ownership: `#allowed` is what the transport was told last.
 */
export class RosterChanges implements AsyncDisposable {
  readonly #options: RosterChangesOptions;
  readonly #stop: () => void;
  #closed = false;
  readonly #task = new PeriodicTask(LOOK_MS, async () => this.look());
  #applying: Promise<void> = Promise.resolve();
  #allowed: readonly TransportMember[];
  #isContradictionTold = false;

  constructor(options: RosterChangesOptions) {
    this.#options = options;
    this.#allowed = options.currentRosters.chain.current.members;
    this.#tellContradiction();
    this.#stop = options.currentRosters.onRoster((roster) => {
      this.#tellContradiction();
      this.#schedule(() => this.#apply(roster));
    });
  }

  /**
   * Lets in whom the rosters and those that leave make it. Resolves once the transport knows. Call before it starts.
   */
  async start(): Promise<void> {
    const { self, currentRosters, onRemoved } = this.#options;
    if (!hasMember(currentRosters.chain.current, self)) onRemoved();
    this.look();
    this.#task.start(LOOK_MS);
    await this.#applying;
  }

  /** One that leaves may be done. */
  look(): void {
    this.#schedule(() => this.#admit());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    this.#stop();
    await this.#task[Symbol.asyncDispose]();
    await this.#applying;
  }

  /** Rosters are applied one after the other: the last word that the transport hears is of the last one. */
  #schedule(apply: () => Promise<void>): void {
    this.#applying = this.#applying.then(async () => {
      try {
        if (!this.#closed) await apply();
      } catch (error) {
        if (!this.#closed) this.#options.log.error({ err: error }, 'a roster could not be applied');
      }
    });
  }

  async #apply({ version, members }: Roster): Promise<void> {
    const { self, log, exchangeAll, onRemoved } = this.#options;
    const names = members.map(({ node }) => node);
    log.info({ version, members: names }, 'a new roster is in force');
    if (!names.includes(self)) onRemoved();
    await this.#admit();
    exchangeAll();
  }

  async #admit(): Promise<void> {
    const { transport } = this.#options;
    const members = await this.#admitted();
    if (isSame(members, this.#allowed)) return;
    await transport.setMembers(members);
    this.#allowed = members;
  }

  async #admitted(): Promise<readonly TransportMember[]> {
    const { self, currentRosters, leaving, isReleased } = this.#options;
    const { current } = currentRosters.chain;
    if (!hasMember(current, self)) return isReleased?.() === true ? [] : current.members;
    const admitted: TransportMember[] = [...current.members];
    // Who left and came back under another id may have kept its peer id; the transport knows each once.
    for (const former of (await leaving?.()) ?? []) {
      if (!admitted.some((member) => collides(member, former))) admitted.push(former);
    }
    return admitted;
  }

  #tellContradiction(): void {
    const { currentRosters, log } = this.#options;
    if (this.#isContradictionTold || currentRosters.contradiction === null) return;
    this.#isContradictionTold = true;
    log.error(
      { ...currentRosters.contradiction },
      'THE ROSTER FILE NAMES ANOTHER ROSTER THAN THE LEDGER; the ledger holds',
    );
  }
}

function isSame(a: readonly TransportMember[], b: readonly TransportMember[]): boolean {
  const place = ({ node, peerId, multiaddrs }: TransportMember) => `${node} ${peerId} ${multiaddrs.join(' ')}`;
  return a.length === b.length && a.every((member, at) => place(member) === place(b[at] ?? member));
}

function collides(a: TransportMember, b: TransportMember): boolean {
  return a.node === b.node || a.peerId === b.peerId;
}

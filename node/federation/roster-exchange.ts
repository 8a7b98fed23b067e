import type { Logger } from 'pino';
import type { NodeId } from '../../protocol/ids.ts';
import type { Roster, SignedRoster } from '../../protocol/keys/roster.ts';
import type { FederationKeys, RosterOutcome } from './federation-keys.ts';
import type { Transport } from './transport/contract.ts';

export interface RosterExchangeOptions {
  readonly self: NodeId;
  readonly keys: FederationKeys;
  readonly transport: Pick<Transport, 'setMembers'>;
  readonly log: Logger;
  /** Rings the others: there is a roster of this version. */
  readonly announce: (version: number) => Promise<void>;
  /** A member may be new, and have everything still to learn. */
  readonly exchangeAll: () => void;
  /** The roster does not name this node any more. Called once. */
  readonly onRemoved: () => void;
}

/**
 * Takes rosters that peers and operators show, and applies them while the node runs: who is not named is hung up and kept
 * out, who is new is dialled and caught up with.
 */
export class RosterExchange implements Disposable {
  readonly #options: RosterExchangeOptions;
  readonly #stop: () => void;

  constructor(options: RosterExchangeOptions) {
    this.#options = options;
    this.#stop = options.keys.onRoster((roster) => {
      this.#apply(roster).catch((error: unknown) => {
        options.log.error({ err: error, version: roster.version }, 'a roster could not be applied');
      });
    });
  }

  /** Throws `PeerStatementError` where it does not hold or cannot be judged yet. */
  async learn(signed: SignedRoster): Promise<RosterOutcome> {
    const outcome = await this.#options.keys.learnRoster(signed);
    if (outcome === 'rival') this.#options.log.error({ signed }, 'a quorum signed two rosters of one version');
    return outcome;
  }

  [Symbol.dispose](): void {
    this.#stop();
  }

  async #apply(roster: Roster): Promise<void> {
    const { self, transport, log, announce, exchangeAll, onRemoved } = this.#options;
    const names = roster.members.map(({ node }) => node);
    log.info({ version: roster.version, members: names }, 'a new roster is in force');
    // Told before it is applied: whoever is dropped by it should hear why.
    await announce(roster.version);
    if (!names.includes(self)) onRemoved();
    await transport.setMembers(roster.members);
    exchangeAll();
  }
}

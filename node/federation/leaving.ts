import { type NodeId, nodeId } from '../../protocol/ids.ts';
import type { RosterChain } from '../../protocol/keys/roster-chain.ts';
import { type DecisionState, knownNode } from '../../protocol/log/decision-state.ts';
import type { Timestamp } from '../../protocol/time.ts';
import type { CheckpointStore } from '../log/checkpoint-store.ts';
import { logRosters } from '../log/log-rosters.ts';
import { isReleased, type RemovalLog, removalOf, removalTime } from '../log/removal.ts';
import type { Chains } from '../log/chains.ts';
import type { TransportMember } from '../transport/contract.ts';

/** So long after its removal, by the ledger, a former member is let in at most. In milliseconds. */
export const LEAVE_MOST_MS = 7 * 24 * 60 * 60 * 1000;
/**
 * So long it is let in after it seems to be done: members compare what they hold every half minute, and what it sealed
 * last may not be known here. In milliseconds.
 */
const LEAVE_MS = 40_000;

export interface LeavingOptions {
  readonly federationLog: RemovalLog['federationLog'] & { readonly state: DecisionState };
  readonly currentRosters: { readonly inForce: Pick<RosterChain, 'current' | 'member' | 'rosters'> };
  readonly checkpoints: Pick<CheckpointStore, 'all' | 'newest'>;
  readonly chains: Pick<Chains, 'head'>;
  readonly now: () => number;
  /** A clock that no step moves, in milliseconds. Default: that of the process. */
  readonly monotonic?: () => number;
  readonly leaveMs?: number;
}

/**
 * Former members that are let in still: until what they recorded last is decided and vouched for, so that they can
 * bring it, and learn that it is (protocol §4). How long is bounded, whatever they send.
 */
export class Leaving {
  readonly #options: LeavingOptions;
  /** Place of a removal → its ledger time, in epoch milliseconds. */
  readonly #times = new Map<number, number>();
  /** By the monotonic clock, since when a node seems to be done. */
  readonly #doneSince = new Map<NodeId, number>();

  constructor(options: LeavingOptions) {
    this.#options = options;
  }

  /** Ledger time of the decision that removed a node; null for a member. Throws `LogDamagedError`. */
  removalTime(node: NodeId): Promise<Timestamp | null> {
    const { federationLog, currentRosters } = this.#options;
    return removalTime({ federationLog, rosters: () => currentRosters.inForce.rosters }, node);
  }

  /** Those that are let in now, without addresses: nobody dials them. Throws `LogDamagedError`. */
  async members(): Promise<readonly TransportMember[]> {
    const { federationLog, currentRosters } = this.#options;
    const leaving: TransportMember[] = [];
    for (const name of Object.keys(federationLog.state.past)) {
      const node = nodeId(name);
      const member = currentRosters.inForce.member(node);
      const removedAt = removalOf(logRosters(federationLog.state, currentRosters.inForce), node);
      // The log may be a step ahead of the texts of its rosters.
      if (member === undefined || removedAt === null) continue;
      if (await this.#isOver(node, removedAt)) this.#doneSince.delete(node);
      else if (!this.#isDone(node, removedAt)) leaving.push({ node, peerId: member.peerId, multiaddrs: [] });
    }
    return leaving;
  }

  async #isOver(node: NodeId, removedAt: number): Promise<boolean> {
    let at = this.#times.get(removedAt);
    if (at === undefined) {
      const time = await this.removalTime(node);
      if (time === null) return false;
      at = Date.parse(time);
      this.#times.set(removedAt, at);
    }
    return this.#options.now() - at > LEAVE_MOST_MS;
  }

  #isDone(node: NodeId, removedAt: number): boolean {
    const { federationLog, currentRosters, checkpoints, chains, leaveMs = LEAVE_MS } = this.#options;
    const decided = knownNode(federationLog.state, node)?.last?.batch ?? 0;
    const roster = currentRosters.inForce.current;
    const sealed = chains.head(node).batch;
    if (!isReleased({ self: node, removedAt, checkpointStore: checkpoints, roster, sealed, decided, unsealed: 0 })) {
      this.#doneSince.delete(node);
      return false;
    }
    const now = (this.#options.monotonic ?? (() => performance.now()))();
    const since = this.#doneSince.get(node) ?? now;
    this.#doneSince.set(node, since);
    return now - since >= leaveMs;
  }
}

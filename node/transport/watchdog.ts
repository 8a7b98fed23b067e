import { TOPICS } from './contract.ts';
import { hangUp, openConnection } from './connections.ts';
import { periodically } from './periodic.ts';
import type { Logger } from 'pino';
import type { GossipTransport } from './gossip.ts';
import type { MeridianNode } from './libp2p-node.ts';
import type { TransportLimits } from './limits.ts';
import type { RosterPeer, Members } from './members.ts';

interface WatchdogOptions {
  readonly node: MeridianNode;
  readonly members: Members;
  readonly gossip: GossipTransport;
  readonly limits: Readonly<TransportLimits>;
  readonly log: Logger;
}

/**
 * Hangs up on a connected member whose gossip is dead: gossip streams can end while the connection lives, and nothing
 * else notices. Whoever dials that pair dials again.
 */
export class Watchdog {
  readonly #node: MeridianNode;
  readonly #members: Members;
  readonly #gossip: GossipTransport;
  readonly #limits: Readonly<TransportLimits>;
  readonly #log: Logger;
  /** When each connected peer was first seen without all our topics, by peer id. */
  readonly #missingSince = new Map<string, number>();

  constructor({ node, members, gossip, limits, log }: WatchdogOptions) {
    this.#node = node;
    this.#members = members;
    this.#gossip = gossip;
    this.#limits = limits;
    this.#log = log;
  }

  /** Runs until the signal ends. */
  run(signal: AbortSignal): Promise<void> {
    return periodically(this.#limits.watchdogTick, signal, async () => {
      const dead = this.#members.others().filter((member) => this.#isDead(member));
      await Promise.all(dead.map((member) => this.#hangUp(member)));
    });
  }

  #isDead(member: RosterPeer): boolean {
    const peer = member.peerId.toString();
    const connected = openConnection(this.#node, member.peerId) !== null;
    if (!connected || this.#gossip.subscriptionsOf(member.peerId).length === TOPICS.length) {
      this.#missingSince.delete(peer);
      return false;
    }
    const since = this.#missingSince.get(peer) ?? performance.now();
    this.#missingSince.set(peer, since);
    return performance.now() - since > this.#limits.unsubscribedMost;
  }

  async #hangUp(member: RosterPeer): Promise<void> {
    this.#missingSince.delete(member.peerId.toString());
    this.#log.warn({ peer: member.node }, 'gossip with a connected peer is dead: hanging up');
    await hangUp(this.#node, member.peerId, 'gossip is dead');
  }
}

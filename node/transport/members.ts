import { TransportError } from './errors.ts';
import type { PeerId } from '@libp2p/interface';
import type { Multiaddr } from '@multiformats/multiaddr';

export interface RosterPeer {
  readonly node: string;
  readonly peerId: PeerId;
  readonly addresses: readonly Multiaddr[];
}

/**
 * The roster as the network sees it, and the allow-list: empty before the first `replace`. Everything reads it live, so
 * a new roster holds from the moment `replace` returns.
 */
export class Members {
  readonly self: string;
  #byNode = new Map<string, RosterPeer>();
  #byPeer = new Map<string, RosterPeer>();

  constructor(self: string) {
    this.self = self;
  }

  /**
   * Takes a new roster whole, or throws `malformed` and changes nothing.
   * @returns the peers that are members no longer
   */
  replace(members: readonly RosterPeer[]): PeerId[] {
    const byNode = new Map<string, RosterPeer>();
    const byPeer = new Map<string, RosterPeer>();
    for (const member of members) {
      const peer = member.peerId.toString();
      if (byNode.has(member.node) || byPeer.has(peer)) {
        throw new TransportError('malformed', `member ${member.node} or its peer id is named twice`);
      }
      byNode.set(member.node, member);
      byPeer.set(peer, member);
    }
    const removed = [...this.#byPeer].filter(([peer]) => !byPeer.has(peer)).map(([, member]) => member.peerId);
    this.#byNode = byNode;
    this.#byPeer = byPeer;
    return removed;
  }

  others(): RosterPeer[] {
    return [...this.#byNode.values()].filter((member) => member.node !== this.self);
  }

  other(node: string): RosterPeer | null {
    return node === this.self ? null : (this.#byNode.get(node) ?? null);
  }

  nodeOf(peer: PeerId): string | null {
    return this.#byPeer.get(peer.toString())?.node ?? null;
  }

  /** True for every peer but the other members; our own identity at the far end is a stranger too. */
  isStranger(peer: PeerId): boolean {
    const node = this.nodeOf(peer);
    return node === null || node === this.self;
  }

  /**
   * One side of each pair dials first, so that dials seldom cross: the lower node id, unless the higher has no address
   * and the lower has one. Both sides read the same roster and so agree. A pair without any address never connects.
   */
  weDialFirst(member: RosterPeer): boolean {
    if (member.addresses.length === 0) return false;
    const ours = this.#byNode.get(this.self)?.addresses.length ?? 0;
    return this.self < member.node || ours === 0;
  }
}

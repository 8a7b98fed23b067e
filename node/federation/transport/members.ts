import { peerIdFromString } from '@libp2p/peer-id';
import { multiaddr } from '@multiformats/multiaddr';
import { reasonOf, TransportError } from './errors.ts';
import type { PeerId } from '@libp2p/interface';
import type { Multiaddr } from '@multiformats/multiaddr';
import type { TransportMember } from './contract.ts';

export interface Member {
  readonly node: string;
  readonly peerId: PeerId;
  readonly addresses: readonly Multiaddr[];
}

/**
 * The roster as the network sees it, and the allow-list. Everything reads it live, so a new roster holds from the
 * moment `replace` returns.
 */
export class Members {
  readonly self: string;
  #byNode = new Map<string, Member>();
  #byPeer = new Map<string, Member>();

  constructor(self: string, members: readonly TransportMember[]) {
    this.self = self;
    this.replace(members);
  }

  /**
   * Takes a new roster whole, or throws `malformed` and changes nothing.
   * @returns the peers that are members no longer
   */
  replace(members: readonly TransportMember[]): PeerId[] {
    const byNode = new Map<string, Member>();
    const byPeer = new Map<string, Member>();
    for (const entry of members) {
      const member = parseMember(entry);
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

  others(): Member[] {
    return [...this.#byNode.values()].filter((member) => member.node !== this.self);
  }

  other(node: string): Member | null {
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
  weDialFirst(member: Member): boolean {
    if (member.addresses.length === 0) return false;
    const ours = this.#byNode.get(this.self)?.addresses.length ?? 0;
    return this.self < member.node || ours === 0;
  }
}

/** Throws `malformed` on members that no transport could reach: a peer id or an address that cannot be read. */
export function requireReadable(members: readonly TransportMember[]): void {
  for (const member of members) parseMember(member);
}

function parseMember({ node, peerId, multiaddrs }: TransportMember): Member {
  try {
    const id = peerIdFromString(peerId);
    return { node, peerId: id, addresses: multiaddrs.map((text) => addressOf(text, peerId)) };
  } catch (error) {
    throw new TransportError('malformed', `member ${node}: ${reasonOf(error)}`, error);
  }
}

/** The address with its peer id, so that a dial that reaches anyone else fails in the handshake. */
function addressOf(text: string, peerId: string): Multiaddr {
  const address = multiaddr(text);
  const named = address.getComponents().filter((component) => component.name === 'p2p');
  if (named.length === 0) return address.encapsulate(`/p2p/${peerId}`);
  if (named.length > 1 || named[0]?.value !== peerId) throw new RangeError(`${text} names another peer`);
  return address;
}

import { peerIdFromString } from '@libp2p/peer-id';
import { type Multiaddr, multiaddr } from '@multiformats/multiaddr';
import type { TransportMember } from './contract.ts';
import { reasonOf, TransportError } from './errors.ts';
import type { RosterPeer } from './members.ts';

/**
 * A roster in force as the network sees it: a start needs it, whatever it says. Who cannot be read is left out, and so is
 * all but one of those with the same peer id: it may be written in more than one way, and the usual one goes first.
 * `leaveOut`: told of each.
 */
export function reachableMembers(
  members: readonly TransportMember[],
  leaveOut: (error: TransportError) => void,
): RosterPeer[] {
  const taken = new Map<string, RosterPeer>();
  const usualFirst = members.toSorted((a, b) => Number(isUsual(b)) - Number(isUsual(a)));
  for (const member of usualFirst) {
    try {
      const peer = readMember(member);
      const id = peer.peerId.toString();
      const isNamed = taken.has(id) || [...taken.values()].some(({ node }) => node === member.node);
      if (isNamed) throw new TransportError('malformed', `member ${member.node} or its peer id is named twice`);
      taken.set(id, peer);
    } catch (error) {
      if (!(error instanceof TransportError)) throw error;
      leaveOut(error);
    }
  }
  return [...taken.values()];
}

/**
 * Throws `malformed` where a member of a roster that is to come would be left out, or its peer id is written in another
 * way than libp2p does: two that are one would stand in it as two.
 */
export function requireReachable(members: readonly TransportMember[]): void {
  const odd = members.find((member) => !isUsual(member));
  reachableMembers(members, (error) => {
    throw error;
  });
  if (odd === undefined) return;
  throw new TransportError('malformed', `member ${odd.node}: the peer id is not written as its node writes it`);
}

function isUsual({ peerId }: TransportMember): boolean {
  try {
    return peerIdFromString(peerId).toString() === peerId;
  } catch {
    return false;
  }
}

function readMember({ node, peerId, multiaddrs }: TransportMember): RosterPeer {
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

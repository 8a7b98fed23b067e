import { peerIdFromString } from '@libp2p/peer-id';
import { type Multiaddr, multiaddr } from '@multiformats/multiaddr';
import type { TransportMember } from './contract.ts';
import { reasonOf, TransportError } from './errors.ts';
import type { RosterPeer } from './members.ts';

/**
 * A roster as the network sees it. Throws `malformed` where no transport could reach a member: its id or an address
 * cannot be read.
 */
export function readMembers(members: readonly TransportMember[]): RosterPeer[] {
  return members.map(readMember);
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

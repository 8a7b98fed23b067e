import type { ConnectionGater, PeerId } from '@libp2p/interface';
import type { Logger } from 'pino';
import type { FloodGuard } from './flood-guard.ts';
import type { Members } from './members.ts';

/**
 * Members only, both ways, but for those that flood. A dialler who is kept out sees its dial succeed before it is dropped: an inbound stranger is
 * known only after the handshake.
 */
export function membersOnly(members: Members, guard: Pick<FloodGuard, 'isKeptOut'>, log: Logger): ConnectionGater {
  const deny = (peer: PeerId): boolean => {
    const stranger = members.isStranger(peer);
    if (stranger) log.debug({ peer: peer.toString() }, 'stranger kept out');
    return stranger || guard.isKeptOut(peer);
  };
  return {
    denyDialPeer: deny,
    denyInboundEncryptedConnection: deny,
    denyOutboundEncryptedConnection: deny,
    denyInboundUpgradedConnection: deny,
    denyOutboundUpgradedConnection: deny,
    denyInboundRelayReservation: () => true,
    denyInboundRelayedConnection: () => true,
    denyOutboundRelayedConnection: () => true,
  };
}

import { BlockList, isIP } from 'node:net';

/** Addresses that are not of the public network (IANA's special-purpose registries, RFC 6890). */
const SPECIAL = new BlockList();
for (const [address, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const) {
  SPECIAL.addSubnet(address, prefix, 'ipv4');
}
/** Of the one block that is global unicast, what leads elsewhere: tunnels, benchmarks, documentation. */
for (const [address, prefix] of [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const) {
  SPECIAL.addSubnet(address, prefix, 'ipv6');
}
const GLOBAL_UNICAST = new BlockList();
GLOBAL_UNICAST.addSubnet('2000::', 3, 'ipv6');

/** What no node is reached by: link-local, where clouds serve an instance's credentials, multicast, and nowhere. */
const NEVER = new BlockList();
for (const [address, prefix] of [
  ['0.0.0.0', 8],
  ['169.254.0.0', 16],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const) {
  NEVER.addSubnet(address, prefix, 'ipv4');
}
for (const [address, prefix] of [
  ['::', 128],
  ['fe80::', 10],
  ['ff00::', 8],
  ['64:ff9b::', 96],
  ['64:ff9b:1::', 48],
  ['2002::', 16],
] as const) {
  NEVER.addSubnet(address, prefix, 'ipv6');
}

/** Which addresses a request may go to: those of the public network, or of closed networks too. */
export type Reach = 'private' | 'public';

/** Whether a request of this reach may go to an address. A text that is none is refused. */
export function mayReach(address: string, reach: Reach): boolean {
  const version = isIP(address);
  if (version === 4) return !(reach === 'public' ? SPECIAL : NEVER).check(address, 'ipv4');
  // An IPv4 address in the form of IPv6 is held against the ranges of IPv4 too.
  if (version !== 6 || NEVER.check(address, 'ipv6')) return false;
  return reach === 'private' || (GLOBAL_UNICAST.check(address, 'ipv6') && !SPECIAL.check(address, 'ipv6'));
}

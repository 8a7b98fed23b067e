import { isIP, isIPv6, SocketAddress } from 'node:net';
import type { AddressList } from '../../outbound/address-list.ts';

const MAPPED_IPV4 = /^::ffff:(\d{1,3}(?:\.\d{1,3}){3})$/i;
/** `192.0.2.1:443`, `[2001:db8::1]:443` and `[2001:db8::1]`, as some proxies write an address. */
const WITH_PORT = /^(?:(\d{1,3}(?:\.\d{1,3}){3})|\[([0-9a-fA-F:.]+)\])(?::\d{1,5})?$/;
/** Proxies in a row that are looked through; more than anybody has. */
const MAX_HOPS = 32;
/** What stands for a connection whose address is not known any more. */
const UNKNOWN = 'unknown';

/** Whether an address is one of them. */
export type Addresses = Pick<AddressList, 'admits'>;

/** Where a request came from. */
export interface RequestOrigin {
  /** Address of the other end of the connection. */
  readonly remoteAddress: string | undefined;
  /** `X-Forwarded-For`, several of them joined by commas; undefined where there is none. */
  readonly forwardedFor: string | undefined;
}

/**
 * The caller's IP address: that of the connection, unless this is one of the operator's own proxies. Then it is the
 * last entry of `X-Forwarded-For`, which that proxy wrote, and so on as long as an entry is again a proxy of ours: the
 * rightmost address that is none. What stands before it the caller may have made up. Where an entry is no address, the
 * proxy that wrote it stands for its caller.
 */
export function clientAddress({ remoteAddress, forwardedFor = '' }: RequestOrigin, proxies: Addresses): string {
  let address = plainAddress(remoteAddress ?? UNKNOWN);
  let end = forwardedFor.length;
  for (let hop = 0; hop < MAX_HOPS && end > 0 && proxies.admits(address); hop++) {
    const comma = forwardedFor.lastIndexOf(',', end - 1);
    const before = forwardedAddress(forwardedFor.slice(comma + 1, end).trim());
    if (before === undefined) break;
    address = before;
    end = comma;
  }
  return address;
}

/**
 * What one caller is limited under: an IPv4 address, or the first 64 bits of an IPv6 address, which is what a network
 * gives to one customer at least.
 */
export function addressKey(address: string): string {
  return isIPv6(address) ? network64(address) : address;
}

/** Undefined where an entry of the header is no address. */
function forwardedAddress(entry: string): string | undefined {
  const [, ipv4, ipv6] = WITH_PORT.exec(entry) ?? [];
  const address = ipv4 ?? ipv6 ?? entry;
  return isIP(address) === 0 ? undefined : plainAddress(address);
}

/**
 * An address in the one form of RFC 5952. An IPv4 address is the same one whichever kind of socket saw it; a zone says
 * nothing to others.
 */
export function plainAddress(address: string): string {
  const [bare = ''] = address.split('%');
  if (!isIPv6(bare)) return bare;
  const written = new SocketAddress({ address: bare, family: 'ipv6' }).address;
  return MAPPED_IPV4.exec(written)?.[1] ?? written;
}

/** `2001:db8:0:1::/64`; the parts without leading zeros, in lower case. */
function network64(address: string): string {
  // Writes the address in the one form of RFC 5952.
  const [head = '', tail] = new SocketAddress({ address, family: 'ipv6' }).address.split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const groups = [...before, ...Array.from({ length: 8 - before.length - after.length }, () => '0'), ...after];
  return `${groups.slice(0, 4).join(':')}::/64`;
}

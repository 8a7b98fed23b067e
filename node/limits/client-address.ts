import { isIP, isIPv6, SocketAddress } from 'node:net';

const MAPPED_IPV4 = /^::ffff:(\d{1,3}(?:\.\d{1,3}){3})$/i;
/** `192.0.2.1:443`, `[2001:db8::1]:443` and `[2001:db8::1]`, as some proxies write an address. */
const WITH_PORT = /^(?:(\d{1,3}(?:\.\d{1,3}){3})|\[([0-9a-fA-F:.]+)\])(?::\d{1,5})?$/;
/** What stands for a connection whose address is not known any more. */
const UNKNOWN = 'unknown';

/** Where a request came from. */
export interface RequestOrigin {
  /** Address of the other end of the connection. */
  readonly remoteAddress: string | undefined;
  /** `X-Forwarded-For`, several of them joined by commas; undefined where there is none. */
  readonly forwardedFor: string | undefined;
}

/**
 * The caller's IP address. Behind a proxy it is the last address of `X-Forwarded-For`, which that proxy added itself;
 * what stands before it the caller may have made up. A node without a proxy believes none of it.
 */
export function clientAddress({ remoteAddress, forwardedFor }: RequestOrigin, behindProxy: boolean): string {
  const forwarded = behindProxy ? lastAddress(forwardedFor) : undefined;
  return plainAddress(forwarded ?? remoteAddress ?? UNKNOWN);
}

/**
 * What one caller is limited under: an IPv4 address, or the first 64 bits of an IPv6 address, which is what a network
 * gives to one customer at least.
 */
export function addressKey(address: string): string {
  return isIPv6(address) ? network64(address) : address;
}

/** Undefined where the header's last entry is no address. */
function lastAddress(forwardedFor: string | undefined): string | undefined {
  const last = forwardedFor?.slice(forwardedFor.lastIndexOf(',') + 1).trim() ?? '';
  if (isIP(last) !== 0) return last;
  const [, ipv4, ipv6] = WITH_PORT.exec(last) ?? [];
  const address = ipv4 ?? ipv6 ?? '';
  return isIP(address) === 0 ? undefined : address;
}

/** An IPv4 address is the same one whichever kind of socket saw it; a zone says nothing to others. */
function plainAddress(address: string): string {
  const [plain = ''] = address.split('%');
  return MAPPED_IPV4.exec(plain)?.[1] ?? plain;
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

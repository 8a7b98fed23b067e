import { BlockList, isIP } from 'node:net';

/** An answer leads to an address that is not followed, or to too many of them. */
export class RedirectError extends Error {
  override readonly name = 'RedirectError';
}

const LOOPBACK = new Set(['127.0.0.1', '::1', '[::1]', 'localhost']);
const MAX_REDIRECTS = 5;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
/** This machine, private and link-local networks (RFC 6890): clouds serve an instance's credentials there. */
const NEAR = new BlockList();
for (const [address, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
] as const) {
  NEAR.addSubnet(address, prefix, 'ipv4');
}
for (const [address, prefix] of [
  ['::', 127],
  ['fc00::', 7],
  ['fe80::', 10],
] as const) {
  NEAR.addSubnet(address, prefix, 'ipv6');
}

/**
 * Requests an address, and those that its answers lead to (RFC 9110 §15.4), but never goes from HTTPS to HTTP, nor
 * between the public network and this machine or its own network. `ask` must not follow redirects itself. Throws
 * `RedirectError`, and what `ask` throws.
 */
export async function followRedirects(first: URL, ask: (url: URL) => Promise<Response>): Promise<Response> {
  let url = first;
  for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
    const response = await ask(url);
    const location = isRedirect(response.status) ? response.headers.get('location') : null;
    if (location === null) return response;
    await response.body?.cancel();
    const next = URL.parse(location, url);
    if (next === null || !mayLeadTo(first, next)) throw new RedirectError('leads to an address that is not followed');
    url = next;
  }
  throw new RedirectError('leads on and on');
}

/** Whether a status leads to another address. */
export function isRedirect(status: number): boolean {
  return REDIRECTS.has(status);
}

function mayLeadTo(from: URL, to: URL): boolean {
  const isSafe = to.protocol === 'https:' || (to.protocol === 'http:' && from.protocol === 'http:');
  return isSafe && isNear(from) === isNear(to);
}

/** Goes by the name or address as it is written: what a name resolves to is not known here. */
function isNear({ hostname }: URL): boolean {
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  const version = isIP(host);
  if (version === 0) return isLoopback(host) || host.endsWith('.localhost');
  return NEAR.check(host, version === 4 ? 'ipv4' : 'ipv6');
}

/** Whether what is sent there stays on this machine. */
export function isLoopback(host: string): boolean {
  return LOOPBACK.has(host);
}

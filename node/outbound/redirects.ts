import { isIP } from 'node:net';
import { mayReach } from './network-addresses.ts';

/** An answer leads to an address that is not followed, or to too many of them. */
export class RedirectError extends Error {
  override readonly name = 'RedirectError';
}

const LOOPBACK = new Set(['127.0.0.1', '::1', '[::1]', 'localhost']);
const MAX_REDIRECTS = 5;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

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

/**
 * Whether it is this machine, or an address that is not of the public network: clouds serve an instance's credentials
 * there. Goes by the name or address as it is written, dots at its end aside: what a name resolves to is not known here.
 */
function isNear({ hostname }: URL): boolean {
  const host = hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.+$/, '');
  return isIP(host) === 0 ? isLoopback(host) || host.endsWith('.localhost') : !mayReach(host, 'public');
}

/** Whether what is sent there stays on this machine. */
export function isLoopback(host: string): boolean {
  return LOOPBACK.has(host);
}

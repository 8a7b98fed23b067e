import type { LookupAddress } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import { HttpError } from './http-client.ts';
import { mayReach, type Reach } from './network-addresses.ts';

export interface PinnedPost {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly reach: Reach;
  /** From when the address is known to the head of the answer. In milliseconds. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Default: what DNS says. */
  readonly resolve?: Resolve;
}

/** Finds all addresses of a name. */
export type Resolve = (host: string) => Promise<readonly LookupAddress[]>;

/** Longest that a server of names may take to answer, and how often it is asked. In milliseconds. */
const NAMES = { timeout: 3_000, tries: 2 };

/**
 * By DNS alone: what the system's own look-up takes is a thread of those that the store works in, for as long as the
 * servers of a stranger's name like.
 */
async function resolveByDns(host: string): Promise<readonly LookupAddress[]> {
  if (host === 'localhost') return [{ address: '127.0.0.1', family: 4 }];
  const resolver = new Resolver(NAMES);
  const answers = await Promise.allSettled([
    resolver.resolve4(host).then((found) => found.map((address) => ({ address, family: 4 }))),
    resolver.resolve6(host).then((found) => found.map((address) => ({ address, family: 6 }))),
  ]);
  return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
}

/** The head of an answer: nothing of its body is read. */
export interface PostAnswer {
  readonly status: number;
  readonly retryAfter: string | null;
}

/**
 * Posts to an address that a stranger named. The name is resolved once; where any of its addresses may not be reached
 * nothing is sent, and the connection goes to one that was looked at, whatever the name says a moment later. A redirect
 * is an answer like any other. Throws `HttpError` `unreachable`, `late` and `aborted`.
 */
export async function pinnedPost(url: URL, post: PinnedPost): Promise<PostAnswer> {
  const { body, headers, timeoutMs, signal } = post;
  const address = await addressFor(url, post);
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
  const { promise, resolve: answered, reject } = Promise.withResolvers<PostAnswer>();
  const request = send(url, {
    method: 'POST',
    headers: { ...headers, 'content-length': String(Buffer.byteLength(body)) },
    lookup: (_host, { all }, callback) => {
      if (all === true) callback(null, [address]);
      else callback(null, address.address, address.family);
    },
    agent: false,
    signal,
  });
  const timer = setTimeout(() => {
    reject(new HttpError('late', `does not answer in ${timeoutMs} ms`));
    request.destroy();
  }, timeoutMs);
  request.on('response', (response) => {
    const retryAfter = response.headers['retry-after'] ?? null;
    answered({ status: response.statusCode ?? 0, retryAfter });
    response.destroy();
  });
  request.on('error', (error) => {
    if (signal.aborted) reject(new HttpError('aborted', 'was given up', { cause: error }));
    else reject(new HttpError('unreachable', error.message, { cause: error }));
  });
  request.end(body);
  return promise.finally(() => clearTimeout(timer));
}

/** The one address that is connected to: of a name whose addresses may all be reached. Throws `HttpError`. */
async function addressFor(
  { hostname }: URL,
  { reach, resolve = resolveByDns }: Pick<PinnedPost, 'reach' | 'resolve'>,
): Promise<LookupAddress> {
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  const family = isIP(host);
  const addresses = family === 0 ? await resolve(host) : [{ address: host, family }];
  const [first] = addresses;
  if (first !== undefined && addresses.every(({ address }) => mayReach(address, reach))) return first;
  throw new HttpError('unreachable', 'its address is not of the public network');
}

import type { IncomingMessage } from 'node:http';
import type { Context } from 'koa';
import type { Accounts } from '../accounts/accounts.ts';
import { homeOfKey, isMistyped, MAX_API_KEY_CHARACTERS } from '../accounts/key-text.ts';
import type { AuthenticatedKey } from '../accounts/known-keys.ts';
import { type Addresses, clientAddress } from '../accounts/limits/client-address.ts';
import { Problem } from './problem.ts';

/**
 * What a 401 asks for (RFC 9110 §11.6.1): an API key in its own header. It is no bearer token of RFC 6750, for a key in
 * `Authorization` is not read; and a scheme that browsers do not know, so that none asks its user for a password.
 */
export const KEY_CHALLENGE = 'ApiKey realm="meridian", header="x-api-key"';
export const UNAUTHENTICATED = 401;

/** Who sent the request's `x-api-key`, wherever it came from. Throws `Problem` 401. */
export async function authenticate(
  accounts: Pick<Accounts, 'authenticate'>,
  context: Context,
): Promise<AuthenticatedKey> {
  const apiKey = context.get('x-api-key');
  if (apiKey === '') throw new Problem('api-key-missing', 'Send your API key in the x-api-key header.');
  const found = apiKey.length > MAX_API_KEY_CHARACTERS ? 'unknown' : await accounts.authenticate(apiKey);
  if (found === 'unknown') throw unknownKey(apiKey);
  if (found === 'revoked') throw new Problem('api-key-revoked', 'The API key was revoked.');
  if (found === 'expired') throw new Problem('api-key-revoked', 'The API key has expired or was replaced.');
  return found;
}

/** Whether a key is taken from where a request came from, as `callerAddress` tells it. */
export function isTakenFrom({ addresses }: AuthenticatedKey, address: string): boolean {
  return addresses === null || addresses.admits(address);
}

/** The internet address that a request came from; `X-Forwarded-For` is believed of the operator's proxies alone. */
export function callerAddress({ headers, socket }: IncomingMessage, proxies: Addresses): string {
  const forwarded = headers['x-forwarded-for'];
  const forwardedFor = typeof forwarded === 'string' ? forwarded : forwarded?.join(',');
  return clientAddress({ remoteAddress: socket.remoteAddress, forwardedFor }, proxies);
}

function unknownKey(apiKey: string): Problem {
  if (isMistyped(apiKey)) return new Problem('api-key-invalid', 'The API key is mistyped: its checksum does not fit.');
  const home = homeOfKey(apiKey);
  if (home === undefined) return new Problem('api-key-invalid', 'The API key is not known here.');
  return new Problem('api-key-invalid', `The API key is not known here; it was made at ${home}.`, { extra: { home } });
}

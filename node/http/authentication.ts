import type { Context } from 'koa';
import type { Accounts } from '../accounts/accounts.ts';
import type { Caller } from '../accounts/caller.ts';
import { isMistyped, MAX_API_KEY_CHARACTERS } from '../accounts/key-text.ts';
import { clientAddress } from '../limits/client-address.ts';
import { Problem } from './problem.ts';

/**
 * Who sent the request's `x-api-key`. `address` is where the request came from: that of the connection unless a proxy
 * says otherwise. Throws `Problem` 401, or 403 where the key is not taken from that address.
 */
export async function authenticate(
  accounts: Pick<Accounts, 'authenticate'>,
  context: Context,
  address: string,
): Promise<Caller> {
  const apiKey = context.get('x-api-key');
  if (apiKey === '') throw new Problem('api-key-missing', 'Send your API key in the x-api-key header.');
  const found = apiKey.length > MAX_API_KEY_CHARACTERS ? 'unknown' : await accounts.authenticate(apiKey);
  if (found === 'unknown') throw new Problem('api-key-invalid', unknownDetail(apiKey));
  if (found === 'revoked') throw new Problem('api-key-revoked', 'The API key was revoked.');
  if (found === 'expired') throw new Problem('api-key-revoked', 'The API key has expired or was replaced.');
  if (found.addresses?.admits(address) === false) {
    throw new Problem('scope-forbidden', 'The API key is not taken from this address.');
  }
  return found.caller;
}

/** The internet address that a request came from; `X-Forwarded-For` is believed behind a proxy of ours alone. */
export function callerAddress({ req }: Context, behindProxy: boolean): string {
  const forwarded = req.headers['x-forwarded-for'];
  const forwardedFor = typeof forwarded === 'string' ? forwarded : forwarded?.join(',');
  return clientAddress({ remoteAddress: req.socket.remoteAddress, forwardedFor }, behindProxy);
}

function unknownDetail(apiKey: string): string {
  return isMistyped(apiKey) ? 'The API key is mistyped: its checksum does not fit.' : 'The API key is not known here.';
}

import type { Context } from 'koa';
import type { Accounts } from '../accounts/accounts.ts';
import type { Caller } from '../accounts/caller.ts';
import { SCOPES } from '../accounts/scopes.ts';
import { Problem } from './problem.ts';

/** Longer header values are no keys of ours and are not worth hashing. */
const MAX_API_KEY_CHARACTERS = 256;

/** Who sent the request's `x-api-key`. Throws `Problem` 401. */
export async function authenticate(accounts: Accounts, context: Context): Promise<Caller> {
  const apiKey = context.get('x-api-key');
  if (apiKey === '') throw new Problem('api-key-missing', 'Send your API key in the x-api-key header.');
  if (apiKey.length > MAX_API_KEY_CHARACTERS) throw new Problem('api-key-invalid', 'The API key is not known here.');
  const found = await accounts.authenticate(apiKey);
  if (found === 'unknown') throw new Problem('api-key-invalid', 'The API key is not known here.');
  if (found === 'revoked') throw new Problem('api-key-revoked', 'The API key was revoked.');
  return { account: found.account, key: { id: 'key', scopes: SCOPES, sources: null } };
}

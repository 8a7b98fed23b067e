import type { Context } from 'koa';
import type { Account, Accounts } from '../accounts/accounts.ts';
import { Problem } from './problem.ts';

/** Longer header values are no keys of ours and are not worth hashing. */
const MAX_API_KEY_CHARACTERS = 256;

/** The account of the request's `x-api-key`. Throws `Problem` 401. */
export async function authenticate(accounts: Accounts, context: Context): Promise<Account> {
  const apiKey = context.get('x-api-key');
  if (apiKey === '') throw new Problem('api-key-missing', 'Send your API key in the x-api-key header.');
  if (apiKey.length > MAX_API_KEY_CHARACTERS) throw new Problem('api-key-invalid', 'The API key is not known here.');
  const found = await accounts.authenticate(apiKey);
  if (found === 'unknown') throw new Problem('api-key-invalid', 'The API key is not known here.');
  if (found === 'revoked') throw new Problem('api-key-revoked', 'The API key was revoked.');
  return found.account;
}

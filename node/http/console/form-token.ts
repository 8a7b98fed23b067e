import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { formToken } from '../../accounts/sign-ins/sign-in-table.ts';
import type { SignedIn } from '../../accounts/sign-ins/sign-ins.ts';
import { Problem } from '../problem.ts';
import { isOwnForm } from '../sign-in-cookie.ts';

/**
 * Requires that a page of this very sign-in sent a form: the browser says that it came from this origin, and it has the
 * token that only such a page was given. Throws `Problem` 403.
 */
export function requireToken(request: IncomingMessage, typed: URLSearchParams, { secret }: SignedIn): void {
  const expected = Buffer.from(formToken(secret));
  const given = Buffer.from(typed.get('token') ?? '');
  const isSame = given.length === expected.length && timingSafeEqual(given, expected);
  if (isSame && isOwnForm(request)) return;
  throw new Problem('scope-forbidden', 'No page of this sign-in sent the form: open it again, and send it from there.');
}

import { type Caller, isWhole } from '../accounts/caller.ts';
import { Problem } from './problem.ts';

/**
 * Throws `Problem` 403 for a key that is limited to sources or to a period. `what` says, as a clause, what of the whole
 * account it asks for.
 */
export function requireWholeAccount({ key }: Pick<Caller, 'key'>, what: string): void {
  if (isWhole(key)) return;
  throw new Problem('scope-forbidden', `${what}; this key is limited to some sources or to a period.`);
}

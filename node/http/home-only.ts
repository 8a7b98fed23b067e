import type { NodeId } from '../../protocol/ids.ts';
import type { Caller } from '../accounts/caller.ts';
import { Problem } from './problem.ts';

/** Public address of a member, without a slash at its end; undefined of a node that is none. */
export type AddressOf = (node: NodeId) => string | undefined;

/** Throws `Problem` 409 `home-only` where the account's home is another node. */
export function requireHome({ home }: Caller, addressOf: AddressOf): void {
  if (home === undefined) return;
  throw new Problem('home-only', `That is done at ${home} alone, the home of the account.`, {
    extra: placeOf('home', home, addressOf),
  });
}

/** A node that a problem names, and where it is reached. */
export function placeOf<Name extends string>(name: Name, node: NodeId, addressOf: AddressOf) {
  return { [name]: node, baseUrl: addressOf(node) ?? null };
}

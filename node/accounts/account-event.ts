/** Who made a change: a key by its id, the operator over the node's socket, or a sign-up. */
export type Actor = { readonly key: string } | 'operator' | 'sign-up';

/** A change of an account or its keys, for the key-use audit log. */
export interface AccountEvent {
  readonly account: string;
  readonly action: 'account.created' | 'tier.changed' | 'key.created' | 'key.rotated' | 'key.revoked';
  /** The key's id (of a rotation the old one's), the new tier, or the account's id. */
  readonly subject: string;
  /** Id of the key that asked, or which door it came through. */
  readonly by: string;
}

export function nameOf(actor: Actor): string {
  return typeof actor === 'string' ? actor : actor.key;
}

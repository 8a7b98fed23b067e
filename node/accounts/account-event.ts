import type { Account } from './account.ts';
import type { ApiKey } from './api-key.ts';

/** Who made a change: a key by its id, the operator over the node's socket, or what came by mail. */
export type Actor = { readonly key: string } | 'operator' | MailedActor;

/** Whoever reads the mail of the account's address. */
type MailedActor = 'sign-up' | 'lost-key';

/** A change of an account or its keys, for the key-use audit log. */
export interface AccountEvent {
  readonly account: string;
  readonly action:
    | 'account.created'
    | 'tier.changed'
    | 'compression.changed'
    | 'key.created'
    | 'key.rotated'
    | 'key.revoked'
    /** The account's address was named in a sign-up, or for lost keys, and a mail went there. */
    | `${MailedActor}.asked`;
  /** The key's id (of a rotation the old one's), the new tier, `on` or `off`, or the account's id. */
  readonly subject: string;
  /** Id of the key that asked, or which door it came through. */
  readonly by: string;
}

export function accountCreated(account: string, by: 'operator' | 'sign-up'): AccountEvent {
  return { account, action: 'account.created', subject: account, by };
}

export function tierChanged({ id, tier }: Account): AccountEvent {
  return { account: id, action: 'tier.changed', subject: tier, by: 'operator' };
}

export function compressionChanged({ id, compressPayloads }: Account, by: 'operator' | 'sign-up'): AccountEvent {
  const subject = compressPayloads === true ? 'on' : 'off';
  return { account: id, action: 'compression.changed', subject, by };
}

export function keyEvent(action: AccountEvent['action'], { account, id }: ApiKey, actor: Actor): AccountEvent {
  return { account, action, subject: id, by: typeof actor === 'string' ? actor : actor.key };
}

export function askedFor(by: MailedActor, account: string): AccountEvent {
  return { account, action: `${by}.asked`, subject: account, by };
}

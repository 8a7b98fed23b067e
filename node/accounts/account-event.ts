import type { NodeId } from '../../protocol/ids.ts';
import type { Account } from './account.ts';
import type { ApiKey } from './api-key.ts';

/**
 * Who made a change: a key by its id, the operator over the node's socket, what came by mail, or the node by itself.
 */
export type Actor = { readonly key: string } | 'node' | 'operator' | MailedActor;

/** Anyone who reads the mail of the account's address. */
export type MailedActor = 'sign-up' | 'lost-key' | 'sign-in';

/** What a version of the account's statement says is changed by it. */
const STATED = [
  'account.created',
  'tier.changed',
  'nodes.changed',
  'statement.restated',
  'key.created',
  'key.rotated',
  'key.revoked',
] as const;

export type AccountAction =
  | (typeof STATED)[number]
  | 'compression.changed'
  | 'share.created'
  | 'share.revoked'
  | 'person.invited'
  | 'person.removed'
  | 'second-factor.added'
  | 'second-factor.removed'
  /** A code, or a passkey, was shown beside a mailed link. A sign-in follows where it was right. */
  | 'second-factor.shown'
  | 'recovery-codes.renewed'
  | 'sign-in.created'
  | 'sign-in.ended'
  /** The account's address was named in a sign-up, for lost keys, or to sign in, and a mail went there. */
  | `${MailedActor}.asked`;

/** A change of an account or its keys, for the key-use audit log. */
export interface AccountEvent {
  readonly account: string;
  readonly action: AccountAction;
  /**
   * The key's id (of a rotation the old one's), the share's, the sign-in's, the holder of second factors, the new tier, `on` or `off`, the nodes, a version, or the
   * account's id.
   */
  readonly subject: string;
  /** Id of the key that asked, or which door it came through. */
  readonly by: string;
}

/** Whether an event changes what is said of the account to other nodes. */
export function changesStatement({ action }: AccountEvent): boolean {
  const stated: readonly AccountAction[] = STATED;
  return stated.includes(action);
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

export function nodesChanged(account: string, nodes: readonly NodeId[], actor: Actor): AccountEvent {
  return { account, action: 'nodes.changed', subject: nodes.join(','), by: nameOf(actor) };
}

export function statementRestated(account: string, version: number): AccountEvent {
  return { account, action: 'statement.restated', subject: String(version), by: 'operator' };
}

export function keyEvent(action: AccountAction, { account, id }: ApiKey, actor: Actor): AccountEvent {
  return { account, action, subject: id, by: nameOf(actor) };
}

export function shareEvent(
  action: 'share.created' | 'share.revoked',
  { account, id }: { readonly account: string; readonly id: string },
  actor: Actor,
): AccountEvent {
  return { account, action, subject: id, by: nameOf(actor) };
}

export function personEvent(
  action: 'person.invited' | 'person.removed',
  { account, id }: { readonly account: string; readonly id: string },
  actor: Actor,
): AccountEvent {
  return { account, action, subject: id, by: nameOf(actor) };
}

export function secondFactorEvent(
  action: Extract<AccountAction, `recovery-codes.${string}` | `second-factor.${string}`>,
  { account, holder }: { readonly account: string; readonly holder: string },
  actor: Actor,
): AccountEvent {
  return { account, action, subject: holder, by: nameOf(actor) };
}

export function signInEvent(
  action: 'sign-in.created' | 'sign-in.ended',
  { account, id }: { readonly account: string; readonly id: string },
  actor: Actor,
): AccountEvent {
  return { account, action, subject: id, by: nameOf(actor) };
}

function nameOf(actor: Actor): string {
  return typeof actor === 'string' ? actor : actor.key;
}

export function askedFor(by: MailedActor, account: string): AccountEvent {
  return { account, action: `${by}.asked`, subject: account, by };
}

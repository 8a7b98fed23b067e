import type { NodeId } from '../../protocol/ids.ts';
import type { Account } from './account.ts';
import type { ApiKey } from './api-key.ts';

/** Who made a change: a key by its id, the operator over the node's socket, a sign-up, or the node by itself. */
export type Actor = { readonly key: string } | 'node' | 'operator' | 'sign-up';

export type AccountAction =
  | 'account.created'
  | 'tier.changed'
  | 'compression.changed'
  | 'nodes.changed'
  | 'statement.restated'
  | 'key.created'
  | 'key.rotated'
  | 'key.revoked';

/** A change of an account or its keys, for the key-use audit log. */
export interface AccountEvent {
  readonly account: string;
  readonly action: AccountAction;
  /** The key's id (of a rotation the old one's), the new tier, `on` or `off`, the nodes, a version, or the account's id. */
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

export function nodesChanged(account: string, nodes: readonly NodeId[], actor: Actor): AccountEvent {
  return { account, action: 'nodes.changed', subject: nodes.join(','), by: nameOf(actor) };
}

export function statementRestated(account: string, version: number): AccountEvent {
  return { account, action: 'statement.restated', subject: String(version), by: 'operator' };
}

export function keyEvent(action: AccountAction, { account, id }: ApiKey, actor: Actor): AccountEvent {
  return { account, action, subject: id, by: nameOf(actor) };
}

function nameOf(actor: Actor): string {
  return typeof actor === 'string' ? actor : actor.key;
}

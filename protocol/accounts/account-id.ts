import { isNodeId, type NodeId, NODE_ID_PATTERN } from '../ids.ts';

/** `acc_`, the id of the account's home node, and a name of its own: at most 64 characters in all. */
export const ACCOUNT_ID_PATTERN = `^acc_${NODE_ID_PATTERN.slice(1, -1)}_[a-z0-9][a-z0-9-]{0,54}$`;

const ACCOUNT_ID = new RegExp(ACCOUNT_ID_PATTERN);

export function isAccountId(text: string): boolean {
  return ACCOUNT_ID.test(text);
}

/** The node where an account lives, which its id names; undefined where the text is no account id. */
export function homeOf(account: string): NodeId | undefined {
  if (!isAccountId(account)) return undefined;
  const home = account.slice(4, account.indexOf('_', 4));
  return isNodeId(home) ? home : undefined;
}

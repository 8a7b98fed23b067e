import type { Accounts } from '../accounts/accounts.ts';
import type { OperatorRoute } from '../http/route.ts';
import { accountRoutes } from './account-routes.ts';

/** What an operator may ask of a running node. Reached through the socket in the node's home alone. */
export function operatorRoutes(accounts: Accounts): readonly OperatorRoute[] {
  return [...accountRoutes(accounts)];
}

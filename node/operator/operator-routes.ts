import type { Accounts } from '../accounts/accounts.ts';
import type { OperatorRoute } from '../http/route.ts';
import type { RegwatchRooms } from '../regwatch-rooms.ts';
import { accountRoutes } from './account-routes.ts';
import { listRoutes, type ListRoutesOptions } from './list-routes.ts';
import { regwatchRoutes } from './regwatch-routes.ts';

export interface OperatorRooms extends ListRoutesOptions, RegwatchRooms {
  readonly accounts: Accounts;
}

/** What an operator may ask of a running node. Reached through the socket in the node's home alone. */
export function operatorRoutes(rooms: OperatorRooms): readonly OperatorRoute[] {
  return [...accountRoutes(rooms.accounts), ...listRoutes(rooms), ...regwatchRoutes(rooms)];
}

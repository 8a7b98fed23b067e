import type { NodeContext } from './context.ts';
import type { OperatorRoute } from './http/route.ts';
import { backupRoutes } from './operator/backup-routes.ts';
import { accountRoutes } from './operator/account-routes.ts';
import { listRoutes } from './operator/list-routes.ts';
import { regwatchRoutes } from './operator/regwatch-routes.ts';
import { rosterRoutes } from './operator/roster-routes.ts';
import { screeningRoutes } from './operator/screening-routes.ts';
import { signingKeyRoutes } from './operator/signing-key-routes.ts';

/** What an operator may ask of a running node. Reached through the socket in the node's home alone. */
export function operatorRoutes(context: NodeContext): readonly OperatorRoute[] {
  const { accounts, config, keys, rosterVotes } = context;
  return [
    ...accountRoutes(accounts),
    ...backupRoutes({ ...context, ...context.governance, self: config.id }),
    ...listRoutes(context),
    ...regwatchRoutes(context),
    ...rosterRoutes({ ...context, self: config.id, currentRosters: keys.currentRosters, votes: rosterVotes }),
    ...screeningRoutes(context),
    ...signingKeyRoutes({ ...context, self: config.id }),
  ];
}

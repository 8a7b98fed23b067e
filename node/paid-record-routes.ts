import { AgentHistory } from './agents/agent-history.ts';
import type { NodeContext } from './context.ts';
import { agentRecordRoute } from './http/paid/agent-record.ts';
import { paidTieredAttestRoute } from './http/paid/tiered-attest.ts';
import { walletRecordRoute } from './http/paid/wallet-record.ts';
import type { Route } from './http/route.ts';
import type { PaidRooms } from './paid-routes.ts';

/** The paid endpoints that record decisions, and that sum up what is on record. */
export function paidRecordRoutes(context: NodeContext): ((rooms: PaidRooms) => Route)[] {
  const { agents, agentSigning, settlements, store, keys, config, now } = context;
  const baseUrl = keys.rosters.member(config.id)?.baseUrl ?? '';
  const history = new AgentHistory(store, config.id);
  return [
    (rooms) => paidTieredAttestRoute({ ...rooms, agents, agentSigning }),
    (rooms) => agentRecordRoute({ ...rooms, agents, history, baseUrl, now }),
    (rooms) => walletRecordRoute({ ...rooms, settlements, now }),
  ];
}

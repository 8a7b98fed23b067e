import type { NodeContext } from './context.ts';
import { paidTieredAttestRoute } from './http/paid/tiered-attest.ts';
import { walletRecordRoute } from './http/paid/wallet-record.ts';
import type { Route } from './http/route.ts';
import type { PaidRooms } from './paid-routes.ts';

/** The paid endpoints that record decisions, and that sum up what is on record. */
export function paidRecordRoutes(context: NodeContext): ((rooms: PaidRooms) => Route)[] {
  const { agents, agentSigning, settlements, now } = context;
  return [
    (rooms) => paidTieredAttestRoute({ ...rooms, agents, agentSigning }),
    (rooms) => walletRecordRoute({ ...rooms, settlements, now }),
  ];
}

import { AgentHistory } from './agents/agent-history.ts';
import type { NodeContext } from './context.ts';
import { agentRecordRoute } from './http/paid/agent-record.ts';
import { BATCHES, batchRoute } from './http/paid/batches.ts';
import { paidTieredAttestRoute } from './http/paid/tiered-attest.ts';
import { walletRecordRoute } from './http/paid/wallet-record.ts';
import type { Route } from './http/route.ts';
import type { PaidRooms } from './paid-routes.ts';
import { readGroup } from './records/record-reader.ts';
import type { Store } from './store/store.ts';
import type { AttestationRecord } from '../protocol/statement/record.ts';
import type { Sha256Hash } from '../protocol/hash.ts';

/** The paid endpoints that record decisions, and that sum up what is on record. */
export function paidRecordRoutes(context: NodeContext): ((rooms: PaidRooms) => Route)[] {
  const { agents, agentSigning, settlements, store, keys, config, now } = context;
  const baseUrl = keys.rosters.member(config.id)?.baseUrl ?? '';
  const history = new AgentHistory(store, config.id);
  return [
    (rooms) => paidTieredAttestRoute({ ...rooms, agents, agentSigning }),
    ...BATCHES.map(
      (service) => (rooms: PaidRooms) =>
        batchRoute({ ...rooms, groupRoot: (record) => rootOf(store, record) }, service),
    ),
    (rooms) => agentRecordRoute({ ...rooms, agents, history, baseUrl, now }),
    (rooms) => walletRecordRoute({ ...rooms, settlements, now }),
  ];
}

async function rootOf(store: Store, { node, seq }: AttestationRecord): Promise<Sha256Hash | null> {
  return (await readGroup(store, node, seq))?.group.root ?? null;
}

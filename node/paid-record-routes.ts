import type { Sha256Hash } from '../protocol/hash.ts';
import type { AttestationRecord } from '../protocol/chain/record.ts';
import { AgentHistory } from './agents/agent-history.ts';
import type { NodeContext } from './context.ts';
import { agentRecordRoute } from './http/paid/agent-record.ts';
import type { VerifyUrl } from './http/paid/attestation-tail.ts';
import { BATCHES, batchRoute } from './http/paid/batches.ts';
import { paidTieredAttestRoute } from './http/paid/tiered-attest.ts';
import { walletRecordRoute } from './http/paid/wallet-record.ts';
import type { Route } from './http/route.ts';
import { readGroup } from './records/record-reader.ts';
import type { Store } from './store/store.ts';

/** The paid endpoints that record decisions, and that sum up what is on record. */
export function paidRecordRoutes(context: NodeContext, verifyUrl: VerifyUrl): readonly Route[] {
  const { agents, agentSigning, baseUrl, settlements, store, config, now } = context;
  const history = new AgentHistory(store, config.id);
  const groupRoot = (record: AttestationRecord) => rootOf(store, record);
  return [
    paidTieredAttestRoute({ verifyUrl, agents, agentSigning }),
    ...BATCHES.map((service) => batchRoute({ verifyUrl, groupRoot }, service)),
    agentRecordRoute({ verifyUrl, agents, history, baseUrl, now }),
    walletRecordRoute({ verifyUrl, settlements, now }),
  ];
}

async function rootOf(store: Store, { node, seq }: AttestationRecord): Promise<Sha256Hash | null> {
  return (await readGroup(store, node, seq))?.group.root ?? null;
}

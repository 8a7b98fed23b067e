import { BATCH_SERVICES } from '../protocol/payments/prices.ts';
import { AgentHistory } from './governance/agents/agent-history.ts';
import type { NodeContext } from './context.ts';
import { agentRecordRoute } from './http/paid/agent-record.ts';
import type { VerifyUrl } from './http/paid/attestation-tail.ts';
import { batchRoute } from './http/paid/batches.ts';
import { paidTieredAttestRoute } from './http/paid/tiered-attest.ts';
import { walletRecordRoute } from './http/paid/wallet-record.ts';
import type { Route } from './http/route.ts';

/** The paid endpoints that record decisions, and that sum up what is on record. */
export function paidRecordRoutes(context: NodeContext, verifyUrl: VerifyUrl): readonly Route[] {
  const { agents, agentSigning, baseUrl, settlements, store, config, now } = context;
  const history = new AgentHistory(store, config.id);
  return [
    paidTieredAttestRoute({ verifyUrl, agents, agentSigning }),
    ...BATCH_SERVICES.map((service) => batchRoute({ verifyUrl }, service)),
    agentRecordRoute({ verifyUrl, agents, history, baseUrl, now }),
    walletRecordRoute({ verifyUrl, settlements, now }),
  ];
}

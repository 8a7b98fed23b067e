import { agentAddress } from '../../../protocol/agents/did.ts';
import {
  AGENT_RECORD_EXAMPLE,
  AGENT_RECORD_SCOPE,
  AgentRecordAnswerShape,
} from '../../../protocol/api/paid-agent-record.ts';
import type { JsonObject } from '../../../protocol/json/value.ts';
import { type Timestamp, timestampOf } from '../../../protocol/time.ts';
import type { AgentHistory, AgentHistoryReading } from '../../governance/agents/agent-history.ts';
import { lastDays } from '../../governance/agents/agent-tally-table.ts';
import type { Agents } from '../../governance/agents/agents.ts';
import { Problem } from '../problem.ts';
import type { PaidRoute } from '../route.ts';
import { AGENT_PARAMETER, agentParameter } from '../routes/agent-request.ts';
import { attestSummary, type VerifyUrl } from './attested-summary.ts';

export interface AgentRecordServices {
  readonly verifyUrl: VerifyUrl;
  readonly agents: Pick<Agents, 'find' | 'particulars'>;
  readonly history: Pick<AgentHistory, 'knows' | 'read'>;
  /** Public address of the node, without a slash at its end. */
  readonly baseUrl: () => string;
  readonly now: () => number;
}

const SOURCE = 'meridian/agent-record';

/** `GET /v1/x402/agent-record/:agentId` (api-rules §4.1): a summary of what is on record of an agent, attested. */
export function agentRecordRoute(services: AgentRecordServices): PaidRoute {
  return {
    method: 'GET',
    path: '/v1/x402/agent-record/:agentId',
    access: 'paid',
    service: 'agent-record',
    documentation: {
      summary: 'What is on record of an agent',
      description:
        'Counts, and no record itself: neither what was decided nor for whom. `scope` says what is counted. An id that ' +
        'no record names is 404 to who shows a payment, and nothing is charged. The payload of the record is the ' +
        'canonical JSON of all members but `success`, `salt`, `attestation` and `payment`; `salt` is that of its ' +
        '`payloadHash`.',
      params: AGENT_PARAMETER,
      answer: { shape: AgentRecordAnswerShape, example: AGENT_RECORD_EXAMPLE },
      problems: ['invalid-field', 'agent-not-found', 'queue-full'],
    },
    checkPath({ params }) {
      agentParameter(params);
    },
    async prepare({ params }) {
      const agentId = agentParameter(params);
      if (!(await services.history.knows(agentId))) throw notFound();
      const { verifyUrl } = services;
      return (paid) =>
        attestSummary(paid, { kind: 'agent_record', sourceId: SOURCE, verifyUrl }, async () => {
          const observedAt = timestampOf(services.now());
          return { members: await findOut(services, agentId, observedAt), claims: { agentId, observedAt } };
        });
    },
  };
}

async function findOut(
  { agents, history, baseUrl }: AgentRecordServices,
  agentId: string,
  asOf: Timestamp,
): Promise<JsonObject> {
  const reading = await history.read(agentId);
  if (reading === undefined) throw notFound();
  const agent = await agents.find(agentId);
  const particulars = agent === undefined ? null : await agents.particulars(agent);
  return {
    agentId,
    registered: agent !== undefined,
    did: agent === undefined ? null : agentAddress(baseUrl(), agentId).did,
    displayName: particulars?.displayName ?? null,
    jurisdiction: particulars?.jurisdiction ?? null,
    keyStatus: agent === undefined ? null : agent.deactivatedAt === null ? 'active' : 'deactivated',
    summary: summaryOf(reading, asOf),
    asOf,
    scope: AGENT_RECORD_SCOPE,
  };
}

function summaryOf({ tally, byStatus, batches }: AgentHistoryReading, asOf: Timestamp): JsonObject {
  const { count, firstSeen, lastSeen, kinds, incidents, overrides, asserted } = tally;
  return {
    firstSeen,
    lastSeen,
    attestationCount: count,
    last30Days: lastDays(tally, Date.parse(asOf)),
    byRecordKind: kinds,
    byStatus: { ...byStatus },
    incidents,
    overrides,
    batches: batches.count,
    batchesTruncated: batches.truncated,
    asserted,
  };
}

function notFound(): Problem {
  return new Problem('agent-not-found', 'No record on this node names an agent of this id.');
}

import { AGENT_EXAMPLES } from '../../../protocol/api/agent-examples.ts';
import { RegisterAgentAnswerShape, RegisterAgentRequestShape } from '../../../protocol/api/agents.ts';
import { givenMembers, payloadText } from '../../verification/attestation/payload-text.ts';
import { recordingRoute } from '../recording/recording.ts';
import { requireSmallMetadata } from '../recording/sizes.ts';
import type { KeyRoute, Route } from '../route.ts';
import { type AgentRouteServices, identityOf, keyMembers } from './agent-answers.ts';
import { deactivateAgentRoute, rotateAgentRoute } from './agent-changes.ts';
import { agentRoute, didDocumentRoute } from './agent-document.ts';
import { ownKey, requireAgentReach } from './agent-request.ts';

/** The registry of agents (SPEC §1.7, §2.6, DOMAIN §3.2). */
export function agentRoutes(services: AgentRouteServices): readonly Route[] {
  return [
    registerAgentRoute(services),
    agentRoute(services),
    rotateAgentRoute(services),
    deactivateAgentRoute(services),
    didDocumentRoute(services),
  ];
}

/** `POST /v1/agents/register`: gives an agent a DID and an ML-DSA-65 key, made here or brought along. */
function registerAgentRoute({ recorder, agents, baseUrl }: AgentRouteServices): KeyRoute {
  return recordingRoute(recorder, {
    path: '/v1/agents/register',
    scope: 'governance:write',
    shape: RegisterAgentRequestShape,
    documentation: {
      summary: 'Registers an agent',
      description:
        'Without `publicKey` the node makes a key, holds it encrypted and signs with it for this agent alone. With ' +
        '`publicKey` the agent holds its own key and shows it by `proofOfPossession`: a signature in the context ' +
        '`meridian/agent-proof/1` over the canonical JSON `{account, agent, keyId, node, replaces: null, ' +
        'type: "agent-proof", v: 1}`; a refusal carries the exact text in `sign.statement`. The same request again is ' +
        'answered with the first registration. An agent id is taken once on a node.',
      request: { shape: RegisterAgentRequestShape, example: AGENT_EXAMPLES.register.request },
      answer: { shape: RegisterAgentAnswerShape, example: AGENT_EXAMPLES.register.answer },
      problems: ['agent-signature-invalid', 'agent-exists'],
    },
    record(work, submit) {
      const { request, caller } = work;
      const { agentId, metadata, publicKey, proofOfPossession } = request;
      requireAgentReach(caller, agentId);
      if (metadata !== undefined) requireSmallMetadata(metadata);
      const own = ownKey(publicKey, proofOfPossession);
      const account = caller.account.id;
      return agents.register({ account, agentId, payload: payloadText(work), given: givenMembers(work) }, own, submit);
    },
    answer: ({ record, envelope: { success, attestationId, status, submittedAt, warnings } }) => ({
      success,
      ...identityOf(baseUrl(), record),
      ...keyMembers(record),
      createdAt: submittedAt,
      attestationId,
      status,
      warnings,
    }),
  });
}

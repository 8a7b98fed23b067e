import { type Agent, type AgentKey, currentKey } from '../../../protocol/agents/agent.ts';
import { agentAddress, didDocument } from '../../../protocol/agents/did.ts';
import { AGENT_EXAMPLES } from '../../../protocol/api/agent-examples.ts';
import {
  type AgentAnswer,
  AgentAnswerShape,
  DidDocumentShape,
  RegisterAgentAnswerShape,
  RegisterAgentRequestShape,
} from '../../../protocol/api/agents.ts';
import { objectId } from '../../../protocol/object-ids.ts';
import { givenMembers, payloadText } from '../../verification/attestation/payload-text.ts';
import { Problem } from '../problem.ts';
import { recordingRoute } from '../recording/recording.ts';
import { requireSmallMetadata } from '../recording/sizes.ts';
import type { FreeRoute, KeyRoute, Route } from '../route.ts';
import {
  type AgentRouteServices,
  ALGORITHM,
  deactivateAgentRoute,
  identityOf,
  KEY_ENCODING,
  keyMembers,
  rotateAgentRoute,
} from './agent-changes.ts';
import { AGENT_PARAMETER, agentParameter, ownKey, requireAgentReach } from './agent-request.ts';

const DID_TYPE = 'application/did+json';
/** How long a resolver may go without asking again for keys that may have been replaced. In seconds. */
const DOCUMENT_AGE_SECONDS = 60;

/** `GET /v1/agents/:agentId`: what the account registered, and every key that the agent has had. */
function agentRoute({ agents, baseUrl }: AgentRouteServices): KeyRoute {
  return {
    method: 'GET',
    path: '/v1/agents/:agentId',
    access: 'key',
    scope: 'proof:read',
    documentation: {
      summary: 'An agent of the account, with its keys',
      description: 'What stands in the payload of the registration is null once that payload is erased.',
      params: AGENT_PARAMETER,
      answer: { shape: AgentAnswerShape, example: AGENT_EXAMPLES.agent },
      problems: ['invalid-field', 'agent-not-found'],
    },
    async answer({ params }, caller) {
      const agentId = agentParameter(params);
      requireAgentReach(caller, agentId);
      const agent = await agents.require(caller.account.id, agentId);
      const particulars = await agents.particulars(agent);
      const { did, didDocumentUrl } = agentAddress(baseUrl(), agentId);
      const current = currentKey(agent);
      const body: AgentAnswer = {
        success: true,
        registrationId: objectId('registration', agent.registration.id),
        agentId,
        did,
        didDocumentUrl,
        agentStatus: agent.deactivatedAt === null ? 'active' : 'deactivated',
        displayName: particulars?.displayName ?? null,
        jurisdiction: particulars?.jurisdiction ?? null,
        permittedUses: particulars?.permittedUses ?? null,
        metadata: particulars?.metadata ?? null,
        payloadState: particulars === null ? 'erased' : 'available',
        custody: agent.custody,
        algorithm: ALGORITHM,
        publicKeyEncoding: KEY_ENCODING,
        currentKey: current === undefined ? null : keyAnswer(current),
        keys: agent.keys.map(keyAnswer),
        createdAt: agent.registration.submittedAt,
        deactivatedAt: agent.deactivatedAt,
        attestationId: agent.registration.id,
      };
      return { body };
    },
  };
}

/** `GET /agents/:agentId/did.json`: what the agent's `did:web` resolves to, for anyone. */
function didDocumentRoute({ agents, baseUrl }: AgentRouteServices): FreeRoute {
  return {
    method: 'GET',
    path: '/agents/:agentId/did.json',
    access: 'free',
    documentation: {
      summary: 'DID document of an agent',
      description:
        'Holds every key that the agent ever had, each from `validFrom` until it was `revoked`; `assertionMethod` ' +
        'names the one in force. The `kid` of a key is the `agentKeyId` of the records signed by it. A deactivated ' +
        'agent keeps its document, marked `deactivated`, without a key in force.',
      params: AGENT_PARAMETER,
      answer: { shape: DidDocumentShape, example: AGENT_EXAMPLES.document, contentType: DID_TYPE },
      problems: ['invalid-field', 'agent-not-found'],
    },
    async answer({ params }) {
      const agentId = agentParameter(params);
      const agent = await agents.find(agentId);
      if (agent === undefined) throw new Problem('agent-not-found', 'There is no agent of this id on this node.');
      return { body: documentText(agent, baseUrl()), headers: DOCUMENT_HEADERS };
    },
  };
}

/** Resolvers run in browsers too. */
const DOCUMENT_HEADERS = {
  'Content-Type': DID_TYPE,
  'Cache-Control': `public, max-age=${DOCUMENT_AGE_SECONDS}`,
  'Access-Control-Allow-Origin': '*',
};

function documentText(agent: Agent, baseUrl: string): string {
  return JSON.stringify(didDocument(agent, agentAddress(baseUrl, agent.agentId).did));
}

function keyAnswer({ keyId, publicKey, validFrom, validUntil, record }: AgentKey): AgentAnswer['keys'][number] {
  return { keyId, publicKey, validFrom, validUntil, attestationId: record };
}

/** The registry of agents (api-rules §2.6, §4.2). */
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

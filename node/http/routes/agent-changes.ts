import type { Agent } from '../../../protocol/agents/agent.ts';
import { agentAddress } from '../../../protocol/agents/did.ts';
import { AGENT_EXAMPLES } from '../../../protocol/api/agent-examples.ts';
import {
  DeactivateAgentAnswerShape,
  DeactivateAgentRequestShape,
  RotateAgentAnswerShape,
  RotateAgentRequestShape,
} from '../../../protocol/api/agents.ts';
import type { AttestationRecord } from '../../../protocol/chain/record.ts';
import type { JsonObject } from '../../../protocol/json/value.ts';
import { objectId } from '../../../protocol/object-ids.ts';
import type { Caller } from '../../accounts/caller.ts';
import type { AgentRequest, Agents, OwnRotation } from '../../governance/agents/agents.ts';
import { givenMembers, payloadText } from '../../verification/attestation/payload-text.ts';
import { fieldProblem, type Problem } from '../problem.ts';
import { type Recorder, type RecordingRequest, recordingRoute } from '../recording/recording.ts';
import type { KeyRoute } from '../route.ts';
import { AGENT_PARAMETER, agentParameter, ownKey, requireAgentReach } from './agent-request.ts';

/** What the endpoints around agents need. */
export interface AgentRouteServices {
  readonly recorder: Recorder;
  readonly agents: Agents;
  /** Public address of the node, without a slash at its end. */
  readonly baseUrl: () => string;
}

export const ALGORITHM = 'ML-DSA-65';
export const KEY_ENCODING = 'base64url';

/** Who an agent is, of the record that registered it or one that links to that. */
export function identityOf(baseUrl: string, { id, links, claims, sourceId }: AttestationRecord): JsonObject {
  const { agentId = sourceId } = claims;
  const { did, didDocumentUrl } = agentAddress(baseUrl, agentId);
  return { registrationId: objectId('registration', links.agent ?? id), agentId, did, didDocumentUrl };
}

/** The key that a record makes known. */
export function keyMembers({ claims }: AttestationRecord): JsonObject {
  return {
    publicKey: claims.agentPublicKey ?? null,
    publicKeyEncoding: KEY_ENCODING,
    keyId: claims.agentKeyId ?? null,
    algorithm: ALGORITHM,
    custody: claims.custody ?? null,
  };
}

interface RotationRequest {
  readonly publicKey?: string;
  readonly proofOfPossession?: string;
  readonly previousKeySignature?: string;
}

/**
 * `POST /v1/agents/:agentId/rotate`: puts another key into force. The DID stays, and the key before in its document.
 */
export function rotateAgentRoute({ recorder, agents, baseUrl }: AgentRouteServices): KeyRoute {
  return recordingRoute(recorder, {
    path: '/v1/agents/:agentId/rotate',
    scope: 'governance:write',
    shape: RotateAgentRequestShape,
    documentation: {
      summary: 'Puts another key of an agent into force',
      description:
        'The DID stays, and the key before stays in its document with the end of its time. Where the node holds the ' +
        'key, it makes the next one and destroys the private half of the one before. An agent that holds its own ' +
        'brings the next `publicKey`, and both keys sign the canonical JSON `{account, agent, keyId, node, replaces, ' +
        'type: "agent-proof", v: 1}` in the context `meridian/agent-proof/1`: `keyId` is that of the new key, ' +
        '`replaces` that of the one before. Where the private half of the key before is lost, an API key with the ' +
        'scope `keys:admin` may leave `previousKeySignature` out; `given` in the signed record shows that.',
      params: AGENT_PARAMETER,
      request: { shape: RotateAgentRequestShape, example: AGENT_EXAMPLES.rotate.request },
      answer: { shape: RotateAgentAnswerShape, example: AGENT_EXAMPLES.rotate.answer },
      problems: [
        'agent-signature-invalid',
        'scope-forbidden',
        'agent-not-found',
        'agent-inactive',
        'agent-keys-exhausted',
      ],
    },
    async record(work, submit) {
      const request = requestOf(work);
      const agent = await agents.require(request.account, request.agentId);
      const own = nextKey(agent, work.request, work.caller);
      return agents.rotate(request, own, (draft, replaced) => submit(draft, { previousKeyId: replaced.keyId }));
    },
    answer: ({ record, kept, envelope: { success, attestationId, status, submittedAt, warnings } }) => ({
      success,
      ...identityOf(baseUrl(), record),
      ...keyMembers(record),
      previousKeyId: kept.previousKeyId ?? null,
      rotatedAt: submittedAt,
      attestationId,
      status,
      warnings,
    }),
  });
}

/** `POST /v1/agents/:agentId/deactivate`: nothing is signed for the agent any more, ever. */
export function deactivateAgentRoute({ recorder, agents, baseUrl }: AgentRouteServices): KeyRoute {
  return recordingRoute(recorder, {
    path: '/v1/agents/:agentId/deactivate',
    scope: 'governance:write',
    shape: DeactivateAgentRequestShape,
    documentation: {
      summary: 'Ends an agent',
      description:
        'Nothing is signed for it any more, and its id is not given again. What it signed can still be checked: its ' +
        'DID document stays, with all its keys. A private key that the node holds is destroyed.',
      params: AGENT_PARAMETER,
      request: { shape: DeactivateAgentRequestShape, example: AGENT_EXAMPLES.deactivate.request },
      answer: { shape: DeactivateAgentAnswerShape, example: AGENT_EXAMPLES.deactivate.answer },
      problems: ['agent-not-found', 'agent-inactive'],
    },
    async record(work, submit) {
      return agents.deactivate(requestOf(work), submit);
    },
    answer: ({ record, envelope: { success, attestationId, status, submittedAt, warnings } }) => ({
      success,
      ...identityOf(baseUrl(), record),
      agentStatus: 'deactivated',
      deactivatedAt: submittedAt,
      keyId: record.claims.agentKeyId ?? null,
      attestationId,
      status,
      warnings,
    }),
  });
}

function requestOf(work: RecordingRequest<unknown>): AgentRequest {
  const agentId = agentParameter(work.params);
  requireAgentReach(work.caller, agentId);
  return { account: work.caller.account.id, agentId, payload: payloadText(work), given: givenMembers(work) };
}

/** Custody stays what it was at the registration. Throws `Problem` 400 where the request does not go with it. */
function nextKey(agent: Agent, asked: RotationRequest, { key }: Caller): OwnRotation | null {
  const own = ownKey(asked.publicKey, asked.proofOfPossession);
  if (agent.custody === 'service') {
    if (own === null && asked.previousKeySignature === undefined) return null;
    const field = own === null ? 'previousKeySignature' : 'publicKey';
    throw refused('invalid-field', field, 'is not taken: the node holds the keys of this agent');
  }
  if (own === null) throw refused('missing-field', 'publicKey', 'is required: the agent holds its own keys');
  if (agent.keys.some(({ publicKey }) => publicKey === own.publicKey)) {
    throw refused('invalid-field', 'publicKey', 'is, or was, a key of this agent');
  }
  return { ...own, consent: asked.previousKeySignature, mayReplaceLost: key.scopes.includes('keys:admin') };
}

function refused(code: 'invalid-field' | 'missing-field', field: string, message: string): Problem {
  const reason = code === 'missing-field' ? 'required' : 'value';
  return fieldProblem(field, reason, message, code);
}

import type { Agent, AgentKey } from '../../../protocol/agents/agent.ts';
import type { Sha256Hash } from '../../../protocol/hash.ts';
import type { Base64url } from '../../../protocol/shapes.ts';
import type { Custody } from '../../../protocol/statement/vocabulary.ts';
import type { Draft } from '../../intake/draft.ts';
import type { Operation } from '../../store/operation.ts';

/** What a caller asks about an agent, its form already checked. */
export interface AgentRequest {
  readonly account: string;
  readonly agentId: string;
  /** RFC 8785 text of all of the request. */
  readonly payload: string;
  /** Names of the documented members that were given. */
  readonly given: readonly string[];
}

/** A key that a record makes known. */
export interface NewKey {
  readonly keyId: Sha256Hash;
  readonly publicKey: Base64url;
  readonly custody: Custody;
  /** Rows that keep its private half, where the node holds it. */
  readonly rows: readonly Operation[];
}

/** The draft of a registration. */
export function registrationDraft(request: AgentRequest, key: NewKey): Draft {
  return {
    kind: 'agent_registration',
    ...sharedParts(request),
    claims: { channel: 'direct', ...namesOf(request), ...claimsOfKey(key) },
    links: {},
    besides: () => key.rows,
  };
}

/** The draft of a rotation. `ended`: rows whose deletion destroys the private half of the key before. */
export function rotationDraft(
  request: AgentRequest,
  { registration }: Agent,
  key: NewKey,
  ended: readonly Operation[],
): Draft {
  return {
    kind: 'key_event',
    ...sharedParts(request),
    claims: { channel: 'direct', keyEvent: 'agent-rotated', ...namesOf(request), ...claimsOfKey(key) },
    links: { agent: registration.id },
    besides: () => [...key.rows, ...ended],
  };
}

/** The draft of a deactivation. It names the agent's last key and makes none known. */
export function deactivationDraft(
  request: AgentRequest,
  { registration, custody }: Agent,
  last: AgentKey,
  ended: readonly Operation[],
): Draft {
  return {
    kind: 'key_event',
    ...sharedParts(request),
    claims: {
      channel: 'direct',
      keyEvent: 'agent-deactivated',
      ...namesOf(request),
      agentKeyId: last.keyId,
      custody,
    },
    links: { agent: registration.id },
    besides: () => ended,
  };
}

/** What is recorded about an agent stands under the agent's own id as its source. */
function sharedParts({ account, agentId, payload }: AgentRequest): Pick<Draft, 'account' | 'sourceId' | 'payload'> {
  return { account, sourceId: agentId, payload };
}

function namesOf({ agentId, given }: AgentRequest): { agentId: string; given: string[] } {
  return { agentId, given: [...given] };
}

function claimsOfKey({ keyId, publicKey, custody }: NewKey) {
  return { agentKeyId: keyId, agentPublicKey: publicKey, custody };
}

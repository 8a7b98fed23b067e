import { agentAddress } from '../../../protocol/agents/did.ts';
import type { JsonObject } from '../../../protocol/json/value.ts';
import { objectId } from '../../../protocol/object-ids.ts';
import type { AttestationRecord } from '../../../protocol/chain/record.ts';
import type { Agents } from '../../governance/agents/agents.ts';
import type { Recorder } from '../recording/recorder.ts';

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

import { decodeBase64url, utf8 } from '../bytes.ts';
import { hashParts, type Sha256Hash } from '../hash.ts';
import { AGENT_CONTEXT, agentStatementText } from '../statement/agent-statement.ts';
import type { AttestationRecord } from '../chain/record.ts';
import { PUBLIC_KEY_BYTES, SIGNATURE_BYTES, type Suite } from '../suite/suite.ts';
import { type LinkedRecord, speakingFor } from './linked-record.ts';

/** `unknown-key`: the record that made the agent's key known is not at hand, or does not hold. */
export const AGENT_SIGNATURES = ['valid', 'invalid', 'unknown-key'] as const;
export type AgentSignature = (typeof AGENT_SIGNATURES)[number];

/** Who a record claims to be made for, and whether that agent's own signature is beside the node's. */
export interface AgentVerdict {
  readonly agentId: string | null;
  readonly keyId: Sha256Hash | null;
  readonly signature: AgentSignature;
}

/**
 * The agent's own signature over the `agent` statement, which is derived from the record alone. Null where the record
 * carries none. Only `valid` makes a record the agent's: it says nothing against the node's own signature if it is not.
 * The key is that of the registration or rotation that the record links to, of the same account and agent.
 */
export function checkAgent(
  suite: Suite,
  record: AttestationRecord,
  linked: readonly LinkedRecord[],
): AgentVerdict | null {
  const { agentId, agentKeyId: keyId, agentSignature, dataHash } = record.claims;
  if (agentSignature === undefined) return null;
  const as = (signature: AgentSignature) => ({ agentId: agentId ?? null, keyId: keyId ?? null, signature });
  const signature = bytesOf(agentSignature, SIGNATURE_BYTES);
  if (signature === null || agentId === undefined || keyId === undefined || dataHash === undefined) {
    return as('invalid');
  }
  const publicKey = publicKeyOf(suite, record, speakingFor(record, linked));
  if (publicKey === null) return as('unknown-key');
  const text = agentStatementText({ agent: agentId, dataHash, keyId, sourceId: record.sourceId });
  return as(suite.verify(publicKey, utf8(text), signature, AGENT_CONTEXT) ? 'valid' : 'invalid');
}

/** Whether a record made the key known by which the agent of `subject` signs: its registration or a rotation. */
export function isKeyRecordFor(subject: AttestationRecord, record: AttestationRecord): boolean {
  const { kind, claims } = record;
  return (
    record.id === subject.links.agent &&
    (kind === 'agent_registration' || (kind === 'key_event' && claims.keyEvent === 'agent-rotated')) &&
    record.account === subject.account &&
    claims.agentId === subject.claims.agentId &&
    claims.agentKeyId === subject.claims.agentKeyId
  );
}

/** The key whose hash the record names, wherever one of the others makes it known. */
function publicKeyOf(
  suite: Suite,
  subject: AttestationRecord,
  others: readonly AttestationRecord[],
): Uint8Array | null {
  for (const { claims } of others.filter((other) => isKeyRecordFor(subject, other))) {
    const key = claims.agentPublicKey === undefined ? null : bytesOf(claims.agentPublicKey, PUBLIC_KEY_BYTES);
    if (key !== null && hashParts(suite, key) === claims.agentKeyId) return key;
  }
  return null;
}

/** Bytes of base64url of exactly this length, else null. */
function bytesOf(text: string, length: number): Uint8Array | null {
  try {
    const bytes = decodeBase64url(text);
    return bytes.length === length ? bytes : null;
  } catch {
    return null;
  }
}

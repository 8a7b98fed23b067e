import type { Sha256Hash } from '../hash.ts';
import type { RecordId } from '../ids.ts';
import type { Base64url } from '../shapes.ts';
import type { AttestationRecord } from '../chain/record.ts';
import type { Custody } from '../statement/vocabulary.ts';
import type { Timestamp } from '../time.ts';

/** A key that an agent signs by, or did. */
export interface AgentKey {
  readonly keyId: Sha256Hash;
  readonly publicKey: Base64url;
  readonly validFrom: Timestamp;
  /** When it was replaced or the agent deactivated; null while it is in force. */
  readonly validUntil: Timestamp | null;
  /** The registration or rotation that made it known. */
  readonly record: RecordId;
}

/** An agent as its signed records show it. */
export interface Agent {
  readonly agentId: string;
  readonly account: string;
  readonly custody: Custody;
  readonly registration: AttestationRecord;
  /** All it ever had, oldest first; at least one. */
  readonly keys: readonly AgentKey[];
  readonly deactivatedAt: Timestamp | null;
}

/** Keys that one agent can have one after another: all of them stay in its DID document. */
export const MAX_AGENT_KEYS = 128;

/**
 * The agent that a registration and its key events make, the events in the order in which its node made them; undefined
 * where the first record is no registration. Records of another node, account or agent say nothing about it, and
 * nothing that comes after a deactivation does.
 */
export function agentOf(registration: AttestationRecord, events: readonly AttestationRecord[]): Agent | undefined {
  const { claims } = registration;
  const first = keyOf(registration);
  if (registration.kind !== 'agent_registration' || claims.agentId === undefined || claims.custody === undefined) {
    return undefined;
  }
  if (first === undefined) return undefined;
  const keys = [first];
  let deactivatedAt: Timestamp | null = null;
  for (const event of events) {
    if (deactivatedAt !== null) break;
    if (!isEventOf(registration, event)) continue;
    if (event.claims.keyEvent === 'agent-deactivated') deactivatedAt = event.submittedAt;
    const next = keyOf(event);
    if (event.claims.keyEvent !== 'agent-rotated' || next === undefined) continue;
    endLast(keys, next.validFrom);
    keys.push(next);
  }
  if (deactivatedAt !== null) endLast(keys, deactivatedAt);
  const { account } = registration;
  return { agentId: claims.agentId, account, custody: claims.custody, registration, keys, deactivatedAt };
}

/** The key in force; undefined once the agent is deactivated. */
export function currentKey({ keys }: Agent): AgentKey | undefined {
  const last = keys.at(-1);
  return last?.validUntil === null ? last : undefined;
}

function isEventOf(registration: AttestationRecord, event: AttestationRecord): boolean {
  return (
    event.kind === 'key_event' &&
    event.links.agent === registration.id &&
    event.node === registration.node &&
    event.account === registration.account &&
    event.claims.agentId === registration.claims.agentId
  );
}

function keyOf({ id, submittedAt, claims }: AttestationRecord): AgentKey | undefined {
  const { agentKeyId: keyId, agentPublicKey: publicKey } = claims;
  if (keyId === undefined || publicKey === undefined) return undefined;
  return { keyId, publicKey, validFrom: submittedAt, validUntil: null, record: id };
}

function endLast(keys: AgentKey[], at: Timestamp): void {
  const last = keys.at(-1);
  if (last !== undefined) keys[keys.length - 1] = { ...last, validUntil: at };
}

import { hash } from 'node:crypto';
import { type Agent, agentOf, MAX_AGENT_KEYS } from '../../../protocol/agents/agent.ts';
import { encodeHex } from '../../../protocol/bytes.ts';
import type { AttestationRecord } from '../../../protocol/chain/record.ts';
import { hashBytes, type Sha256Hash } from '../../../protocol/hash.ts';
import { isRecordId, nodeOfRecord, type RecordId, recordId } from '../../../protocol/ids.ts';
import { linkTable } from '../../records/link-tables.ts';
import type { Projection } from '../../records/projection.ts';
import { readRecord, RecordDamagedError } from '../../records/record-reader.ts';
import type { Operation } from '../../store/operation.ts';
import type { Store } from '../../store/store.ts';
import { bytesCodec, Table, textCodec } from '../../store/table.ts';

/** (hash of the agent's id) → id of the record that registered it: on its node, an agent's id is taken once. */
export const agentTable = new Table('agent', textCodec);
export const agentProjection: Projection = { table: agentTable, rowsOf: registrationRows };

/**
 * (hash of the agent's id, key id in hex) → encrypted seed of the key in force, of an agent whose key the node holds.
 * Deleting the row ends the key.
 */
export const agentKeyTable = new Table('agent-key', bytesCodec);

/** An agent's id as a key part: any text becomes 64 hex digits. */
export function agentPart(agentId: string): string {
  return hash('sha256', agentId, 'hex');
}

/** Parts of the row that holds an agent's key. */
export function agentKeyParts(agentId: string, keyId: Sha256Hash): [agent: string, key: string] {
  return [agentPart(agentId), encodeHex(hashBytes(keyId))];
}

export async function registrationOf(store: Store, agentId: string): Promise<RecordId | undefined> {
  const id = await agentTable.get(store, agentPart(agentId));
  return id === undefined ? undefined : recordId(id);
}

function registrationRows({ id, kind, claims: { agentId } }: AttestationRecord): readonly Operation[] {
  return kind === 'agent_registration' && agentId !== undefined ? [agentTable.put([agentPart(agentId)], id)] : [];
}

/** The agent that a registration made, as its node's records show it. Throws `RecordDamagedError`. */
export async function readAgent(store: Store, registration: RecordId): Promise<Agent | undefined> {
  return agentOf(await requireRecord(store, registration), await readEvents(store, registration));
}

/** Throws `RecordDamagedError` where there is no such record, or it does not read. */
export async function requireRecord(store: Store, id: RecordId): Promise<AttestationRecord> {
  const stored = await readRecord(store, id);
  if (stored === undefined) throw new RecordDamagedError(`the stored record of ${id} is missing`);
  return stored.record;
}

/** At most one a further key and the deactivation. Other nodes' records are none of them, whatever they link to. */
async function readEvents(store: Store, registration: RecordId): Promise<AttestationRecord[]> {
  const ids: RecordId[] = [];
  const prefix = [registration, 'agent', 'key_event', nodeOfRecord(registration)];
  for await (const [, id] of linkTable.under(store, prefix, { limit: MAX_AGENT_KEYS })) {
    if (isRecordId(id)) ids.push(id);
  }
  return Promise.all(ids.map((id) => requireRecord(store, id)));
}

import { type Agent, agentOf, MAX_AGENT_KEYS } from '../../../protocol/agents/agent.ts';
import { isRecordId, nodeOfRecord, type RecordId } from '../../../protocol/ids.ts';
import type { AttestationRecord } from '../../../protocol/chain/record.ts';
import { linkTable } from '../../records/link-tables.ts';
import { readRecord, RecordDamagedError } from '../../records/record-reader.ts';
import type { Store } from '../../store/store.ts';

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

import { isRecordId, nodeOfRecord } from '../../protocol/ids.ts';
import { payloadKeyTable, payloadTable } from '../payload/payload-tables.ts';
import { paymentDraftTable } from '../payments/payment-tables.ts';
import { preparedRow } from '../payments/prepared-rows.ts';
import { recordIndex } from '../records/record-tables.ts';
import type { Check } from './check.ts';
import { countRows, readRows } from './rows.ts';

export const PAYLOAD_TABLES = [payloadTable, payloadKeyTable];

/**
 * The keys of the payloads of the node's own records, of which `found` belong to records: any other is of one that is
 * prepared. A payload without key was erased, which is no damage and cannot be told from a lost key; a group without any
 * payload or key was taken back from peers, who never had them.
 */
export async function checkPayloadKeys(check: Check, found: number): Promise<void> {
  if ((await countRows(check, payloadKeyTable)) === found) return;
  const prepared = await preparedIds(check);
  for await (const { key, parts } of readRows(check, payloadKeyTable)) {
    const id = parts.join('/');
    if (prepared.has(id) || (await isOwnRecord(check, id))) continue;
    check.report.problem(payloadKeyTable.name, key, 'belongs to no record of this node');
  }
}

/** Ids of records that are prepared for payments, and not made yet. */
async function preparedIds(check: Check): Promise<ReadonlySet<string>> {
  const ids = new Set<string>();
  for await (const { value } of readRows(check, paymentDraftTable)) {
    // A row that does not read is reported with the payments.
    if (value !== undefined) ids.add(idOf(value));
  }
  return ids;
}

async function isOwnRecord({ store, own }: Check, id: string): Promise<boolean> {
  if (!isRecordId(id) || nodeOfRecord(id) !== own) return false;
  return (await store.get(recordIndex.key(id))) !== undefined;
}

function idOf(bytes: Uint8Array): string {
  try {
    return preparedRow(bytes).id;
  } catch {
    return '';
  }
}

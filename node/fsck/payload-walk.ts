import type { NodeId } from '../../protocol/ids.ts';
import { payloadKeyTable, preparedKeyTable } from '../records/payload/payload-keys.ts';
import { payloadTable } from '../records/payload/payload-tables.ts';
import { paymentDraftTable } from '../payments/payment-tables.ts';
import { preparedRow } from '../payments/prepared-rows.ts';
import type { Check } from './check.ts';
import { countRows, distinctParts, readRows } from './rows.ts';

export const PAYLOAD_TABLES = [payloadTable, payloadKeyTable, preparedKeyTable];

/** Keys of payloads that no record of this node has: of other nodes, and of records that are prepared. */
export async function checkPayloadKeys(check: Check, own: NodeId): Promise<void> {
  await findForeign(check, own);
  if ((await countRows(check, preparedKeyTable)) === 0) return;
  const prepared = await preparedIds(check);
  for await (const { key, parts } of readRows(check, preparedKeyTable)) {
    if (prepared.has(parts.join('/'))) continue;
    check.report.problem(preparedKeyTable.name, key, 'belongs to no record that is prepared');
  }
}

/** Only this node's records have keys here. */
async function findForeign({ store, report }: Check, own: NodeId): Promise<void> {
  for await (const node of distinctParts(store, payloadKeyTable.name)) {
    if (node !== own) report.problem(payloadKeyTable.name, `${payloadKeyTable.name}/${node}`, 'is of another node');
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

function idOf(bytes: Uint8Array): string {
  try {
    return preparedRow(bytes).id;
  } catch {
    return '';
  }
}

import { decodeBase64url } from '../../../protocol/bytes.ts';
import type { AttestationRecord } from '../../../protocol/chain/record.ts';
import type { NodeId, RecordId } from '../../../protocol/ids.ts';
import type { OpenedPayload } from '../../records/payload/payload-cipher.ts';
import { readRecord } from '../../records/record-reader.ts';
import type { Reads } from '../../store/store.ts';
import { namedBy } from './account-versions.ts';
import { heldStatementTable } from './held-statement-tables.ts';

export interface StatementPayloadsOptions {
  readonly self: NodeId;
  readonly store: Reads;
  /** Salt and payload of an own record. */
  readonly ownPayload: (record: AttestationRecord) => Promise<OpenedPayload | 'erased'>;
}

/** Salt and payload of another node's version, as it is held here; undefined where it is not. */
export async function heldPayload(
  store: Reads,
  { id, account, node, seq }: AttestationRecord,
): Promise<OpenedPayload | undefined> {
  const row = await heldStatementTable.get(store, node, account, seq);
  return row?.id === id ? { salt: decodeBase64url(row.salt), text: row.text } : undefined;
}

/**
 * What a member is given of the payload of an `account` record, of this node or of another whose version is held here:
 * the nodes that the record names have it, and `unnamed` members never. Undefined of a record of another kind, or none.
 */
export async function statementFor(
  { self, store, ownPayload }: StatementPayloadsOptions,
  id: RecordId,
  member: NodeId,
): Promise<OpenedPayload | 'erased' | 'unknown' | 'unnamed' | undefined> {
  const record = (await readRecord(store, id))?.record;
  if (record?.kind !== 'account') return undefined;
  if (!namedBy(record).includes(member)) return 'unnamed';
  return record.node === self ? ownPayload(record) : ((await heldPayload(store, record)) ?? 'unknown');
}

import { isAccountId } from '../../protocol/accounts/account-id.ts';
import type { KeyId } from '../../protocol/accounts/key-id.ts';
import { refusedKeyOf } from '../../protocol/accounts/refused-key.ts';
import type { AttestationRecord, WrittenRecord } from '../../protocol/chain/record.ts';
import { type NodeId, type RecordId, recordId } from '../../protocol/ids.ts';
import type { Group } from '../../protocol/statement/group.ts';
import { type SignedStatement, SignedStatementShape } from '../../protocol/statement/statement.ts';
import { compressedTextCodec } from '../store/compressed-text.ts';
import type { Operation } from '../store/operation.ts';
import type { Reads } from '../store/store.ts';
import { bytesCodec, jsonTable, numberCodec, Table, textCodec } from '../store/table.ts';
import { accountRecordProjection } from './account-record-table.ts';
import { linkedOperations, linkProjection } from './link-tables.ts';
import { placedHoldProjection } from './placed-hold-table.ts';
import type { Projection } from './projection.ts';
import { joinTexts } from './record-lines.ts';

/**
 * (account, key, node that refused it, seq) → id of the record. Of the records of every node, as they are signed:
 * whether a node has a say in the account is for anyone who reads it.
 */
const refusedKeyTable = new Table('refused-key', textCodec);

const refusedKeyProjection: Projection = {
  table: refusedKeyTable,
  rowsOf(record: AttestationRecord): Operation[] {
    const key = refusedKeyOf(record);
    const { account, id, node, seq } = record;
    return key === undefined || !isAccountId(account) ? [] : [refusedKeyTable.put([account, key, node, seq], id)];
  },
};

/**
 * Id of the record by which the first of these nodes that did so refused a key of an account; undefined where none did.
 */
export async function refusalOf(
  store: Reads,
  account: string,
  key: KeyId,
  nodes: Iterable<NodeId>,
): Promise<RecordId | undefined> {
  for (const node of nodes) {
    const row = await refusedKeyTable.last(store, [account, key, node]);
    if (row !== undefined) return recordId(row[1]);
  }
  return undefined;
}

/** Records of one row of a body: few enough that reading one record stays cheap, enough to keep the index small. */
export const BODY_ROW_RECORDS = 64;

/** (node, first seq) → canonical records, each two lines (`joinTexts`), compressed together. See `openedBodyTable`. */
export const bodyTable = new Table('body', compressedTextCodec);
/** (record id) → seq. */
export const recordIndex = new Table('record', numberCodec);
/** (node, first seq) → the signed group statement that is the receipt of the records from there on. */
export const groupTable = jsonTable('group', SignedStatementShape);

/** What every node derives from the records of every node. */
export const COMMON_PROJECTIONS: readonly Projection[] = [
  linkProjection,
  accountRecordProjection,
  refusedKeyProjection,
  placedHoldProjection,
];

/** The rows that follow from a record of whichever node. */
export function projectedRows(record: AttestationRecord): readonly Operation[] {
  return COMMON_PROJECTIONS.flatMap(({ rowsOf }) => rowsOf(record));
}

/** A group of records of any node, with the statement that signs them: what intake makes and catch-up brings. */
export interface SignedGroup {
  readonly group: Group;
  readonly signed: SignedStatement;
  /** In order of seq, from `group.first`. */
  readonly records: readonly WrittenRecord[];
  /** Body rows of these records that are compressed already, by the seq of their first record. Default: none. */
  readonly bodies?: ReadonlyMap<number, Uint8Array>;
}

/** `bodyTable`, its values as they are stored. */
export const storedBodyTable = bodyTable.by(bytesCodec);

/** First record of the body row that holds a group's record `seq`. */
export function bodyRowFirst({ first }: Group, seq: number): number {
  return seq - ((seq - first) % BODY_ROW_RECORDS);
}

/** All rows of a group, for one atomic write. */
export function groupOperations(group: SignedGroup): Operation[] {
  return [...groupOperationParts(group)].flat();
}

/** The same in parts of a bounded size: for anyone who puts a write together in slices. */
export function* groupOperationParts({ group, signed, records, bodies }: SignedGroup): Generator<readonly Operation[]> {
  yield [groupTable.put([group.node, group.first], signed)];
  for (let at = 0; at < records.length; at += BODY_ROW_RECORDS) {
    const row = records.slice(at, at + BODY_ROW_RECORDS);
    const place = [group.node, group.first + at] as const;
    const stored = bodies?.get(group.first + at);
    const operations = [
      stored === undefined
        ? bodyTable.put(place, joinTexts(row.map(({ texts }) => texts)))
        : storedBodyTable.put(place, stored),
    ];
    row.forEach(({ record }, i) => {
      const index = recordIndex.put([record.id], group.first + at + i);
      operations.push(index, ...projectedRows(record), ...linkedOperations(record));
    });
    yield operations;
  }
}

import type { Group } from '../../protocol/statement/group.ts';
import type { AttestationRecord, WrittenRecord } from '../../protocol/chain/record.ts';
import type { SignedStatement } from '../../protocol/statement/statement.ts';
import { compressedTextCodec } from '../store/compressed-text.ts';
import { statementCodec } from '../store/statement-codec.ts';
import type { Operation } from '../store/operation.ts';
import { numberCodec, Table } from '../store/table.ts';
import { accountRecordProjection } from './account-record-table.ts';
import { linkProjection } from './link-tables.ts';
import type { Projection } from './projection.ts';
import { refusedKeyProjection } from './refused-key-table.ts';
import { joinTexts } from './record-lines.ts';

/** Records of one row of a body: few enough that reading one record stays cheap, enough to keep the index small. */
const BODY_ROW_RECORDS = 64;

/** (node, first seq) → canonical records, each two lines (`joinTexts`), compressed together. See `openedBodyTable`. */
export const bodyTable = new Table('body', compressedTextCodec);
/** (record id) → seq. */
export const recordIndex = new Table('record', numberCodec);
/** (node, first seq) → the signed group statement that is the receipt of the records from there on. */
export const groupTable = new Table('group', statementCodec);

/** What every node derives from the records of every node. */
export const COMMON_PROJECTIONS: readonly Projection[] = [
  linkProjection,
  accountRecordProjection,
  refusedKeyProjection,
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
}

/** First record of the body row that holds a group's record `seq`. */
export function bodyRowFirst({ first }: Group, seq: number): number {
  return seq - ((seq - first) % BODY_ROW_RECORDS);
}

/** All rows of a group, for one atomic write. */
export function groupOperations(group: SignedGroup): Operation[] {
  return [...groupOperationParts(group)].flat();
}

/** The same in parts of a bounded size: for whoever puts a write together in slices. */
export function* groupOperationParts({ group, signed, records }: SignedGroup): Generator<readonly Operation[]> {
  yield [groupTable.put([group.node, group.first], signed)];
  for (let at = 0; at < records.length; at += BODY_ROW_RECORDS) {
    const row = records.slice(at, at + BODY_ROW_RECORDS);
    const operations = [bodyTable.put([group.node, group.first + at], joinTexts(row.map(({ texts }) => texts)))];
    row.forEach(({ record }, i) => {
      operations.push(recordIndex.put([record.id], group.first + at + i), ...projectedRows(record));
    });
    yield operations;
  }
}

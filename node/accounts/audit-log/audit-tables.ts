import Type, { type Static } from 'typebox';
import { decodeUtf8, utf8 } from '../../../protocol/bytes.ts';
import type { AuditEnd } from '../../../protocol/audit/chain.ts';
import { type AuditDay, isAuditDay } from '../../../protocol/audit/day.ts';
import { Closed, OrdinalShape, Sha256Shape, TimestampShape } from '../../../protocol/shapes.ts';
import type { Reads } from '../../store/store.ts';
import { type Codec, jsonTable, Table } from '../../store/table.ts';

const linesCodec: Codec<readonly string[]> = {
  encode: (lines) => utf8(lines.join('\n')),
  decode: (bytes) => decodeUtf8(bytes).split('\n'),
};

/** End of an account's chain that is on the disk, and where its last day began. */
export interface ChainEnd extends AuditEnd {
  /** Counter of the first line of the last line's day. */
  readonly dayFirst: number;
}

const HeadRowShape = Closed({
  seq: OrdinalShape,
  hash: Sha256Shape,
  at: TimestampShape,
  dayFirst: OrdinalShape,
});
export type AuditHeadRow = Static<typeof HeadRowShape>;

const DayRowShape = Closed({ first: OrdinalShape, last: OrdinalShape, head: Sha256Shape });
/** Counters of the first and last line of a day, and the hash of the last. */
export type AuditDayRow = Static<typeof DayRowShape>;

/** (account, seq of the first line) → lines of the account's chain, as they were hashed. */
export const auditEntryTable = new Table('audit-entry', linesCodec);
/** (account) → end of its chain. Moves in the write of the lines. */
export const auditHeadTable = jsonTable('audit-head', HeadRowShape);
/** (day, account) → the day's lines so far. Written with the lines, deleted by the record that attests the day. */
export const auditDayTable = jsonTable('audit-day', DayRowShape);
/** One row: the last day that is closed. No line of it or of an earlier day is written any more. */
export const auditClosedTable = jsonTable(
  'audit-closed',
  Type.Unsafe<AuditDay>(Type.Refine(Type.String(), isAuditDay)),
);

/** A chain of the store lacks a line that its head says is there. */
export class AuditDamagedError extends Error {
  override readonly name = 'AuditDamagedError';
}

/** The row that holds line `seq` of an account, and the counter of its first line. Throws `AuditDamagedError`. */
export async function readLinesAt(
  store: Reads,
  account: string,
  seq: number,
): Promise<{ readonly first: number; readonly lines: readonly string[] }> {
  const row = await auditEntryTable.last(store, [account], seq);
  const first = Number(row?.[0]);
  const lines = row?.[1] ?? [];
  if (row === undefined || seq >= first + lines.length) {
    throw new AuditDamagedError(`line ${seq} of the key-use log of ${account} is missing`);
  }
  return { first, lines };
}

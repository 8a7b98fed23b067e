import Type, { type Static } from 'typebox';
import { type AuditDay, isAuditDay } from '../../protocol/audit/day.ts';
import { AtomicAmountShape } from '../../protocol/payments/settlement.ts';
import { Closed, OrdinalShape, Sha256Shape, TimestampShape } from '../../protocol/shapes.ts';
import type { AttestationRecord } from '../../protocol/chain/record.ts';
import type { Projection } from '../records/projection.ts';
import type { Operation } from '../store/operation.ts';
import { jsonTable, Table, textCodec } from '../store/table.ts';

const HeadRowShape = Closed({ seq: OrdinalShape, hash: Sha256Shape, at: TimestampShape, dayFirst: OrdinalShape });
export type SettlementHeadRow = Readonly<Static<typeof HeadRowShape>>;

const DayRowShape = Closed({ first: OrdinalShape, last: OrdinalShape, head: Sha256Shape });

const SpentShape = Closed({ count: OrdinalShape, spent: AtomicAmountShape });
const WalletRowShape = Closed({
  count: OrdinalShape,
  spent: AtomicAmountShape,
  firstSeen: TimestampShape,
  lastSeen: TimestampShape,
  services: Type.Record(Type.String(), SpentShape),
});
/** What a wallet has paid here, over all times. */
export type WalletSummary = Readonly<Static<typeof WalletRowShape>>;

/** The name that the ledger's own records stand under. No account can have it: it holds a colon. */
export const SETTLEMENT_ACCOUNT = 'x402:settlements';

/** (seq) → a line of the settlement ledger, as it was hashed. */
export const settlementTable = new Table('settlement', textCodec);
/** One row: the end of the ledger. Moves in the write of the lines. */
export const settlementHeadTable = jsonTable('settlement-head', HeadRowShape);
export const HEAD_ROW = 'head';
/** (day, `SETTLEMENT_ACCOUNT`) → the day's lines so far. Deleted by the record that attests the day. */
export const settlementDayTable = jsonTable('settlement-day', DayRowShape);
/** One row: the last day that is closed. No line of it or of an earlier day is written any more. */
export const settlementClosedTable = jsonTable(
  'settlement-closed',
  Type.Unsafe<AuditDay>(Type.Refine(Type.String(), isAuditDay)),
);
/** (`SETTLEMENT_ACCOUNT`, day) → id of the record that attests the day's head. Follows from that record alone. */
export const settlementAttestedTable = new Table('settlement-attested', textCodec);
/** (payer) → sum of its settlements. Follows from the ledger's lines, and moves in their write. */
export const walletTable = jsonTable('wallet', WalletRowShape);

export const settlementHeadProjection: Projection = { table: settlementAttestedTable, rowsOf: attestedRows };

function attestedRows({ id, kind, account, claims: { keyEvent, auditDay } }: AttestationRecord): Operation[] {
  if (kind !== 'key_event' || keyEvent !== 'settlement-head' || auditDay === undefined) return [];
  return [settlementAttestedTable.put([account, auditDay], id)];
}

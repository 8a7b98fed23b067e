import { decisionText } from '../../protocol/log/decision.ts';
import { writeLedgerMessage } from '../../protocol/log/message.ts';
import { nameEnvelope } from '../../protocol/log/naming.ts';
import { isTransactionId } from '../anchoring/ledger/ledger-client.ts';
import { type BatchRow, outboxClosedTable, type OutboxRow, outboxTable } from '../anchoring/outbox.ts';
import { OTHERS_SPEND } from '../anchoring/others-limits.ts';
import { SPEND_ROW, spendTable } from '../anchoring/ledger/spend-guard.ts';
import { nativeSuite } from '../keys/native-suite.ts';
import { decidedBatchTable, logEntryTable } from '../log/log-tables.ts';
import { envelopeTable } from '../records/batch-tables.ts';
import { QUERY_SPEND_ROW } from '../anchoring/topic/consensus-source.ts';
import type { Check, TableCheck } from './check.ts';
import { heldBatch } from './held-batch.ts';
import { RowCursor } from './row-cursor.ts';
import { readRows } from './rows.ts';

/** What is paid for: own names, those for others, and questions to consensus nodes. */
const SPENT: ReadonlySet<string> = new Set(
  [SPEND_ROW, ...Object.values(OTHERS_SPEND).map(({ row }) => row), QUERY_SPEND_ROW].map((row) => spendTable.key(row)),
);

/**
 * Every own batch has one outbox row, open or closed, in a state that its lifecycle allows; a closed one a decision.
 */
export const outboxCheck: TableCheck = {
  tables: [outboxTable, outboxClosedTable, spendTable],
  async run(check) {
    const open = new RowCursor(check, outboxTable);
    const closed = new RowCursor(check, outboxClosedTable);
    if (check.own !== null) {
      for await (const { parts } of readRows(check, envelopeTable, check.own)) {
        await checkBatch(check, Number(parts[0]), open, closed);
      }
    }
    await open.finish();
    await closed.finish();
    for await (const { key } of readRows(check, spendTable)) {
      if (!SPENT.has(key)) check.report.problem(spendTable.name, key, 'belongs to nothing');
    }
  },
};

async function checkBatch(
  check: Check,
  batch: number,
  open: RowCursor<BatchRow>,
  closed: RowCursor<BatchRow>,
): Promise<void> {
  const openKey = outboxTable.key(batch);
  const closedKey = outboxClosedTable.key(batch);
  await open.strayBefore(openKey);
  await closed.strayBefore(closedKey);
  const isOpen = (await open.peek())?.key === openKey;
  const isClosed = (await closed.peek())?.key === closedKey;
  if (isOpen && isClosed) check.report.problem(outboxTable.name, openKey, 'is open and confirmed at once');
  if (!isOpen && !isClosed) check.report.problem(outboxTable.name, openKey, 'is missing: the batch is in no outbox');
  const openRow = isOpen ? await open.take(openKey) : undefined;
  const closedRow = isClosed ? await closed.take(closedKey) : undefined;
  if (openRow !== undefined) await checkRow(check, outboxTable.name, openKey, batch, openRow);
  if (closedRow !== undefined) await checkRow(check, outboxClosedTable.name, closedKey, batch, closedRow);
}

async function checkRow(check: Check, table: string, key: string, batch: number, row: BatchRow): Promise<void> {
  const { report, store, keys, own } = check;
  if (row.batch !== batch) report.problem(table, key, `speaks of batch ${row.batch}`);
  for (const fault of stateFaults(row, table === outboxClosedTable.name)) report.problem(table, key, fault);
  const held = own === null ? undefined : await heldBatch(store, own, batch);
  if (keys !== null && held !== undefined) {
    const expected = nameEnvelope(nativeSuite, keys.rosters.genesis, held.envelope, held.signed.statement);
    if (writeLedgerMessage(expected) !== row.message) {
      report.problem(table, key, 'its message is not that of the batch');
    }
  }
  if (table === outboxTable.name) return report.count('outboxOpen');
  report.count('outboxConfirmed');
  if (own !== null && (await isDecided(check, own, row))) return;
  report.problem(table, key, 'is confirmed, but the log has not decided it');
}

/** An entry of the log that does not read is reported with the log. */
async function isDecided({ store }: Check, own: NonNullable<Check['own']>, row: BatchRow): Promise<boolean> {
  try {
    const index = await decidedBatchTable.get(store, own, row.batch);
    const entry = index === undefined ? undefined : await logEntryTable.get(store, index);
    return entry !== undefined && decisionText.parse(entry.text).message === row.message;
  } catch {
    return true;
  }
}

/** `queued` holds no transaction, `prepared` and `submitted` one, and only closed rows are `confirmed`. */
export function stateFaults({ status, transaction, attempts, history }: OutboxRow, isClosed: boolean): string[] {
  const faults: string[] = [];
  if ((status === 'confirmed') !== isClosed) faults.push(`is ${status} in the wrong table`);
  const isFrozen = status === 'prepared' || status === 'submitted';
  if ((transaction !== null) !== isFrozen) {
    faults.push(`is ${status} ${transaction === null ? 'without' : 'with'} a transaction`);
  }
  if (isFrozen && attempts === 0) faults.push(`is ${status} without an attempt`);
  if (history[0]?.status !== 'queued' || history.at(-1)?.status !== status) {
    faults.push('its history tells another story');
  }
  const names = [transaction?.transactionId, ...history.map(({ transactionId }) => transactionId)];
  if (names.some((name) => name !== undefined && !isTransactionId(name))) faults.push('names no transaction id');
  return faults;
}

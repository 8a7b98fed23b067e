import Type, { type Static } from 'typebox';
import type { Sha256Hash } from '../../protocol/hash.ts';
import type { NodeId } from '../../protocol/ids.ts';
import { Closed, CountShape, NodeIdShape, OrdinalShape, Sha256Shape, TimestampShape } from '../../protocol/shapes.ts';
import type { Timestamp } from '../../protocol/time.ts';
import type { Operation } from '../store/operation.ts';
import type { Store } from '../store/store.ts';
import { jsonTable } from '../store/table.ts';
import type { PreparedTransaction, TransactionId } from './ledger/ledger-client.ts';

/**
 * `queued`: no transaction holds it · `prepared`: signed bytes are frozen, a node may have them · `submitted`: a node
 * said that it has them · `confirmed`: of a batch, the federation's log decided it; of a statement, this node's message
 * was read back, or the log has it in force. Only `confirmed` is final; a transaction that died, or a name that decided
 * nothing, brings its batch back to `queued`, and the history keeps both.
 */
export type OutboxStatus = 'queued' | 'prepared' | 'submitted' | 'confirmed';

const StatusShape = Type.Enum(['queued', 'prepared', 'submitted', 'confirmed']);
const TransactionIdShape = Type.Unsafe<TransactionId>(Type.String());
const STEPS = {
  /** The ledger message, to the byte. */
  message: Type.String(),
  status: StatusShape,
  /** Transactions prepared so far. */
  attempts: CountShape,
  transaction: Type.Union([
    Closed({ transactionId: TransactionIdShape, bytes: Type.String(), validUntil: CountShape }),
    Type.Null(),
  ]),
  history: Type.Array(
    Closed({ status: StatusShape, at: TimestampShape, transactionId: Type.Optional(TransactionIdShape) }),
  ),
};
const BatchRowShape = Closed({ batch: OrdinalShape, ...STEPS });
/** `statement`: hash of the revocation or roster. */
const StatementRowShape = Closed({ statement: Sha256Shape, ...STEPS });
/** A batch of another node that this one names. */
const RescueRowShape = Closed({ rescued: NodeIdShape, number: OrdinalShape, ...STEPS });
export type BatchRow = Static<typeof BatchRowShape>;
export type StatementRow = Static<typeof StatementRowShape>;
export type RescueRow = Static<typeof RescueRowShape>;
/** What is on its way to the ledger. */
export type OutboxRow = BatchRow | StatementRow | RescueRow;
export type OutboxEvent = OutboxRow['history'][number];

/**
 * batch → row that is not decided yet. Holds what is under way and no history, so reading it costs no more with age.
 */
export const outboxTable = jsonTable('outbox', BatchRowShape);
/** batch → confirmed row, without its frozen bytes. */
export const outboxClosedTable = jsonTable('outbox-closed', BatchRowShape);
/** statement hash → row that is not confirmed yet. */
export const statementOutboxTable = jsonTable('statement-outbox', StatementRowShape);
/** statement hash → confirmed row, without its frozen bytes. */
export const statementOutboxClosedTable = jsonTable('statement-outbox-closed', StatementRowShape);

/** (other node, batch) → row of a batch of that node that this one names, until its message was read back. */
export const rescueOutboxTable = jsonTable('rescue-outbox', RescueRowShape);

/** Statuses kept of a batch that dies again and again; the first and the latest ones stay. */
const MAX_HISTORY = 64;
/** Rescues looked at at once. */
const MAX_OPEN_RESCUES = 64;

/**
 * The entry of a sealed batch. It lands in the sealing write itself: a batch that exists is a batch that will be
 * anchored, whatever stops in between.
 */
export function outboxEntry(batch: number, message: string, at: Timestamp): Operation {
  return outboxTable.put([batch], { batch, ...queued(message, at) });
}

/** The entry of a statement of this node. It lands in the write that keeps the statement. */
export function statementOutboxEntry(statement: Sha256Hash, message: string, at: Timestamp): Operation {
  return statementOutboxTable.put([statement], { statement, ...queued(message, at) });
}

/** The entry of a batch of another node. */
export function rescueEntry(rescued: NodeId, number: number, message: string, at: Timestamp): Operation {
  return rescueOutboxTable.put([rescued, number], { rescued, number, ...queued(message, at) });
}

/** Freezes a transaction for the row. Crash order: this write is synced before the first packet of it leaves. */
export function freeze(row: OutboxRow, transaction: PreparedTransaction, at: Timestamp): OutboxRow {
  const next = step(row, 'prepared', at, transaction.transactionId);
  return { ...next, transaction, attempts: row.attempts + 1 };
}

/** Notes that a node has the transaction. A crash before this write sends the same bytes again, which is harmless. */
export function noteSubmitted(row: OutboxRow, at: Timestamp): OutboxRow {
  return step(row, 'submitted', at, row.transaction?.transactionId);
}

/**
 * Lets go of a transaction that can reach the ledger no more, or not before a time that a clock was ahead by, or whose
 * message was read there and decided nothing. Nothing else may bring a row back to `queued`.
 */
export function requeue(row: OutboxRow, at: Timestamp): OutboxRow {
  return { ...step(row, 'queued', at, row.transaction?.transactionId), transaction: null };
}

export function rowOperation(row: OutboxRow): Operation {
  if (isBatchRow(row)) return outboxTable.put([row.batch], row);
  if (isRescueRow(row)) return rescueOutboxTable.put([row.rescued, row.number], row);
  return statementOutboxTable.put([row.statement], row);
}

/**
 * Moves the row to the confirmed ones; of a rescue nothing is kept. What it rests on is on the disk before this write.
 */
export function closeOperations(row: OutboxRow, at: Timestamp): Operation[] {
  if (isRescueRow(row)) return [rescueOutboxTable.del(row.rescued, row.number)];
  const closed = { ...step(row, 'confirmed', at, row.transaction?.transactionId), transaction: null };
  return isBatchRow(closed)
    ? [outboxTable.del(closed.batch), outboxClosedTable.put([closed.batch], closed)]
    : [statementOutboxTable.del(closed.statement), statementOutboxClosedTable.put([closed.statement], closed)];
}

export function isBatchRow(row: OutboxRow): row is BatchRow {
  return 'batch' in row;
}

export function isRescueRow(row: OutboxRow): row is RescueRow {
  return 'rescued' in row;
}

export async function readOutbox(store: Store, batch: number): Promise<BatchRow | undefined> {
  return (await outboxTable.get(store, batch)) ?? (await outboxClosedTable.get(store, batch));
}

/** Unconfirmed rows with a higher batch number, in order. */
export async function readOpenRows(store: Store, after: number, limit: number): Promise<BatchRow[]> {
  const rows: BatchRow[] = [];
  for await (const [, row] of outboxTable.under(store, [], { after, limit })) rows.push(row);
  return rows;
}

/** Unconfirmed rows of statements, one by one: those of this node may lie behind any number for other nodes. */
export async function* openStatements(store: Store): AsyncGenerator<StatementRow> {
  for await (const [, row] of statementOutboxTable.under(store, [])) yield row;
}

/** Rows of other nodes' batches. */
export async function readOpenRescues(store: Store): Promise<RescueRow[]> {
  const rows: RescueRow[] = [];
  for await (const [, row] of rescueOutboxTable.under(store, [], { limit: MAX_OPEN_RESCUES })) rows.push(row);
  return rows;
}

/** The unconfirmed row of the highest batch number. */
export async function readNewestOpenRow(store: Store): Promise<BatchRow | undefined> {
  return (await outboxTable.last(store, []))?.[1];
}

function queued(message: string, at: Timestamp) {
  const history: OutboxEvent[] = [{ status: 'queued', at }];
  return { message, status: 'queued', attempts: 0, transaction: null, history } as const;
}

function step<Row extends OutboxRow>(
  row: Row,
  status: OutboxStatus,
  at: Timestamp,
  transactionId?: TransactionId,
): Row {
  const event: OutboxEvent = { status, at, ...(transactionId === undefined ? {} : { transactionId }) };
  const history = row.history.length < MAX_HISTORY ? row.history : row.history.toSpliced(1, 3);
  return { ...row, status, history: [...history, event] };
}

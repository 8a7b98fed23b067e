import Type, { type Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { Closed, CountShape, OrdinalShape, TimestampShape } from '../../protocol/shapes.ts';
import type { Timestamp } from '../../protocol/time.ts';
import type { Operation } from '../store/operation.ts';
import type { Store } from '../store/store.ts';
import { jsonCodec, Table } from '../store/table.ts';
import type { PreparedTransaction, TransactionId } from './ledger-client.ts';

/**
 * `queued`: no transaction holds it · `prepared`: signed bytes are frozen, a node may have them · `submitted`: a node
 * said that it has them · `confirmed`: the message was read back from the topic and linked. Only `confirmed` is final;
 * a transaction that died brings its batch back to `queued`, and the history keeps both.
 */
export type OutboxStatus = 'queued' | 'prepared' | 'submitted' | 'confirmed';

const StatusShape = Type.Enum(['queued', 'prepared', 'submitted', 'confirmed']);
const TransactionIdShape = Type.Unsafe<TransactionId>(Type.String());
const OutboxRowShape = Closed({
  batch: OrdinalShape,
  /** The anchor message, to the byte. */
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
});
export type OutboxRow = Static<typeof OutboxRowShape>;
export type OutboxEvent = OutboxRow['history'][number];

const compiled = Compile(OutboxRowShape);
const rowCodec = jsonCodec((value: unknown): value is OutboxRow => compiled.Check(value));

/** batch → row that is not confirmed yet. Holds what is under way and no history, so reading it costs no more with age. */
export const outboxTable = new Table('outbox', rowCodec);
/** batch → confirmed row, without its frozen bytes. */
export const outboxClosedTable = new Table('outbox-closed', rowCodec);

/** Statuses kept of a batch that dies again and again; the first and the latest ones stay. */
const MAX_HISTORY = 64;

/**
 * The entry of a sealed batch. It lands in the sealing write itself: a batch that exists is a batch that will be
 * anchored, whatever stops in between.
 */
export function outboxEntry(batch: number, message: string, at: Timestamp): Operation {
  const history: OutboxEvent[] = [{ status: 'queued', at }];
  return outboxTable.put([batch], { batch, message, status: 'queued', attempts: 0, transaction: null, history });
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

/** Lets go of a transaction that can reach the ledger no more. Nothing else may bring a row back to `queued`. */
export function requeue(row: OutboxRow, at: Timestamp): OutboxRow {
  return { ...step(row, 'queued', at, row.transaction?.transactionId), transaction: null };
}

export function rowOperation(row: OutboxRow): Operation {
  return outboxTable.put([row.batch], row);
}

/** Moves the row to the confirmed ones. The anchor that it rests on is on the disk before this write. */
export function closeOperations(row: OutboxRow, at: Timestamp): Operation[] {
  const confirmed = step(row, 'confirmed', at, row.transaction?.transactionId);
  return [outboxTable.del(row.batch), outboxClosedTable.put([row.batch], { ...confirmed, transaction: null })];
}

export async function readOutbox(store: Store, batch: number): Promise<OutboxRow | undefined> {
  return (await outboxTable.get(store, batch)) ?? (await outboxClosedTable.get(store, batch));
}

/** Unconfirmed rows with a higher batch number, in order. */
export async function readOpenRows(store: Store, after: number, limit: number): Promise<OutboxRow[]> {
  const rows: OutboxRow[] = [];
  for await (const [, row] of outboxTable.under(store, [], { after, limit })) rows.push(row);
  return rows;
}

/** The unconfirmed row of the highest batch number. */
export async function readNewestOpenRow(store: Store): Promise<OutboxRow | undefined> {
  return (await outboxTable.last(store, []))?.[1];
}

function step(row: OutboxRow, status: OutboxStatus, at: Timestamp, transactionId?: TransactionId): OutboxRow {
  const event: OutboxEvent = { status, at, ...(transactionId === undefined ? {} : { transactionId }) };
  const history = row.history.length < MAX_HISTORY ? row.history : row.history.toSpliced(1, 3);
  return { ...row, status, history: [...history, event] };
}

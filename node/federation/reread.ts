import Type from 'typebox';
import type { Sha256Hash } from '../../protocol/hash.ts';
import type { NodeId } from '../../protocol/ids.ts';
import { knownNode } from '../../protocol/log/decision-state.ts';
import { Closed, Sha256Shape } from '../../protocol/shapes.ts';
import { timestampOf } from '../../protocol/time.ts';
import type { Anchoring } from '../anchoring/anchoring.ts';
import { outboxClosedTable, requeue, rowOperation } from '../anchoring/outbox.ts';
import { checkpointTable, falseCheckpointTable, replacedCheckpointTable } from '../log/checkpoint-store.ts';
import { decidedBatchTable, decisionStateTable, logEntryTable, logTileTable } from '../log/log-tables.ts';
import type { OwnKeys } from '../log/members/own-keys.ts';
import { rivalNameTable } from '../log/rival-name.ts';
import { ownNameTable } from '../log/start-tables.ts';
import { chainSourceTable, chainStateTable, ownVouchedTable, sealingKeyTable } from '../records/chain-tables.ts';
import type { Operation } from '../store/operation.ts';
import type { Rows, Store } from '../store/store.ts';
import { jsonTable } from '../store/table.ts';
import type { LogFollower } from './log-follower.ts';

const RereadShape = Closed({
  /** The key by which this node signed what it believed. */
  keyId: Sha256Shape,
  /** Whether all that rests on the old reading is gone. */
  isDropped: Type.Boolean(),
});

/** One row, from the operator's command until the ledger was read again and another key signs. */
export const rereadTable = jsonTable('reread', RereadShape);
export const REREAD_ROW = 'state';

/** What was made of the topic's messages alone. The texts of rosters stay: each is known by its hash. */
const READ_TABLES = [
  logEntryTable,
  logTileTable,
  decidedBatchTable,
  decisionStateTable,
  rivalNameTable,
  checkpointTable,
  falseCheckpointTable,
  replacedCheckpointTable,
  ownVouchedTable,
  ownNameTable,
];
/** What was derived of chains by it; of the own chain it stays, for that is what this node sealed. */
const DERIVED_TABLES = [chainStateTable, chainSourceTable, sealingKeyTable];
/** Rows of one write. */
const ROWS_AT_ONCE = 1_000;

/**
 * Has the ledger read again by the next start (protocol §3): for a node that was fooled. `keyId`: its signing key,
 * which is replaced, for what it signed of the log was wrong.
 */
export async function beginReread(store: Rows, keyId: Sha256Hash): Promise<void> {
  await store.write([rereadTable.put([REREAD_ROW], { keyId, isDropped: false })]);
}

/**
 * Drops the tree and what rests on it, where that was asked for. Call before anything of it is read.
 *
 * Crash order: the mark says that dropping is under way until nothing is left; a start after a crash goes on with it.
 */
export async function dropTree(store: Store, self: NodeId): Promise<void> {
  const mark = await rereadTable.get(store, REREAD_ROW);
  if (mark === undefined || mark.isDropped) return;
  for (const table of READ_TABLES) await dropRows(store, table.name, () => false);
  for (const table of DERIVED_TABLES) {
    const own = table.key(self);
    await dropRows(store, table.name, (key) => key === own || key.startsWith(`${own}/`));
  }
  await store.write([rereadTable.put([REREAD_ROW], { ...mark, isDropped: true })]);
}

export interface RereadEnd {
  readonly self: NodeId;
  readonly store: Store;
  readonly follower: Pick<LogFollower, 'federationLog' | 'readToEnd'>;
  readonly anchoring: Pick<Anchoring, 'resume' | 'withdraw'>;
  readonly ownKeys: { readonly revoke: (...asked: Parameters<OwnKeys['revoke']>) => Promise<unknown> };
  readonly now: () => number;
  readonly signal: AbortSignal;
}

/**
 * Ends what `beginReread` began, where there is anything to end: once the topic was read to its end, own batches that
 * it decided nothing of are named again, and another key signs. Call before a checkpoint is signed. Rejects when the
 * signal aborts.
 *
 * Crash order: each step does nothing where it was done before; the mark goes last.
 */
export async function endReread({ self, store, follower, anchoring, ownKeys, now, signal }: RereadEnd): Promise<void> {
  const mark = await rereadTable.get(store, REREAD_ROW);
  if (mark === undefined) return;
  await follower.readToEnd(signal);
  const decided = knownNode(follower.federationLog.state, self)?.last?.batch ?? 0;
  // Later batches may be on their way by now, and batches are taken in order.
  await anchoring.withdraw(decided + 1);
  for await (const [, row] of outboxClosedTable.under(store, [], { after: decided })) {
    await store.write([outboxClosedTable.del(row.batch), rowOperation(requeue(row, timestampOf(now())))]);
  }
  anchoring.resume();
  await ownKeys.revoke(mark.keyId, null, 'the ledger was read anew');
  await store.write([rereadTable.del(REREAD_ROW)]);
}

async function dropRows(store: Store, table: string, keeps: (key: string) => boolean): Promise<void> {
  let operations: Operation[] = [];
  for await (const [key] of store.range({ gte: `${table}/`, lt: `${table}0` })) {
    if (keeps(key)) continue;
    operations.push({ type: 'del', key });
    if (operations.length < ROWS_AT_ONCE) continue;
    await store.write(operations);
    operations = [];
  }
  if (operations.length > 0) await store.write(operations);
}

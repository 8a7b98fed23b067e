import Type, { type Static } from 'typebox';
import type { NodeId } from '../../../protocol/ids.ts';
import { Closed, CountShape, TimestampShape } from '../../../protocol/shapes.ts';
import { groupStatement } from '../../../protocol/statement/group.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { ChainEndShape, type Restoration, restorationTable } from '../../federation/start/restoration-table.ts';
import { startTable, STOPPED_ROW } from '../../log/start-tables.ts';
import { readHead } from '../../records/batch-tables.ts';
import { groupTable } from '../../records/record-tables.ts';
import type { Operation } from '../../store/operation.ts';
import { Store } from '../../store/store.ts';
import { BackupError, fromSource } from './folder.ts';

/** What one write of the copy holds at most. In bytes and rows. */
const WRITE_BYTES = 1 << 20;
const WRITE_ROWS = 1_000;
const STOPPED_KEY = startTable.key(STOPPED_ROW);

export const StoreCopyShape = Closed({
  takenAt: TimestampShape,
  /** Where the node's own chain ends in the copy. */
  held: ChainEndShape,
  /** Own records in it that are in no batch yet. */
  unsealed: CountShape,
  rows: CountShape,
  bytes: Type.Integer({ minimum: 0 }),
});
/** What was copied. */
export type StoreCopy = Static<typeof StoreCopyShape>;

/**
 * Copies an open store, as it is at this moment, into a new one at `directory`. Nobody waits for it: the rows come from
 * one snapshot, while the store goes on taking writes. Rows alone are copied, not files: what was purged is not in it.
 * Nor is the mark that the node was stopped in order.
 *
 * Crash order: the row that says that this is a copy is the first one written, so not even a part of one passes for the
 * node's own store. Throws `BackupError` `target` where there is something already, `source` where the chain's
 * end does not read, and the signal's reason.
 */
export async function copyStore(
  store: Store,
  directory: string,
  node: NodeId,
  now: () => number,
  signal: AbortSignal,
): Promise<StoreCopy> {
  const takenAt = timestampOf(now());
  await using copy = await openCopy(directory);
  const unknown: Restoration = { takenAt, held: { batch: 0, next: 1 }, unsealed: 0, settled: null };
  await copy.write([restorationTable.put([node, takenAt], unknown)]);
  const { rows, bytes } = await copyRows(store, copy, signal);
  const { held, unsealed } = await fromSource(endOf(copy, node));
  await copy.write([restorationTable.put([node, takenAt], { takenAt, held, unsealed, settled: null })]);
  return { takenAt, held, unsealed, rows, bytes };
}

async function openCopy(directory: string): Promise<Store> {
  const copy = await Store.open(directory);
  if ((await copy.first({})) === undefined) return copy;
  await copy[Symbol.asyncDispose]();
  throw new BackupError('target', `there is a store in ${directory} already`);
}

async function copyRows(from: Store, to: Store, signal: AbortSignal): Promise<Pick<StoreCopy, 'rows' | 'bytes'>> {
  let [rows, bytes, waitingBytes] = [0, 0, 0];
  let waiting: Operation[] = [];
  const flush = async () => {
    await to.write(waiting);
    rows += waiting.length;
    bytes += waitingBytes;
    [waiting, waitingBytes] = [[], 0];
    signal.throwIfAborted();
  };
  for await (const [key, value] of from.range({})) {
    if (key === STOPPED_KEY) continue;
    waiting.push({ type: 'put', key, value });
    waitingBytes += key.length + value.length;
    if (waiting.length >= WRITE_ROWS || waitingBytes >= WRITE_BYTES) await flush();
  }
  await flush();
  return { rows, bytes };
}

/** Read from the copy, so that it is the snapshot's end whatever was written since. */
async function endOf(copy: Store, node: NodeId): Promise<Pick<StoreCopy, 'held' | 'unsealed'>> {
  const head = await readHead(copy, node);
  const held =
    head === undefined
      ? { batch: 0, next: 1 }
      : { batch: head.envelope.batch, next: head.envelope.first + head.envelope.size };
  const last = await groupTable.last(copy, [node]);
  if (last === undefined) return { held, unsealed: 0 };
  const { first, size } = groupStatement.parse(last[1].statement);
  return { held, unsealed: Math.max(0, first + size - held.next) };
}

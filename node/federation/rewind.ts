import { openRecord, type WholeTexts } from '../../protocol/chain/record.ts';
import type { NodeId } from '../../protocol/ids.ts';
import { nativeSuite } from '../keys/native-suite.ts';
import { splitTexts } from '../records/record-lines.ts';
import { bodyTable, groupTable, projectedRows, recordIndex } from '../records/record-tables.ts';
import { batchFirstTable, envelopeTable, readHead, type StoredBatch, tileTable } from '../records/batch-tables.ts';
import type { Operation } from '../store/operation.ts';
import type { Reads, Store } from '../store/store.ts';
import type { Chains } from '../log/chains.ts';

/**
 * Drops the held batches of another node after number `to`, with all that is held of its records behind them. Only
 * batches that were not derived here may be dropped.
 *
 * Crash order: the last batch first, each in one atomic write with whatever follows it, so that what is left is the
 * node's chain up to some batch at every moment.
 */
export async function rewindChain(store: Store, chains: Chains, node: NodeId, to: number): Promise<void> {
  for (let head = await readHead(store, node); head !== undefined && head.envelope.batch > to;) {
    await store.write([...(await dropRecords(store, node, head.envelope.first)), ...(await batchRows(store, head))]);
    head = await readHead(store, node);
    chains.rewind(node, head);
  }
}

async function batchRows(store: Store, { envelope: { node, batch, first } }: StoredBatch): Promise<Operation[]> {
  const operations = [envelopeTable.del(node, batch), batchFirstTable.del(node, first)];
  for await (const [[level, index]] of tileTable.under(store, [node, batch])) {
    operations.push(tileTable.del(node, batch, Number(level), Number(index)));
  }
  return operations;
}

/** What drops groups and records of another node from `first` on, sealed or not. */
export async function dropRecords(store: Reads, node: NodeId, first: number): Promise<Operation[]> {
  const operations: Operation[] = [];
  for await (const [[seq]] of groupTable.under(store, [node], { from: first })) {
    operations.push(groupTable.del(node, Number(seq)));
  }
  for await (const [[seq], body] of bodyTable.under(store, [node], { from: first })) {
    operations.push(bodyTable.del(node, Number(seq)), ...splitTexts(body).flatMap(indexRows));
  }
  return operations;
}

function indexRows(texts: WholeTexts): Operation[] {
  const record = openRecord(nativeSuite, texts);
  const projected = projectedRows(record).map(({ key }): Operation => ({ type: 'del', key }));
  return [recordIndex.del(record.id), ...projected];
}

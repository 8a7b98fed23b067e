import type { NodeId } from '../../protocol/ids.ts';
import type { Tile } from '../../protocol/merkle/tiles.ts';
import { splitHashes, TILE_WIDTH } from '../../protocol/merkle/tiles.ts';
import type { Envelope } from '../../protocol/chain/envelope.ts';
import { type SignedStatement, SignedStatementShape } from '../../protocol/statement/statement.ts';
import { CoveringRows } from '../store/covering-rows.ts';
import type { Operation } from '../store/operation.ts';
import type { Reads } from '../store/store.ts';
import { bytesCodec, jsonTable, numberCodec, Table } from '../store/table.ts';
import { storedStatements } from './stored-statements.ts';

/** (node, batch) → signed envelope. */
export const envelopeTable = jsonTable('envelope', SignedStatementShape);
/** (node, first seq) → batch. */
export const batchFirstTable = new Table('batch-first', numberCodec);
/** (node, batch, level, index) → hashes of a tile of the batch's tree. */
export const tileTable = new Table('tile', bytesCodec);

export interface StoredBatch {
  readonly envelope: Envelope;
  readonly signed: SignedStatement;
}

/** All rows of a sealed batch but its records. */
export function batchOperations({ envelope, signed }: StoredBatch, tiles: Iterable<Tile>): Operation[] {
  const { node, batch, first } = envelope;
  const operations = [envelopeTable.put([node, batch], signed), batchFirstTable.put([node, first], batch)];
  for (const tile of tiles) operations.push(tileTable.put([node, batch, tile.level, tile.index], tile.hashes));
  return operations;
}

export async function readBatch(store: Reads, node: NodeId, batch: number): Promise<StoredBatch | undefined> {
  const signed = await envelopeTable.get(store, node, batch);
  return signed && { envelope: storedStatements.envelope(signed.statement), signed };
}

/** The last sealed batch of a node that this store holds. */
export async function readHead(store: Reads, node: NodeId): Promise<StoredBatch | undefined> {
  const row = await envelopeTable.last(store, [node]);
  return row && { envelope: storedStatements.envelope(row[1].statement), signed: row[1] };
}

/** The number of the last batch of a node that was sealed before a time (epoch milliseconds); 0 where none was. */
export async function lastBatchBefore(store: Reads, node: NodeId, time: number): Promise<number> {
  let number = (await readHead(store, node))?.envelope.batch ?? 0;
  for (; number > 0; number--) {
    const batch = await readBatch(store, node, number);
    if (batch === undefined || Date.parse(batch.envelope.sealedAt) < time) break;
  }
  return number;
}

const batches = new CoveringRows<readonly [NodeId], number, StoredBatch>({
  table: batchFirstTable,
  async open({ parts: [node], value: number }, seq, store) {
    const batch = await readBatch(store, node, number);
    return batch && seq < batch.envelope.first + batch.envelope.size ? batch : undefined;
  },
});

/** The batch that covers a node's record `seq`; undefined while it is unsealed. */
export function readBatchOf(store: Reads, node: NodeId, seq: number): Promise<StoredBatch | undefined> {
  return batches.find(store, [node], seq);
}

/** Leaf of a record in its batch. Throws `RangeError` where the store misses it. */
export async function readBatchLeaf(store: Reads, { node, batch, first }: Envelope, seq: number): Promise<Uint8Array> {
  const at = seq - first;
  const place = at % TILE_WIDTH;
  const tile = await tileTable.get(store, node, batch, 0, Math.floor(at / TILE_WIDTH));
  const [leaf] = tile === undefined ? [] : splitHashes(tile, place, place + 1);
  if (leaf === undefined) throw new RangeError(`leaf ${seq} of batch ${node}/${batch} is missing`);
  return leaf;
}

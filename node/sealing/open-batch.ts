import { utf8 } from '../../protocol/bytes.ts';
import type { NodeId } from '../../protocol/ids.ts';
import { leafHash } from '../../protocol/merkle/hash.ts';
import { TileTree } from '../../protocol/merkle/tiles.ts';
import { nativeSuite } from '../keys/native-suite.ts';
import { readRecordTexts } from '../records/record-reader.ts';
import { groupTable } from '../records/record-tables.ts';
import { groupStatement } from '../../protocol/statement/group.ts';
import type { Store } from '../store/store.ts';

/** The tree that grows under the records not yet sealed. */
export interface OpenBatch {
  readonly first: number;
  readonly tree: TileTree;
}

export function emptyBatch(first: number): OpenBatch {
  return { first, tree: new TileTree(nativeSuite) };
}

/** Rebuilds the open batch from the stored bytes of the records from `first` on: at most one batch's worth. */
export async function recoverOpenBatch(store: Store, node: NodeId, first: number): Promise<OpenBatch> {
  const batch = emptyBatch(first);
  const last = await groupTable.last(store, [node]);
  if (last === undefined) return batch;
  const group = groupStatement.parse(last[1].statement);
  const end = group.first + group.size;
  for await (const text of readRecordTexts(store, node, first, end - first)) {
    batch.tree.append(leafHash(nativeSuite, utf8(text)));
  }
  if (batch.tree.size !== Math.max(0, end - first)) {
    throw new RangeError(`records ${first}–${end - 1} are not all in the store`);
  }
  return batch;
}

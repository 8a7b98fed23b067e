import { writeSha256 } from '../../protocol/hash.ts';
import type { NodeId } from '../../protocol/ids.ts';
import { namesBody, recordLeaf, type WholeTexts } from '../../protocol/chain/record.ts';
import { TileTree } from '../../protocol/merkle/tiles.ts';
import { merkleRoot } from '../../protocol/merkle/tree.ts';
import { type Group, groupStatement } from '../../protocol/statement/group.ts';
import { nativeSuite } from '../keys/native-suite.ts';
import { readRecordTexts, RecordDamagedError } from '../records/record-reader.ts';
import { groupTable } from '../records/record-tables.ts';
import type { Store } from '../store/store.ts';

/** The tree that grows under the records not yet sealed. */
export interface OpenBatch {
  readonly first: number;
  readonly tree: TileTree;
}

export function emptyBatch(first: number): OpenBatch {
  return { first, tree: new TileTree(nativeSuite) };
}

/**
 * Rebuilds the open batch from the stored bytes of the records from `first` on: at most one batch's worth. Each group
 * must have the root that was signed when it was recorded: a record that changed on the disk is never sealed. Throws
 * `RecordDamagedError`.
 */
export async function recoverOpenBatch(store: Store, node: NodeId, first: number): Promise<OpenBatch> {
  const batch = emptyBatch(first);
  const last = await groupTable.last(store, [node]);
  if (last === undefined) return batch;
  const { first: lastFirst, size } = groupStatement.parse(last[1].statement);
  // Ended with this call: a reader that is left open keeps the store from purging what was deleted.
  await using texts = readRecordTexts(store, node, first, Math.max(0, lastFirst + size - first));
  for await (const [, signed] of groupTable.under(store, [node], { from: first })) {
    const group = groupStatement.parse(signed.statement);
    const leaves = await takeLeaves(texts, group.size);
    requireWhole(group, first + batch.tree.size, leaves);
    for (const leaf of leaves) batch.tree.append(leaf);
  }
  return batch;
}

async function takeLeaves(texts: AsyncGenerator<WholeTexts>, count: number): Promise<Uint8Array[]> {
  const leaves: Uint8Array[] = [];
  while (leaves.length < count) {
    const next = await texts.next();
    // A body that its head does not name is lost: what was signed cannot be shown any more.
    if (next.done === true || !namesBody(nativeSuite, next.value)) break;
    leaves.push(recordLeaf(nativeSuite, next.value.head));
  }
  return leaves;
}

function requireWhole(group: Group, expectedFirst: number, leaves: readonly Uint8Array[]): void {
  const { first, size, root } = group;
  const isWhole = first === expectedFirst && leaves.length === size;
  if (isWhole && writeSha256(merkleRoot(nativeSuite, leaves)) === root) return;
  throw new RecordDamagedError(`the stored records ${first}–${first + size - 1} are not those that were signed`);
}

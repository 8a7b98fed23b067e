import type { Sha256Hash } from '../../protocol/hash.ts';
import type { NodeId } from '../../protocol/ids.ts';
import type { Checkpoint } from '../../protocol/log/checkpoint.ts';
import type { OwnTree } from './checkpoint-store.ts';

/** What a member's next checkpoint is made of. */
export interface CheckpointGrounds {
  readonly self: NodeId;
  /** Hash of the genesis roster. */
  readonly federation: Sha256Hash;
  readonly keyId: Sha256Hash;
  readonly tree: OwnTree;
  /** Of each node, the last batch up to which the member has derived everything; no node at 0. */
  readonly vouched: ReadonlyMap<NodeId, number>;
  /** The last that the member is known to have signed, by each of its keys. */
  readonly before: readonly Checkpoint[];
}

/**
 * The checkpoint that a member may sign now (TRUST §4). Null where its tree or its derivation has not reached one that it
 * signed before, where that one says all of this, or where nothing is decided yet.
 */
export async function nextCheckpoint(grounds: CheckpointGrounds): Promise<Checkpoint | null> {
  const { self, federation, keyId, tree, vouched, before } = grounds;
  const { size } = tree;
  if (size === 0 || !before.every((earlier) => covers(size, vouched, earlier))) return null;
  const root = await tree.rootAt(size);
  const next: Checkpoint = {
    v: 1,
    type: 'checkpoint',
    federation,
    node: self,
    keyId,
    size,
    root,
    vouched: Object.fromEntries(vouched),
  };
  const isSaid = before.some((earlier) => earlier.keyId === keyId && covers(earlier.size, vouchedOf(earlier), next));
  return isSaid ? null : next;
}

/** Whether a tree of `size`, with these batches derived, has reached what a checkpoint says. */
function covers(
  size: number,
  vouched: ReadonlyMap<string, number>,
  { size: reached, vouched: batches }: Checkpoint,
): boolean {
  return size >= reached && Object.entries(batches).every(([node, batch]) => (vouched.get(node) ?? 0) >= batch);
}

function vouchedOf({ vouched }: Checkpoint): ReadonlyMap<string, number> {
  return new Map(Object.entries(vouched));
}

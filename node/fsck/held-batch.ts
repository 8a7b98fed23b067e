import { hashText, type Sha256Hash } from '../../protocol/hash.ts';
import { isNodeId } from '../../protocol/ids.ts';
import { nativeSuite } from '../keys/native-suite.ts';
import { readBatch, type StoredBatch } from '../records/batch-tables.ts';
import type { Store } from '../store/store.ts';

/** The envelope of a batch as the store holds it; undefined where it does not, or the row does not read. */
export async function heldBatch(
  store: Store,
  node: string,
  batch: number,
): Promise<(StoredBatch & { readonly hash: Sha256Hash }) | undefined> {
  try {
    const stored = isNodeId(node) ? await readBatch(store, node, batch) : undefined;
    return stored && { ...stored, hash: hashText(nativeSuite, stored.signed.statement) };
  } catch {
    return undefined;
  }
}

import { join } from 'node:path';
import { copyStore } from '../../node/fsck/backup/copy-store.ts';
import { BackupError } from '../../node/fsck/backup/folder.ts';
import type { CopyOfNode } from '../../node/fsck/backup/take-backup.ts';
import { ownerOfKeys } from '../../node/records/payload/payload-keys.ts';
import { requireFormat } from '../../node/store/format.ts';
import { Store } from '../../node/store/store.ts';

/**
 * Copies the store of a stopped node, which no process may open meanwhile. A store of the format before stays so, and
 * so does its copy, until a node starts on it. Throws `StoreError` `locked` where a process has it open, `format` where
 * it is of a format that this release does not read, and `BackupError` `source` where the node has no record yet that
 * would tell whose store it is.
 */
export async function copyStopped(home: string, directory: string, signal: AbortSignal): Promise<CopyOfNode> {
  await using store = await Store.open(join(home, 'store'), { createIfMissing: false });
  await requireFormat(store);
  const node = await ownerOfKeys(store);
  if (node === null) throw new BackupError('source', `nothing in ${home} tells whose home it is`);
  return { node, copy: await copyStore(store, directory, node, Date.now, signal) };
}

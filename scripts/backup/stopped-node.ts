import { copyStore } from '../../node/fsck/backup/copy-store.ts';
import { BackupError } from '../../node/fsck/backup/folder.ts';
import type { CopyOfNode } from '../../node/fsck/backup/take-backup.ts';
import { StoreView } from '../../node/fsck/fsck.ts';
import { ownerOfKeys } from '../../node/records/payload/payload-keys.ts';
import { requireFormat } from '../../node/store/format.ts';
import { checkLevelDbFiles } from '../../node/store/leveldb/check-files.ts';

/**
 * Copies the store of a stopped node, which no process may open meanwhile, and leaves every byte of it as it is. A store
 * of an earlier format stays so, and so does its copy, until a node starts on it. Throws `StoreError` `locked` where a
 * process has it open, `format` where it is of a format that this release does not read, `FsckError` `no-store` where
 * there is none, and `BackupError` `source` where a file of it is damaged, or the node has no record yet that would tell
 * whose store it is.
 */
export async function copyStopped(home: string, directory: string, signal: AbortSignal): Promise<CopyOfNode> {
  await using view = await StoreView.open(home);
  await requireWholeFiles(view.directory, signal);
  const store = await view.rows();
  await requireFormat(store);
  const node = await ownerOfKeys(store);
  if (node === null) throw new BackupError('source', `nothing in ${home} tells whose home it is`);
  return { node, copy: await copyStore(store, directory, node, Date.now, signal) };
}

/** LevelDB passes over damage in silence: rows of a damaged file would be missing from the copy, or changed in it. */
async function requireWholeFiles(files: string, signal: AbortSignal): Promise<void> {
  for await (const { severity, file, detail } of checkLevelDbFiles(files, signal)) {
    if (severity !== 'problem') continue;
    throw new BackupError('source', `the store is damaged, as npm run fsck tells: ${file}: ${detail}`);
  }
}

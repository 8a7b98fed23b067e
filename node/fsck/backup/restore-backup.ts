import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { readRestorations } from '../../federation/start/restoration-table.ts';
import { keyDirectory } from '../../keys/node-keys.ts';
import type { Passphrase } from '../../keys/passphrase.ts';
import { requireFormat } from '../../store/format.ts';
import { Store, StoreError } from '../../store/store.ts';
import { BackupError, createFolder, filesBelow } from './folder.ts';
import { hashOf, type Manifest, MANIFEST_FILE, type ManifestFile, readManifest } from './manifest.ts';
import { type ProvedBackup, requireWhole } from './take-backup.ts';

export interface RestoreOptions {
  /** Folder of the backup. */
  readonly from: string;
  /** Folder that becomes the node's home. */
  readonly home: string;
  /** Opens the key files of the backup for `fsck`; null: they are not opened. */
  readonly passphrase: Passphrase | null;
  readonly signal: AbortSignal;
}

const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;

/**
 * Makes a home of a backup: every file is copied and hashed on the way, the whole is proved by `fsck`, and the home
 * appears once all of it is on the disk. A node that starts on it signs nothing before it knows how far its chain went
 * since.
 *
 * Crash order: a process that is killed leaves a folder of another name. The keys come into it last, once its store has
 * been seen to say that it is a copy: whatever was left, nobody can sign a second history from it.
 *
 * Throws `BackupError`, and what `fsck` throws; then there is no home.
 */
export async function restoreBackup({ from, home, passphrase, signal }: RestoreOptions): Promise<ProvedBackup> {
  const manifest = await readManifest(from);
  await requireFiles(from, manifest);
  return createFolder(home, async (work) => {
    const copy = async (files: readonly ManifestFile[]) => {
      for (const file of files) {
        signal.throwIfAborted();
        await copyProved(from, work, file);
      }
    };
    await copy(manifest.files.filter((file) => !isKeyFile(file)));
    await requireMarked(work, manifest);
    await mkdir(keyDirectory(work), { mode: FOLDER_MODE });
    await copy(manifest.files.filter(isKeyFile));
    const { report } = await requireWhole(work, signal, passphrase);
    return { manifest, notChecked: report.notChecked };
  });
}

function isKeyFile({ path }: ManifestFile): boolean {
  return path.startsWith(`${keyDirectory('')}/`);
}

/** The backup holds the files of its manifest and no others. Throws `BackupError` `damaged`. */
async function requireFiles(from: string, { files }: Manifest): Promise<void> {
  const found = new Set(await filesBelow(from));
  found.delete(MANIFEST_FILE);
  for (const { path } of files) {
    // A manifest that was changed could name a place outside.
    if (!found.delete(path)) throw new BackupError('damaged', `${path} is missing from the backup`);
  }
  const [stray] = found;
  if (stray !== undefined) throw new BackupError('damaged', `${stray} is no part of the backup`);
}

/** What is hashed is what is written: the file may change under the reader. */
async function copyProved(from: string, to: string, { path, bytes, sha256 }: ManifestFile): Promise<void> {
  const target = join(to, path);
  await mkdir(dirname(target), { recursive: true, mode: FOLDER_MODE });
  await using file = await open(target, 'wx', FILE_MODE);
  const hash = createHash('sha256');
  let copied = 0;
  for await (const chunk of createReadStream(join(from, path))) {
    const part: Uint8Array = chunk;
    hash.update(part);
    copied += part.length;
    await file.writeFile(part);
  }
  if (copied !== bytes || hashOf(hash.digest()) !== sha256) {
    throw new BackupError('damaged', `${path} is not the file that was backed up`);
  }
}

/** A store without the row that says that it is a copy would sign at once. */
async function requireMarked(work: string, { node, copy }: Manifest): Promise<void> {
  await using store = await Store.open(join(work, 'store'), { createIfMissing: false });
  await requireBackupFormat(store);
  const restorations = await readRestorations(store, node);
  if (restorations.some(({ takenAt, settled }) => takenAt === copy.takenAt && settled === null)) return;
  throw new BackupError('damaged', 'the store of the backup does not say that it is a copy');
}

async function requireBackupFormat(store: Store): Promise<void> {
  try {
    await requireFormat(store);
  } catch (error) {
    const isOther = error instanceof StoreError && error.code === 'format';
    throw isOther ? new BackupError('format', error.message, error) : error;
  }
}

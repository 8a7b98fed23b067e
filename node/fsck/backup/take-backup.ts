import { existsSync } from 'node:fs';
import { copyFile, cp, mkdir, readdir, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { NodeId } from '../../../protocol/ids.ts';
import { rosterFileValue } from '../../../protocol/keys/roster-file.ts';
import { createDurably } from '../../keys/durable-file.ts';
import {
  KEY_FILE_PURPOSES,
  type KeyFileContent,
  KeyFileError,
  keyFilePath,
  readKeyAt,
  rewriteKeyAt,
} from '../../keys/key-file.ts';
import { keyDirectory } from '../../keys/node-keys.ts';
import type { Passphrase } from '../../keys/passphrase.ts';
import { readNewestRosters } from '../../log/members/given-rosters.ts';
import { Store } from '../../store/store.ts';
import { fsck, type FsckResult } from '../fsck.ts';
import type { Counts } from '../report.ts';
import type { StoreCopy } from './copy-store.ts';
import { BackupError, createFolder, filesBelow, fromSource } from './folder.ts';
import { describeFile, type Manifest, MANIFEST_FILE, manifestText } from './manifest.ts';

/** Between two looks at the copy, in milliseconds. */
const LOOK_MS = 500;

/** Told how far a backup is. */
export interface BackupProgress {
  /** Bytes of the copy, and of the store that it is made of: about as many, until it is compacted. */
  readonly onCopied?: (bytes: number, all: number) => void;
  /** Records that were proved, and those that there seem to be. */
  readonly onProved?: (records: number, all: number) => void;
}

/** Tells how large a copy is while it is made, by whichever process. */
async function whileCopied<Result>(
  store: string,
  copy: string,
  make: () => Promise<Result>,
  { onCopied }: BackupProgress,
): Promise<Result> {
  if (onCopied === undefined) return make();
  const all = await bytesIn(store);
  const over = new AbortController();
  const looking = (async () => {
    while (!over.signal.aborted) {
      onCopied(Math.min(await bytesIn(copy), all), all);
      await sleep(LOOK_MS, undefined, { signal: over.signal }).catch(() => {});
    }
  })();
  try {
    return await make();
  } finally {
    over.abort();
    await looking;
  }
}

/** Of the files that are there: LevelDB takes some away meanwhile. */
async function bytesIn(directory: string): Promise<number> {
  let bytes = 0;
  for (const name of await readdir(directory).catch(() => [])) {
    const file = await stat(join(directory, name)).catch(() => undefined);
    bytes += file?.size ?? 0;
  }
  return bytes;
}

const FOLDER_MODE = 0o700;

/**
 * Copies the key files of a home, never in clear: encrypted ones as they are, plain ones written under `passphrase`. A
 * key on its way into use stays behind. Throws `BackupError` `keys` where a plain file has no passphrase, or one is
 * damaged.
 */
async function copyKeys(home: string, work: string, passphrase: Passphrase | null): Promise<void> {
  const [from, to] = [keyDirectory(home), keyDirectory(work)];
  await mkdir(to, { mode: FOLDER_MODE });
  for (const purpose of KEY_FILE_PURPOSES) {
    const [source, target] = [keyFilePath(from, purpose), keyFilePath(to, purpose)];
    const plain = await plainContent(source, purpose);
    if (plain === null) await copyFile(source, target);
    else if (passphrase !== null) await rewriteKeyAt(target, purpose, plain.secret, passphrase);
    else throw new BackupError('keys', `${source} is not encrypted, and there is no passphrase to put it under`);
  }
}

/** Null where the file is encrypted. */
async function plainContent(path: string, purpose: (typeof KEY_FILE_PURPOSES)[number]): Promise<KeyFileContent | null> {
  try {
    return await readKeyAt(path, purpose, null);
  } catch (error) {
    if (!(error instanceof KeyFileError)) throw error;
    if (error.fault === 'locked') return null;
    throw new BackupError('keys', `the keys cannot go along: ${error.message}`, error);
  }
}

export interface BackupOptions {
  readonly home: string;
  /** Folder that the backup becomes. */
  readonly to: string;
  /** Makes the copy of the store in a new folder: by the running node, or from the files of a stopped one. */
  readonly copyStore: (directory: string) => Promise<CopyOfNode>;
  /** Null: the key files stay behind. */
  readonly keys: KeyTerms | null;
  readonly signal: AbortSignal;
  readonly progress?: BackupProgress;
}

/** A backup that was proved by `fsck`. */
export interface ProvedBackup {
  readonly manifest: Manifest;
  /** Parts that could not be checked, and why. */
  readonly notChecked: readonly string[];
}

/** Whose store was copied, and what of it. */
export interface CopyOfNode {
  readonly node: NodeId;
  readonly copy: StoreCopy;
}

/** Keys go along encrypted or not at all. */
export interface KeyTerms {
  /** What plain key files are put under; null refuses them. */
  readonly passphrase: Passphrase | null;
}

/** The rosters of the store, in the form that `ROSTER` names. */
const ROSTERS_FILE = 'rosters.json';
const FILE_MODE = 0o600;
/** What LevelDB makes again at each start. */
const NOT_KEPT = ['LOCK', 'LOG', 'LOG.old'];

/**
 * A backup: `store/`, `lists/`, `rosters.json` and, where asked for, `keys/`, laid out as in a home, proved by `fsck`,
 * and `backup.json`, which names every file with its hash. The folder appears as a whole once all of it is on the disk.
 * Throws `BackupError`, and what `copyStore` and `fsck` throw.
 */
export async function takeBackup(options: BackupOptions): Promise<ProvedBackup> {
  const { home, to, keys, signal, progress = {} } = options;
  return createFolder(to, async (work) => {
    const store = join(work, 'store');
    const { node, copy } = await whileCopied(join(home, 'store'), store, () => options.copyStore(store), progress);
    await copyLists(home, work);
    await writeRosters(work);
    if (keys !== null) await copyKeys(home, work, keys.passphrase);
    signal.throwIfAborted();
    const { federation, report } = await requireWhole(work, signal, keys?.passphrase ?? null, progress);
    for (const name of NOT_KEPT) await rm(join(work, 'store', name), { force: true });
    const files = [];
    for (const path of await filesBelow(work)) files.push(await describeFile(work, path));
    const manifest: Manifest = { v: 1, type: 'backup', node, federation, copy, withKeys: keys !== null, files };
    await createDurably(join(work, MANIFEST_FILE), manifestText(manifest), FILE_MODE);
    return { manifest, notChecked: report.notChecked };
  });
}

/** Throws `BackupError` `not-whole` with what `fsck` finds, and what it throws. */
export async function requireWhole(
  directory: string,
  signal: AbortSignal,
  passphrase: Passphrase | null,
  { onProved }: BackupProgress = {},
): Promise<FsckResult> {
  const onProgress = ({ records }: Counts, all: number): void => onProved?.(records, all);
  const result = await fsck(directory, { signal, passphrase, onProgress });
  const problems = result.report.found('problem');
  if (problems === 0) return result;
  const first = result.report.findings.find(({ severity }) => severity === 'problem');
  const what = first === undefined ? '' : `: ${first.table} ${first.key ?? ''} ${first.detail}`;
  throw new BackupError('not-whole', `fsck finds ${problems} problems in the copy${what}`);
}

/** After the store: every edition that its rows name was whole in its folder before. */
async function copyLists(home: string, work: string): Promise<void> {
  const lists = join(home, 'lists');
  if (!existsSync(lists)) return;
  // What begins with a dot is no edition yet, and may go at any moment.
  await cp(lists, join(work, 'lists'), { recursive: true, filter: (path) => !basename(path).startsWith('.') });
}

async function writeRosters(work: string): Promise<void> {
  await using store = await Store.open(join(work, 'store'), { createIfMissing: false });
  const rosters = await fromSource(readNewestRosters(store));
  if (rosters === null) return;
  await createDurably(join(work, ROSTERS_FILE), `${JSON.stringify(rosterFileValue(rosters.given))}\n`, FILE_MODE);
}

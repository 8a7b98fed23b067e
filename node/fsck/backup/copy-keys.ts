import { copyFile, mkdir } from 'node:fs/promises';
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
import { BackupError } from './backup-error.ts';

const FOLDER_MODE = 0o700;

/**
 * Copies the key files of a home, never in clear: encrypted ones as they are, plain ones written under `passphrase`. A key
 * on its way into use stays behind. Throws `BackupError` `keys` where a plain file has no passphrase, or one is damaged.
 */
export async function copyKeys(home: string, work: string, passphrase: Passphrase | null): Promise<void> {
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

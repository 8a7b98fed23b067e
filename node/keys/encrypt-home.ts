import { existsSync } from 'node:fs';
import {
  KEY_FILE_PURPOSES,
  type KeyFileContent,
  KeyFileError,
  type KeyFilePurpose,
  keyFilePath,
  readKeyAt,
  rewriteKeyAt,
} from './key-file.ts';
import { nextKeyPath } from './next-key.ts';
import { keyDirectory } from './node-keys.ts';
import type { Passphrase } from './passphrase.ts';

interface KeyPlace {
  readonly path: string;
  readonly purpose: KeyFilePurpose;
}

/**
 * Writes the key files of a stopped node's home under a passphrase: plain ones, and those under `before`. All are read
 * before any is written, and each is replaced as a whole: after a crash some are under the new passphrase, and another
 * call does the rest. Returns the files that it wrote. Throws `KeyFileError`; then nothing was changed.
 */
export async function encryptHome(
  home: string,
  before: Passphrase | null,
  after: Passphrase,
  cost?: number,
): Promise<readonly string[]> {
  const due: (KeyPlace & { readonly secret: Uint8Array })[] = [];
  for (const place of placesOf(keyDirectory(home))) {
    const secret = await secretToWrite(place, before, after);
    if (secret !== null) due.push({ ...place, secret });
  }
  for (const { path, purpose, secret } of due) await rewriteKeyAt(path, purpose, secret, after, cost);
  return due.map(({ path }) => path);
}

function placesOf(directory: string): readonly KeyPlace[] {
  const places: KeyPlace[] = KEY_FILE_PURPOSES.map((purpose) => ({ path: keyFilePath(directory, purpose), purpose }));
  const next = nextKeyPath(directory);
  return existsSync(next) ? [...places, { path: next, purpose: 'signing' }] : places;
}

/** Null where the file is under the new passphrase already. */
async function secretToWrite(
  { path, purpose }: KeyPlace,
  before: Passphrase | null,
  after: Passphrase,
): Promise<Uint8Array | null> {
  let content: KeyFileContent;
  try {
    content = await readKeyAt(path, purpose, after);
  } catch (error) {
    if (!(error instanceof KeyFileError) || error.fault !== 'locked') throw error;
    return (await readKeyAt(path, purpose, before)).secret;
  }
  return content.encrypted ? null : content.secret;
}

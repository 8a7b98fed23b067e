import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import Type, { type Static } from 'typebox';
import { type Sha256Hash, writeSha256 } from '../../../protocol/hash.ts';
import { Compile } from '../../../protocol/shape-check.ts';
import { Closed, NodeIdShape, Sha256Shape } from '../../../protocol/shapes.ts';
import { StoreCopyShape } from './copy-store.ts';
import { BackupError } from './folder.ts';

const FileShape = Closed({
  /** Below the backup's folder, with `/` between its parts. */
  path: Type.String(),
  bytes: Type.Integer({ minimum: 0 }),
  sha256: Sha256Shape,
});
export type ManifestFile = Static<typeof FileShape>;

const ManifestShape = Closed({
  v: Type.Literal(1),
  type: Type.Literal('backup'),
  node: NodeIdShape,
  /** Eight hex digits of the federation's digest; null where the store has no roster. */
  federation: Type.Union([Type.String(), Type.Null()]),
  copy: StoreCopyShape,
  withKeys: Type.Boolean(),
  files: Type.Array(FileShape),
});
/** What a backup is: written last, it makes a folder one. */
export type Manifest = Static<typeof ManifestShape>;

export const MANIFEST_FILE = 'backup.json';

const compiled = Compile(ManifestShape);

/** Throws `BackupError` `no-backup`. */
export async function readManifest(directory: string): Promise<Manifest> {
  let value: unknown;
  try {
    value = JSON.parse(await readFile(join(directory, MANIFEST_FILE), 'utf8'));
  } catch (error) {
    throw new BackupError(
      'no-backup',
      `${directory} is no finished backup: it has no readable ${MANIFEST_FILE}`,
      error,
    );
  }
  if (compiled.Check(value)) return value;
  throw new BackupError('no-backup', `the ${MANIFEST_FILE} of ${directory} is of another form`);
}

export function manifestText(manifest: Manifest): string {
  return `${JSON.stringify(manifest, null, 2)}\n`;
}

/** Size and hash of a file's bytes as they are on the disk now. */
export async function describeFile(directory: string, path: string): Promise<ManifestFile> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of createReadStream(join(directory, path))) {
    const part: Uint8Array = chunk;
    hash.update(part);
    bytes += part.length;
  }
  return { path, bytes, sha256: hashOf(hash.digest()) };
}

export function hashOf(digest: Uint8Array): Sha256Hash {
  return writeSha256(new Uint8Array(digest));
}

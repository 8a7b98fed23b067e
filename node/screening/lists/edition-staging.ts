import { createHash, randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, open, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { encodeHex } from '../../../protocol/bytes.ts';
import { hashBytes, type Sha256Hash, writeSha256 } from '../../../protocol/hash.ts';
import type { EditionFile } from './contract.ts';
import { keptName, MANIFEST_FILE, manifestIn, MAX_FILE_BYTES, verifyFiles } from './edition-files.ts';
import { type EditionManifest, hashOfFiles } from './edition-manifest.ts';
import { surveyed } from './edition-survey.ts';
import { ListError } from './list-error.ts';
import type { ListId } from './list-id.ts';

/** A file of a new edition, wherever it comes from. */
export interface IncomingFile {
  readonly name: string;
  bytes(): AsyncIterable<Uint8Array>;
}

/** Folders that begin with this hold what is not yet, or never became, an edition. */
const STAGING_PREFIX = '.incoming-';

/** Folder of an edition below that of all lists. */
export function editionDirectory(root: string, listId: ListId, fileHash: Sha256Hash): string {
  return join(root, listId, encodeHex(hashBytes(fileHash)));
}

/**
 * Brings the files of a new edition under the folder of all lists, and reads them to their end, as they are kept. Crash
 * order: everything is written and synced in a staging folder, which is then renamed; a folder with the name of a hash
 * is whole. Throws `ListError`; then nothing is left of it.
 */
export async function stageEdition(
  root: string,
  listId: ListId,
  incoming: readonly IncomingFile[],
): Promise<EditionManifest> {
  const staging = join(root, listId, STAGING_PREFIX + randomUUID());
  await mkdir(staging, { recursive: true, mode: 0o700 });
  try {
    const files: EditionFile[] = [];
    for (const file of incoming) files.push(await keep(staging, file));
    const fileHash = hashOfFiles(files);
    const directory = editionDirectory(root, listId, fileHash);
    const known = await intactEdition(directory);
    if (known !== undefined) return known;
    const manifest = await readThrough(staging, listId, fileHash, files);
    await rm(directory, { recursive: true, force: true });
    await rename(staging, directory);
    await syncDirectory(dirname(directory));
    return manifest;
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

/** Removes what a crash left half-way. */
export async function removeStaging(root: string, listId: ListId): Promise<void> {
  const names = await readdir(join(root, listId)).catch(() => []);
  for (const name of names) {
    if (name.startsWith(STAGING_PREFIX)) await rm(join(root, listId, name), { recursive: true, force: true });
  }
}

async function keep(staging: string, { name, bytes }: IncomingFile): Promise<EditionFile> {
  const hash = createHash('sha256');
  let length = 0;
  async function* measured(): AsyncGenerator<Uint8Array> {
    for await (const chunk of bytes()) {
      length += chunk.length;
      if (length > MAX_FILE_BYTES) {
        throw new ListError('too-large', `${name} has more than ${MAX_FILE_BYTES >> 20} MiB`);
      }
      hash.update(chunk);
      yield chunk;
    }
  }
  const kept = keptName(name);
  const target = createWriteStream(join(staging, kept), { mode: 0o600, flush: true });
  if (kept === name) await pipeline(Readable.from(measured()), target);
  else await pipeline(Readable.from(measured()), createGzip(), target);
  return { name, sha256: writeSha256(hash.digest()), bytes: length };
}

/** An edition that was taken before, with all of its files; undefined where something of it is missing or other. */
export async function intactEdition(directory: string): Promise<EditionManifest | undefined> {
  try {
    const manifest = await manifestIn(directory);
    await verifyFiles(directory, manifest.files);
    return manifest;
  } catch (error) {
    if (error instanceof ListError) return undefined;
    throw error;
  }
}

/** Reads the kept files as every later reader will, and writes down what they hold. */
async function readThrough(
  staging: string,
  listId: ListId,
  fileHash: Sha256Hash,
  files: readonly EditionFile[],
): Promise<EditionManifest> {
  const content = await surveyed(staging, { listId, files });
  const plain = files.map(({ name, sha256, bytes }) => ({ name, sha256, bytes }));
  const manifest: EditionManifest = { v: 1, listId, fileHash, ...content, files: plain };
  await writeFile(join(staging, MANIFEST_FILE), `${JSON.stringify(manifest, null, 2)}\n`, { mode: 0o600, flush: true });
  await syncDirectory(staging);
  return manifest;
}

async function syncDirectory(path: string): Promise<void> {
  await using handle = await open(path, 'r');
  await handle.sync();
}

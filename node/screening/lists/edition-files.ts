import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { writeSha256 } from '../../../protocol/hash.ts';
import { LISTS } from './catalogue.ts';
import type { EditionFile, ListedEntry } from './contract.ts';
import { type EditionManifest, readManifest } from './edition-manifest.ts';
import { fileText } from './file-text.ts';
import { type FileSlot, type ListFile, ListFiles, type ListFormat, type ReadingNotes } from './formats/format.ts';
import { ListError } from './list-error.ts';
import type { ListId } from './list-id.ts';

/** What a folder of an edition holds. */
export interface EditionFiles {
  readonly listId: ListId;
  readonly files: readonly EditionFile[];
}

/** The manifest beside an edition's files. */
export const MANIFEST_FILE = 'edition.json';
const PACKED = '.gz';

/** The name that a file of an edition is kept under: packed, unless it came packed. */
export function keptName(name: string): string {
  return isPacked(name) ? name : name + PACKED;
}

/** Throws `ListError` where there is no edition in the folder. */
export async function manifestIn(directory: string): Promise<EditionManifest> {
  let text: string;
  try {
    text = await readFile(join(directory, MANIFEST_FILE), 'utf8');
  } catch (error) {
    throw new ListError('damaged', `the files of an edition are gone from ${directory}`, error);
  }
  return readManifest(text);
}

/**
 * The entries of an edition, read anew from the files in its folder. The files are hashed on the way, so that this throws
 * at its end where they are not those of the manifest: rely on no entry before it is through. `edition`: what the folder
 * holds, where that is known; else its manifest says so. Throws `ListError`.
 */
export async function* readEditionEntries(
  directory: string,
  edition?: EditionFiles,
  notes: ReadingNotes = { fileDate: null, unmatchedRows: 0 },
): AsyncGenerator<ListedEntry> {
  const { listId, files } = edition ?? (await manifestIn(directory));
  const form = formOf(
    listId,
    files.map(({ name }) => name),
  );
  const listFiles = files.flatMap((file): [string, ListFile][] => {
    const slot = form.slots.find((candidate) => fills(file.name, candidate));
    return slot === undefined ? [] : [[slot.file, keptFile(directory, file)]];
  });
  yield* form.format.read(new ListFiles(new Map(listFiles)), notes);
}

/** Throws `ListError` where a file is not the one that was taken, or gone. */
export async function verifyFiles(directory: string, files: readonly EditionFile[]): Promise<void> {
  for (const file of files) {
    for await (const _ of keptBytes(directory, file)) continue;
  }
}

/** The form that a set of file names is, and those of its slots. Throws `ListError` naming what is missing. */
export function formOf(
  listId: ListId,
  names: readonly string[],
): { readonly format: ListFormat; readonly slots: readonly FileSlot[] } {
  const { formats } = LISTS[listId];
  const missing = (format: ListFormat): readonly string[] =>
    format.slots.filter((slot) => slot.required && !names.some((name) => fills(name, slot))).map(({ file }) => file);
  const format = formats.find((candidate) => missing(candidate).length === 0);
  if (format !== undefined) return { format, slots: format.slots };
  const wanted = formats.map((candidate) => missing(candidate).join(' and ')).join(', or ');
  throw new ListError('files-missing', `${wanted} ${formats.length > 1 ? 'are' : 'is'} missing`);
}

/** Whether a file is the one that a slot is for, packed or not. */
export function fills(name: string, { file }: FileSlot): boolean {
  const lower = name.toLowerCase();
  return lower === file || lower === file + PACKED;
}

function keptFile(directory: string, file: EditionFile): ListFile {
  return { name: file.name, text: () => fileText(file.name.toLowerCase(), keptBytes(directory, file)) };
}

/** The bytes as they came. Throws `ListError` at the end where they are others. */
export async function* keptBytes(directory: string, { name, sha256 }: EditionFile): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256');
  for await (const chunk of storedBytes(join(directory, keptName(name)), isPacked(name))) {
    hash.update(chunk);
    yield chunk;
  }
  if (writeSha256(hash.digest()) !== sha256) throw new ListError('damaged', `${name} is not the file that was taken`);
}

async function* storedBytes(path: string, cameSo: boolean): AsyncGenerator<Uint8Array> {
  const stored = createReadStream(path);
  // What ends it early is thrown by the loop below.
  const bytes = cameSo ? stored : pipeline(stored, createGunzip(), () => undefined);
  try {
    for await (const chunk of bytes) {
      if (!(chunk instanceof Uint8Array)) throw new TypeError('a file gives no bytes');
      yield chunk;
    }
  } catch (error) {
    throw new ListError('damaged', `${path} cannot be read`, error);
  }
}

function isPacked(name: string): boolean {
  return name.toLowerCase().endsWith(PACKED);
}

import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline, Readable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { createGunzip } from 'node:zlib';
import { writeSha256 } from '../../../protocol/hash.ts';
import { LISTS } from './catalogue.ts';
import type { EditionFile, ListedEntry } from './contract.ts';
import { type EditionManifest, readManifest } from './edition-manifest.ts';
import { type FileSlot, type ListFile, ListFiles, type ListFormat, type ReadingNotes } from './formats/format.ts';
import { ListError } from './list-error.ts';
import type { ListId } from './list-id.ts';

/** Largest file as it comes. The largest official one has about 25 MB. In bytes. */
export const MAX_FILE_BYTES = 64 << 20;
/** Largest file once it is unpacked. In bytes. */
const MAX_TEXT_BYTES = 192 << 20;
/** Bytes of one piece of text: what is parsed of one is what the event loop waits for. */
const PIECE_BYTES = 16 << 10;
const NUL = '\0';

/**
 * The text of a file's bytes, unpacked where its name says `.gz`. It must be UTF-8 without NUL, which no list holds.
 * Throws `ListError`.
 */
export async function* fileText(
  name: string,
  bytes: AsyncIterable<Uint8Array>,
  maxBytes = MAX_TEXT_BYTES,
): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  for await (const piece of name.endsWith('.gz') ? unpacked(name, bytes, maxBytes) : pieces(bytes)) {
    const text = decoded(name, decoder, piece);
    if (text !== '') yield text;
    await turn();
  }
  const rest = decoded(name, decoder);
  if (rest !== '') yield rest;
}

function decoded(name: string, decoder: TextDecoder, piece?: Uint8Array): string {
  let text: string;
  try {
    text = piece === undefined ? decoder.decode() : decoder.decode(piece, { stream: true });
  } catch (error) {
    throw new ListError('malformed', `${name} is not UTF-8`, error);
  }
  if (text.includes(NUL)) throw new ListError('malformed', `${name} holds a NUL character`);
  return text;
}

async function* pieces(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const chunk of bytes) {
    for (let at = 0; at < chunk.length; at += PIECE_BYTES) yield chunk.subarray(at, at + PIECE_BYTES);
  }
}

/** Unpacks piece by piece: what comes out is judged before more is unpacked. */
async function* unpacked(name: string, bytes: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<Uint8Array> {
  const gunzip = createGunzip({ chunkSize: PIECE_BYTES });
  let length = 0;
  // What ends it early is thrown by the loop below.
  pipeline(Readable.from(bytes), gunzip, () => undefined);
  try {
    for await (const piece of gunzip) {
      if (!(piece instanceof Uint8Array)) throw new TypeError('an unpacked piece is no bytes');
      length += piece.length;
      if (length > maxBytes) throw new ListError('too-large', `${name} unpacks to more than ${maxBytes} bytes`);
      yield piece;
    }
  } catch (error) {
    if (error instanceof Error && 'code' in error && String(error.code).startsWith('Z_')) {
      throw new ListError('malformed', `${name} is damaged or cut off: ${error.message}`, error);
    }
    throw error;
  }
}

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
 * The entries of an edition, read again from the files in its folder. The files are hashed on the way, so that this
 * throws at its end where they are not those of the manifest: rely on no entry before it is through. `edition`: what
 * the folder holds, where that is known; else its manifest says so. Throws `ListError`.
 */
export async function* readEditionEntries(
  directory: string,
  edition?: EditionFiles,
  notes: ReadingNotes = { fileDate: null, unmatchedRows: 0, lacks: [] },
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

import { decodeUtf8, EncodingError } from '../bytes.ts';
import { hashText, type Sha256Hash, sha256Hash } from '../hash.ts';
import { StatementError } from '../statement/statement.ts';
import type { RunningHash, Suite } from '../suite/suite.ts';
import { chunksOf, ContainerError, type PackSource, type PlacedFile, readContainer } from './container.ts';
import { crc32 } from './crc32.ts';
import { PACK_FILES, type PackManifest, packStatement } from './manifest.ts';
import type { PackProblem, PackProblemCode } from './pack-verdict.ts';

/** Longest of the files that are read whole: manifest, its signature, what is said of the federation, erasures. */
const MAX_WHOLE_BYTES = 64 << 20;
const NAMES: readonly string[] = Object.values(PACK_FILES);
const UNLISTED: ReadonlySet<string> = new Set([PACK_FILES.manifest, PACK_FILES.signature]);

/** The files of a pack, found whole or not. */
export interface CheckedFiles {
  readonly files: ReadonlyMap<string, PlacedFile>;
  /** Null where it does not read. */
  readonly manifest: PackManifest | null;
  readonly manifestText: string;
  readonly manifestHash: Sha256Hash | null;
  readonly problems: readonly PackProblem[];
}

/** Told how many bytes of the pack were read just now. */
type OnRead = (bytes: number) => void;

/**
 * Reads every byte of a pack once: the container in its one form, every file with its check, and each but the manifest
 * and its signature as the manifest has it. Nothing is thrown on what a pack can hold.
 */
export async function checkFiles(
  suite: Suite,
  source: PackSource,
  newHash: () => RunningHash,
  onRead: OnRead,
): Promise<CheckedFiles> {
  const problems: PackProblem[] = [];
  const note = (code: PackProblemCode, path: string | null, detail: string): void => {
    problems.push({ code, path, id: null, detail });
  };
  let placed: readonly PlacedFile[] = [];
  try {
    placed = await readContainer(source);
  } catch (error) {
    if (!(error instanceof ContainerError)) throw error;
    note('container', null, error.message);
    return { files: new Map(), manifest: null, manifestText: '', manifestHash: null, problems };
  }
  if (placed.map(({ name }) => name).join('\n') !== NAMES.join('\n')) {
    note('file-missing', null, `it holds other files than ${NAMES.join(', ')} in this order`);
  }
  const files = new Map(placed.map((file) => [file.name, file]));
  const hashes = new Map<string, Sha256Hash>();
  for (const file of placed) {
    const { hash, crc } = await digest(source, file, newHash, onRead);
    hashes.set(file.name, hash);
    if (crc !== file.crc) note('file-changed', file.name, 'its check (CRC-32) is another than the container has');
  }
  const manifestText = await wholeText(source, files.get(PACK_FILES.manifest));
  const manifest = manifestOf(manifestText, note);
  if (manifest !== null) compare(manifest, placed, hashes, note);
  const manifestHash = manifest === null ? null : hashText(suite, manifestText);
  return { files, manifest, manifestText, manifestHash, problems };
}

type Note = (code: PackProblemCode, path: string | null, detail: string) => void;

function manifestOf(text: string, note: Note): PackManifest | null {
  try {
    return packStatement.parse(text);
  } catch (error) {
    if (!(error instanceof StatementError)) throw error;
    note('manifest-malformed', PACK_FILES.manifest, error.message);
    return null;
  }
}

/** Each file but manifest and signature stands in the manifest, with its length and its hash, and nothing else does. */
function compare(
  manifest: PackManifest,
  placed: readonly PlacedFile[],
  hashes: ReadonlyMap<string, Sha256Hash>,
  note: Note,
): void {
  const listed = new Map(manifest.files.map((file) => [file.path, file]));
  if (listed.size !== manifest.files.length) note('manifest-mismatch', PACK_FILES.manifest, 'it names a file twice');
  for (const { name, size } of placed) {
    if (UNLISTED.has(name)) continue;
    const file = listed.get(name);
    listed.delete(name);
    if (file === undefined) note('manifest-mismatch', name, 'the manifest does not name it');
    else if (file.bytes !== size || file.sha256 !== hashes.get(name)) {
      note('file-changed', name, 'it is not the file that the manifest names');
    }
  }
  for (const path of listed.keys()) note('file-missing', path, 'the manifest names it, and it is not there');
}

/** Text of a file that is read whole; empty where there is none, it is too long, or not UTF-8. Throws what the source throws. */
export async function wholeText(source: PackSource, file: PlacedFile | undefined): Promise<string> {
  if (file === undefined || file.size > MAX_WHOLE_BYTES) return '';
  const bytes = await source.read(file.from, file.from + file.size);
  try {
    return decodeUtf8(bytes);
  } catch (error) {
    if (!(error instanceof EncodingError)) throw error;
    return '';
  }
}

async function digest(
  source: PackSource,
  file: PlacedFile,
  newHash: () => RunningHash,
  onRead: OnRead,
): Promise<{ readonly hash: Sha256Hash; readonly crc: number }> {
  const hasher = newHash();
  let crc = 0;
  for await (const chunk of chunksOf(source, file)) {
    hasher.update(chunk);
    crc = crc32(chunk, crc);
    onRead(chunk.length);
  }
  return { hash: sha256Hash(`sha256:${hasher.hex()}`), crc };
}

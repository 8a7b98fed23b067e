import { open, readdir, readFile, stat, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { inOrder } from '../../concurrency/in-order.ts';
import { finding, type FileFinding } from './finding.ts';
import { FormatError } from './format-reader.ts';
import { scanLog } from './log-file.ts';
import { scanTable } from './table-file.ts';
import { applyEdit, emptyVersion, type Version } from './version-edits.ts';

export type { FileFinding, FindingCode, FindingSeverity } from './finding.ts';

interface LiveFiles {
  readonly logs: readonly string[];
  /** Size that the MANIFEST gives, by name. */
  readonly tables: ReadonlyMap<string, number>;
  readonly missing: readonly string[];
}

/** Tables that are read while another one's blocks are looked at. */
const TABLES_AHEAD = 3;
const COMPARATOR = 'leveldb.BytewiseComparator';
const CURRENT_CONTENT = /^(MANIFEST-\d{6,})\n$/;
const LOG_NAME = /^(\d+)\.log$/;
/** Text for people, and an empty file to lock: they hold no data, and nothing about them can be checked. */
const UNCHECKED = ['LOG', 'LOG.old', 'LOCK'];

/**
 * Checks the files of a LevelDB that no process has open, without opening it and without writing. Yields a finding for
 * any flipped bit in a live file: CURRENT, the MANIFEST it names, the logs from the MANIFEST's log number on, and every
 * live table. LOG, LOG.old and LOCK are ignored. Where CURRENT or the MANIFEST is damaged nobody can say which other
 * files are live, and the check ends there. What it cannot find: a log cut exactly between two records, and whether the
 * rows are the right ones.
 *
 * Memory stays at a few blocks and indexes of tables. Throws the file system's error where the folder itself
 * cannot be listed, and the signal's reason between two files.
 */
export async function* checkLevelDbFiles(directory: string, signal?: AbortSignal): AsyncGenerator<FileFinding> {
  const names = await readdir(directory);
  const current = await readCurrent(directory);
  if (typeof current !== 'string') {
    yield current;
    return;
  }
  const version = emptyVersion();
  let sound = true;
  for await (const found of scanManifest(directory, current, version)) {
    sound &&= found.severity !== 'problem';
    yield found;
  }
  if (!sound) return;
  const live = liveFiles(names, version);
  yield* live.missing.map((name) => finding('missing-file', name, null, 'the MANIFEST names it, and it is not there'));
  yield* scanLogs(directory, live.logs, signal);
  const scanOne = async ([name, size]: readonly [string, number]): Promise<FileFinding[]> => {
    signal?.throwIfAborted();
    return Array.fromAsync(whileOpen(directory, name, (file) => scanTable({ name, file, size })));
  };
  for await (const found of inOrder(live.tables.entries(), scanOne, TABLES_AHEAD)) yield* found;
  const known = new Set([...UNCHECKED, 'CURRENT', current, ...live.logs, ...live.tables.keys()]);
  for (const name of names.toSorted()) {
    if (!known.has(name)) yield finding('unreferenced', name, null, 'the database does not use it');
  }
}

/** The name of the MANIFEST in force, or why there is none. */
async function readCurrent(directory: string): Promise<string | FileFinding> {
  try {
    const content = await readFile(join(directory, 'CURRENT'), 'latin1');
    return CURRENT_CONTENT.exec(content)?.[1] ?? finding('current-malformed', 'CURRENT', 0, 'it names no MANIFEST');
  } catch (error) {
    return unreadable('CURRENT', error);
  }
}

/** Fills the version, and yields what is wrong with the MANIFEST. */
async function* scanManifest(directory: string, name: string, version: Version): AsyncGenerator<FileFinding> {
  yield* whileOpen(directory, name, (file) => applyEdits(name, file, version));
  if (version.comparator !== null && version.comparator !== COMPARATOR) {
    yield finding('comparator-unknown', name, null, `the rows are ordered by ${version.comparator}`);
  }
  const { comparator, logNumber, nextFileNumber, lastSequence } = version;
  if ([comparator, logNumber, nextFileNumber, lastSequence].includes(null)) {
    yield finding('manifest-incomplete', name, null, 'it lacks the comparator, a file number or the last sequence');
  }
}

async function* applyEdits(name: string, file: FileHandle, version: Version): AsyncGenerator<FileFinding> {
  for await (const found of scanLog({ name, file, collect: true })) {
    if ('severity' in found) {
      yield found;
      continue;
    }
    try {
      applyEdit(version, found.payload);
    } catch (error) {
      if (!(error instanceof FormatError)) throw error;
      yield finding('edit-malformed', name, found.offset, error.message);
    }
  }
}

function liveFiles(names: readonly string[], { logNumber, prevLogNumber, tables }: Version): LiveFiles {
  const present = new Set(names);
  const missing: string[] = [];
  const logs = names.filter((name) => isLiveLog(name, logNumber ?? 0, prevLogNumber ?? 0));
  logs.sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10));
  // Number 0 is that of a database in which nothing was written yet.
  const first = `${sixDigits(logNumber ?? 0)}.log`;
  if (logNumber !== 0 && !present.has(first)) missing.push(first);
  const sizes = new Map<string, number>();
  for (const { number, size } of tables.values()) {
    const stem = sixDigits(number);
    const name = [`${stem}.ldb`, `${stem}.sst`].find((candidate) => present.has(candidate));
    if (name === undefined) missing.push(`${stem}.ldb`);
    else sizes.set(name, size);
  }
  return { logs, tables: sizes, missing };
}

function isLiveLog(name: string, logNumber: number, prevLogNumber: number): boolean {
  const digits = LOG_NAME.exec(name)?.[1];
  if (digits === undefined) return false;
  return Number(digits) >= logNumber || (prevLogNumber !== 0 && Number(digits) === prevLogNumber);
}

function sixDigits(number: number): string {
  return String(number).padStart(6, '0');
}

/** Only the last log that anything was written to may end inside a record: those before it were closed whole. */
async function* scanLogs(
  directory: string,
  logs: readonly string[],
  signal?: AbortSignal,
): AsyncGenerator<FileFinding> {
  const sizes = await Promise.all(logs.map((name) => sizeOf(join(directory, name))));
  const last = logs.findLast((_, index) => sizes[index] !== 0);
  for (const name of logs) {
    signal?.throwIfAborted();
    for await (const found of whileOpen(directory, name, (file) => scanLog({ name, file, collect: false }))) {
      if ('severity' in found) yield name === last ? found : { ...found, severity: 'problem' };
    }
  }
}

/** Size in bytes, or 0 where it cannot be had: opening the file will then say why. */
async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch {
    return 0;
  }
}

/** Runs a scan on an open file and closes it. A file system that cannot deliver the bytes is a finding. */
async function* whileOpen<T>(
  directory: string,
  name: string,
  scan: (file: FileHandle) => AsyncGenerator<T>,
): AsyncGenerator<T | FileFinding> {
  try {
    await using file = await open(join(directory, name));
    yield* scan(file);
  } catch (error) {
    yield unreadable(name, error);
  }
}

function unreadable(name: string, error: unknown): FileFinding {
  if (!(error instanceof Error && 'code' in error && typeof error.code === 'string')) throw error;
  const code = error.code === 'ENOENT' ? 'missing-file' : 'unreadable-file';
  return finding(code, name, null, `it cannot be read: ${error.code}`);
}

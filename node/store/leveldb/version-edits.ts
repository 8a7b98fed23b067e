import { FormatError, FormatReader } from './format-reader.ts';

/** What the version edits of a MANIFEST add up to. */
export interface Version {
  comparator: string | null;
  /** Logs from this number on are live. */
  logNumber: number | null;
  prevLogNumber: number | null;
  nextFileNumber: number | null;
  lastSequence: number | null;
  /** Live tables by level and number; the value is the size in bytes. */
  readonly tables: Map<`${number}:${number}`, { readonly number: number; readonly size: number }>;
}

type TableFileEntry = readonly [level: number, number: number, size: number];

const LEVELS = 7;
/** Tags of google/leveldb db/version_edit.cc. */
const COMPARATOR = 1;
const LOG_NUMBER = 2;
const NEXT_FILE_NUMBER = 3;
const LAST_SEQUENCE = 4;
const COMPACT_POINTER = 5;
const DELETED_FILE = 6;
const NEW_FILE = 7;
const PREV_LOG_NUMBER = 9;

export function emptyVersion(): Version {
  return {
    comparator: null,
    logNumber: null,
    prevLogNumber: null,
    nextFileNumber: null,
    lastSequence: null,
    tables: new Map(),
  };
}

/** Applies one record of a MANIFEST. Throws `FormatError`, and has then changed nothing of the tables. */
export function applyEdit(version: Version, payload: Buffer): void {
  const edit = new FormatReader(payload);
  const deleted: TableFileEntry[] = [];
  const added: TableFileEntry[] = [];
  while (edit.left > 0) {
    const tag = edit.varint();
    if (tag === COMPARATOR) version.comparator = edit.lengthPrefixed().toString('utf8');
    else if (tag === LOG_NUMBER) version.logNumber = edit.varint();
    else if (tag === PREV_LOG_NUMBER) version.prevLogNumber = edit.varint();
    else if (tag === NEXT_FILE_NUMBER) version.nextFileNumber = edit.varint();
    else if (tag === LAST_SEQUENCE) version.lastSequence = edit.varint();
    else if (tag === COMPACT_POINTER) readCompactPointer(edit);
    else if (tag === DELETED_FILE) deleted.push([readLevel(edit), edit.varint(), 0]);
    else if (tag === NEW_FILE) added.push(readNewFile(edit));
    else throw new FormatError(`a version edit has the unknown tag ${tag}`);
  }
  // Within one edit LevelDB deletes first: a file moved down a level is in both lists.
  for (const [level, number] of deleted) version.tables.delete(`${level}:${number}`);
  for (const [level, number, size] of added) version.tables.set(`${level}:${number}`, { number, size });
}

function readCompactPointer(edit: FormatReader): void {
  readLevel(edit);
  edit.lengthPrefixed();
}

function readNewFile(edit: FormatReader): TableFileEntry {
  const table = [readLevel(edit), edit.varint(), edit.varint()] as const;
  edit.lengthPrefixed();
  edit.lengthPrefixed();
  return table;
}

function readLevel(edit: FormatReader): number {
  const level = edit.varint();
  if (level >= LEVELS) throw new FormatError(`a version edit names level ${level}`);
  return level;
}

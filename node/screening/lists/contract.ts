import type { Sha256Hash } from '../../../protocol/hash.ts';
import type { RecordId } from '../../../protocol/ids.ts';
import type { Timestamp } from '../../../protocol/time.ts';
import type { ListId } from './list-id.ts';

/**
 * What a name is to its entry, as the list itself says it. `reordered`: "Given SURNAME Jr." of an individual whom OFAC
 * names "SURNAME, Given, Jr.".
 */
export const NAME_KINDS = ['primary', 'strong-alias', 'weak-alias', 'original-script', 'reordered'] as const;
export type NameKind = (typeof NAME_KINDS)[number];

const ENTRY_TYPES = ['individual', 'entity', 'vessel', 'aircraft', 'unknown'] as const;
export type EntryType = (typeof ENTRY_TYPES)[number];

export interface ListedName {
  readonly text: string;
  readonly kind: NameKind;
}

/** One party of a list. It has at least one name; the first is its title. */
export interface ListedEntry {
  /**
   * The list's own id of the party. Entries of the BIS list, which has none, share one where source, name and notice
   * are the same; everywhere else it is unique in the edition.
   */
  readonly entryId: string;
  readonly type: EntryType;
  readonly names: readonly ListedName[];
  readonly programs: readonly string[];
  readonly remarks?: string;
  /** Digital currency addresses of any chain, as the list writes them. */
  readonly addresses: readonly string[];
}

export interface EditionFile {
  readonly name: string;
  /** Of the file's bytes as they came, still compressed where it came compressed. */
  readonly sha256: Sha256Hash;
  readonly bytes: number;
}

/** One state of a list, as its publisher gave it out. */
export interface Edition {
  readonly listId: ListId;
  readonly authority: string;
  readonly title: string;
  /** SHA-256 of the one file; of several files that of the text `sha256sum` prints for them, names in byte order. */
  readonly fileHash: Sha256Hash;
  /** Day or time that the files themselves bear; null where they bear none. */
  readonly fileDate: string | null;
  /** When the files were last fetched, or found unchanged, at their source. */
  readonly retrievedAt: Timestamp;
  readonly entryCount: number;
  /** Names as the list writes them: those of kind `reordered` are not counted. */
  readonly nameCount: number;
  /** Rows of companion files that belong to no entry, and that no search finds. */
  readonly unmatchedRows: number;
  /** Made-up entries of our own, to try things out with. */
  readonly sample: boolean;
  readonly files: readonly EditionFile[];
  /** The record that attests that this node took it, or found it unchanged, at `retrievedAt`. */
  readonly attestationId: RecordId;
}

/** The lists that a node screens against. */
export interface Lists {
  /** The editions in force; a list that was never imported, or whose files were found gone or damaged, is missing. */
  current(): ReadonlyMap<ListId, Edition>;
  /**
   * The edition in force, once all of its files were found to be those that were taken. Where they are not it is in
   * force no more: the list is missing until it is taken again.
   */
  intact(listId: ListId): Promise<Edition | undefined>;
  /** An edition that was in force once, for as long as its files are kept. */
  edition(listId: ListId, fileHash: Sha256Hash): Promise<Edition | undefined>;
  /** Reads the edition's files again, hashing them on the way. Throws `ListError` where they are damaged or gone. */
  entries(edition: Pick<Edition, 'listId' | 'fileHash'>): AsyncIterable<ListedEntry>;
  /** Folder that `readEditionEntries` (./edition-files.ts) reads the edition from, in another thread. */
  directoryOf(edition: Pick<Edition, 'listId' | 'fileHash'>): string;
  /** Told after an edition came into force, or was found unchanged. Returns what ends it. */
  onChange(listener: (edition: Edition) => void): () => void;
}

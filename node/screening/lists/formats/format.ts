import type { ListedEntry } from '../contract.ts';
import { ListError } from '../list-error.ts';

/** One file of an edition as a format reads it. */
export interface ListFile {
  readonly name: string;
  /** Its text, decoded strictly and in pieces. Throws `ListError`. */
  text(): AsyncIterable<string>;
}

/** What a format finds out beside the entries. It is complete once the last entry was read. */
export interface ReadingNotes {
  /** Day or time that the files bear. */
  fileDate: string | null;
  /** Rows of a companion file that belong to no entry of the main one. */
  unmatchedRows: number;
  /** What a whole list of this form would have, and these files do not: they may be cut off. A predicate each. */
  readonly lacks: string[];
}

export interface FileSlot {
  /** Name that the publisher gives the file, in lower case; `.gz` may follow. */
  readonly file: string;
  readonly required: boolean;
}

/** One official form of a list. */
export interface ListFormat {
  readonly slots: readonly FileSlot[];
  /** Entries in the order of the file. Throws `ListError` where the files are not of this form. */
  read(files: ListFiles, notes: ReadingNotes): AsyncGenerator<ListedEntry>;
}

/** The files of an edition by the slot that they fill. */
export class ListFiles {
  readonly #files: ReadonlyMap<string, ListFile>;

  constructor(files: ReadonlyMap<string, ListFile>) {
    this.#files = files;
  }

  /** Throws `ListError` where it is not there. */
  required(slot: string): ListFile {
    const file = this.#files.get(slot);
    if (file === undefined) throw new ListError('files-missing', `${slot} is missing`);
    return file;
  }

  optional(slot: string): ListFile | undefined {
    return this.#files.get(slot);
  }
}

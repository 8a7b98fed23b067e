import type { EntryType, ListedEntry } from './lists/contract.ts';
import type { KeyTable } from './key-table.ts';
import type { PackedTexts } from './packed-texts.ts';

/** An edition made ready to be searched. Of plain buffers alone: a thread hands it over without a copy. */
export interface PackedEdition {
  /** Keys of the names; they stand for numbers of names. */
  readonly keys: KeyTable;
  /** Places in `keys.bytes` at which a token begins, in the byte order of what follows there. */
  readonly suffixes: Uint32Array;
  /** The key that each of them lies in. */
  readonly suffixKeys: Uint32Array;
  /** Names as the list writes them; those of one entry follow one another, its title first. */
  readonly names: PackedTexts;
  /** Entry of a name, and place of its kind in `NAME_KINDS`. */
  readonly nameEntries: Uint32Array;
  readonly nameKinds: Uint8Array;
  /** First name of an entry. */
  readonly titles: Uint32Array;
  /** EVM addresses in lower case; they stand for numbers of entries. */
  readonly addresses: KeyTable;
  /** What an answer shows of each entry beside its names, as JSON. */
  readonly particulars: PackedTexts;
}

/** What an answer shows of an entry beside its names. */
export type Particulars = {
  readonly entryId: string;
  readonly entryType: EntryType;
  readonly programs: readonly string[];
  readonly remarks?: string;
};

/** Most characters of remarks that an answer shows. */
const MAX_REMARKS = 300;
/** Most programs of an entry that an answer shows. */
const MAX_PROGRAMS = 20;

export function particularsOf({ entryId, type, programs, remarks }: ListedEntry): Particulars {
  return {
    entryId,
    entryType: type,
    programs: programs.slice(0, MAX_PROGRAMS),
    ...(remarks === undefined ? {} : { remarks: shortened(remarks) }),
  };
}

function shortened(remarks: string): string {
  const characters = Array.from(remarks.slice(0, 2 * MAX_REMARKS + 2));
  return characters.length <= MAX_REMARKS ? remarks : `${characters.slice(0, MAX_REMARKS).join('')}…`;
}

/** All arrays of an edition: what it weighs, and what a thread gives away with it. */
export function arraysOf({
  keys,
  names,
  addresses,
  particulars,
  ...own
}: PackedEdition): readonly (Uint8Array | Uint32Array)[] {
  return [
    ...[keys, addresses].flatMap((table) => Object.values(table)),
    ...[names, particulars].flatMap((texts) => Object.values(texts)),
    ...Object.values(own),
  ];
}

import type { EntryType, ListedEntry } from './lists/contract.ts';

/**
 * Keys in byte order, and what each stands for. Of plain buffers alone, so that another thread can make it and hand it
 * over.
 */
export interface KeyTable {
  /** UTF-8 of the keys, each followed by `END`. */
  readonly bytes: Uint8Array;
  /** Where a key begins in `bytes`; one more than there are keys. */
  readonly starts: Uint32Array;
  /** Where the numbers of a key begin in `refs`; one more than there are keys. */
  readonly refStarts: Uint32Array;
  /** What the keys stand for, ascending within a key. */
  readonly refs: Uint32Array;
}

/** Less than every byte of a key, so that a key sorts before its continuations. */
export const END = 0;

const NONE: Uint32Array = new Uint32Array(0);

/** Packs keys and the ascending numbers that each stands for. No key may hold a byte `END`. */
export function packKeys(keys: ReadonlyMap<string, readonly number[]>): KeyTable {
  // Of one character a byte, so that the order of the texts is that of their bytes.
  const inOrder = [...keys]
    .map(([key, refs]) => ({ key: Buffer.from(key).toString('latin1'), refs }))
    .sort((a, b) => (a.key < b.key ? -1 : 1));
  const starts = new Uint32Array(inOrder.length + 1);
  const refStarts = new Uint32Array(inOrder.length + 1);
  for (const [i, { key, refs }] of inOrder.entries()) {
    starts[i + 1] = (starts[i] ?? 0) + key.length + 1;
    refStarts[i + 1] = (refStarts[i] ?? 0) + refs.length;
  }
  const bytes = new Uint8Array(starts.at(-1) ?? 0);
  const all = new Uint32Array(refStarts.at(-1) ?? 0);
  for (const [i, { key, refs }] of inOrder.entries()) {
    bytes.set(Buffer.from(key, 'latin1'), starts[i]);
    all.set(refs, refStarts[i]);
  }
  return { bytes, starts, refStarts, refs: all };
}

/** Number of the key of these bytes; undefined where there is none. */
export function findKey({ bytes, starts }: KeyTable, sought: Uint8Array): number | undefined {
  const keys = starts.length - 1;
  const found = firstThat(keys, (key) => compareAt(bytes, starts[key] ?? 0, sought) >= 0);
  if (found === keys) return undefined;
  const start = starts[found] ?? 0;
  const isWhole = compareAt(bytes, start, sought) === 0 && bytes[start + sought.length] === END;
  return isWhole ? found : undefined;
}

/** What a key stands for. */
export function refsOf({ refStarts, refs }: KeyTable, key: number | undefined): Uint32Array {
  return key === undefined ? NONE : refs.subarray(refStarts[key], refStarts[key + 1]);
}

/** The order of what begins at a place, cut to the length of the sought bytes, and these bytes. */
function compareAt(bytes: Uint8Array, at: number, sought: Uint8Array): number {
  for (let i = 0; i < sought.length; i++) {
    const order = (bytes[at + i] ?? END) - (sought[i] ?? END);
    if (order !== 0) return order;
  }
  return 0;
}

/** First number below `count` that the condition holds for, as it then does for all above; `count` where for none. */
export function firstThat(count: number, holds: (index: number) => boolean): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** An edition made ready to be searched. Of plain buffers alone: a thread hands it over without a copy. */
export interface PackedEdition {
  /** Keys of the names; they stand for numbers of names. */
  readonly keys: KeyTable;
  /** Places in `keys.bytes` at which a word begins, in the order of the letters and digits that follow there. */
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

/** Texts by number, in UTF-8. Of plain buffers alone. */
interface PackedTexts {
  readonly bytes: Uint8Array;
  /** Where a text begins in `bytes`; one more than there are texts. */
  readonly starts: Uint32Array;
}

export function packTexts(texts: readonly string[]): PackedTexts {
  const parts = texts.map((text) => Buffer.from(text));
  const starts = new Uint32Array(parts.length + 1);
  for (const [i, { length }] of parts.entries()) starts[i + 1] = (starts[i] ?? 0) + length;
  const bytes = new Uint8Array(starts.at(-1) ?? 0);
  for (const [i, part] of parts.entries()) bytes.set(part, starts[i]);
  return { bytes, starts };
}

/** Throws `RangeError` where there is no text of the number. */
export function textAt({ bytes, starts }: PackedTexts, number: number): string {
  const start = starts[number];
  const end = starts[number + 1];
  if (start === undefined || end === undefined) throw new RangeError(`there is no text ${number}`);
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('utf8');
}

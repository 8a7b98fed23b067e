import { normalizedName } from '../../protocol/screening/name-key.ts';
import { findPlaces } from './key-suffixes.ts';
import { type Edition, NAME_KINDS, type NameKind } from './lists/contract.ts';
import { arraysOf, findKey, type PackedEdition, type Particulars, refsOf, textAt } from './packed-edition.ts';

/** An entry that was found, and its best name. */
interface BestName {
  readonly entry: number;
  readonly name: number;
  readonly rank: number;
}

/**
 * Gathers the best name of each entry that is found, without work for those that are not. Ownership: of one search at a
 * time, from the first `note` to `take`; what it holds in between is of that search.
 */
class BestNames {
  /** Rank of an entry's best name and one more; 0: the entry was not found. */
  readonly #marks: Uint8Array;
  readonly #names: Uint32Array;
  #found: number[] = [];

  constructor(entries: number) {
    this.#marks = new Uint8Array(entries);
    this.#names = new Uint32Array(entries);
  }

  /** `rank`: below 255; lower ones are better, and of equals the first stays. */
  note(entry: number, name: number, rank: number): void {
    const mark = this.#marks[entry] ?? 0;
    if (mark === 0) this.#found.push(entry);
    else if (mark <= rank + 1) return;
    this.#marks[entry] = rank + 1;
    this.#names[entry] = name;
  }

  /**
   * How many were found and the first of them: those of a rank below `divide` before others, then in order of their
   * numbers. Nothing is held any more afterwards.
   */
  take(most: number, divide: number): { readonly count: number; readonly first: readonly BestName[] } {
    const entries = Uint32Array.from(this.#found).sort();
    const above: BestName[] = [];
    const below: BestName[] = [];
    for (const entry of entries) {
      const rank = (this.#marks[entry] ?? 0) - 1;
      const part = rank < divide ? above : below;
      if (part.length < most) part.push({ entry, name: this.#names[entry] ?? 0, rank });
      this.#marks[entry] = 0;
    }
    this.#found = [];
    return { count: entries.length, first: [...above, ...below].slice(0, most) };
  }
}

export type MatchType = 'exact' | 'substring';

/** An entry as an answer shows it; `name` is its title. */
export type FoundEntry = Particulars & {
  readonly name: string;
};

/** An entry that a query was found in, and the name of it that was. */
export type Match = FoundEntry & {
  readonly matchType: MatchType;
  readonly matchedOn: NameKind;
  readonly matchedName: string;
};

export interface Found {
  /** Entries that match, each counted once. */
  readonly count: number;
  /** The first `MAX_MATCHES` of them: exact ones before others, then in the order of the list. */
  readonly matches: readonly Match[];
}

export const MAX_MATCHES = 50;
/** Shorter keys are found as whole names only: they lie inside too many. In code points. */
export const MIN_SUBSTRING = 4;

/** One edition of a list, ready to be searched. Nothing in it changes; a search takes microseconds. */
export class EditionSearch {
  readonly edition: Edition;
  readonly #packed: PackedEdition;
  readonly #best: BestNames;

  constructor(edition: Edition, packed: PackedEdition) {
    this.edition = edition;
    this.#packed = packed;
    this.#best = new BestNames(packed.titles.length);
  }

  /** The same entries under newer particulars: the edition was found unchanged at its source. */
  under(edition: Edition): EditionSearch {
    return new EditionSearch(edition, this.#packed);
  }

  /** Memory that it takes, in bytes. */
  get bytes(): number {
    return arraysOf(this.#packed).reduce((sum, { byteLength }) => sum + byteLength, 0);
  }

  /** Different EVM addresses that the edition lists. */
  get addressCount(): number {
    return this.#packed.addresses.starts.length - 1;
  }

  /**
   * Entries with a name of this key and, for keys of `MIN_SUBSTRING` characters, those in a name of which its words
   * stand together. What parts words and letters may differ as `endOfKey` says.
   */
  byName(key: string): Found {
    const { keys } = this.#packed;
    const extent = [...normalizedName(key)].length >= MIN_SUBSTRING ? 'words' : 'whole';
    findPlaces(this.#packed, { sought: Buffer.from(key), extent }, (held, isWhole) => {
      for (const name of refsOf(keys, held)) this.#note(name, isWhole ? 0 : NAME_KINDS.length);
    });
    const { count, first } = this.#best.take(MAX_MATCHES, NAME_KINDS.length);
    return { count, matches: first.map((best) => this.#match(best)) };
  }

  /** Entries that list an EVM address, whatever currency they list it for; its case makes no difference. */
  byAddress(address: string): readonly FoundEntry[] {
    const { addresses } = this.#packed;
    const key = findKey(addresses, Buffer.from(address.toLowerCase()));
    return [...refsOf(addresses, key).subarray(0, MAX_MATCHES)].map((entry) => this.#entry(entry));
  }

  /** `above`: rank of the best kind of name. */
  #note(name: number, above: number): void {
    const { nameEntries, nameKinds } = this.#packed;
    this.#best.note(nameEntries[name] ?? 0, name, above + (nameKinds[name] ?? 0));
  }

  #match({ entry, name, rank }: BestName): Match {
    const { names, nameKinds } = this.#packed;
    return {
      ...this.#entry(entry),
      matchType: rank < NAME_KINDS.length ? 'exact' : 'substring',
      matchedOn: NAME_KINDS[nameKinds[name] ?? 0] ?? 'primary',
      matchedName: textAt(names, name),
    };
  }

  #entry(entry: number): FoundEntry {
    const { particulars, names, titles } = this.#packed;
    // Written by `packEdition` of this very program.
    const own = JSON.parse(textAt(particulars, entry)) as Particulars;
    return { ...own, name: textAt(names, titles[entry] ?? 0) };
  }
}

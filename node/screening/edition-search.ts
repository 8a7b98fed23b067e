import { type Edition, NAME_KINDS, type NameKind } from '../lists/contract.ts';
import { compareAt, findKey, firstThat, refsOf } from './key-table.ts';
import { arraysOf, type PackedEdition, type Particulars } from './packed-edition.ts';
import { textAt } from './packed-texts.ts';

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

/** Greater than the bytes that can follow a whole token, less than those that go on with it. */
const PAST_TOKEN = Uint8Array.of(0x21);

/** The best name of an entry so far. Lower ranks are better. */
interface Best {
  readonly name: number;
  readonly rank: number;
}

/** One edition of a list, ready to be searched. Nothing in it changes; a search takes microseconds. */
export class EditionSearch {
  readonly edition: Edition;
  readonly #packed: PackedEdition;

  constructor(edition: Edition, packed: PackedEdition) {
    this.edition = edition;
    this.#packed = packed;
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

  /** Entries with a name of this key and, for keys of `MIN_SUBSTRING` characters, those in a name of which its tokens stand together. */
  byName(key: string): Found {
    const { keys } = this.#packed;
    const sought = Buffer.from(key);
    const best = new Map<number, Best>();
    for (const name of refsOf(keys, findKey(keys, sought))) this.#note(best, name, 0);
    if ([...key].length >= MIN_SUBSTRING) {
      for (const held of this.#keysThatHold(sought)) {
        for (const name of refsOf(keys, held)) this.#note(best, name, NAME_KINDS.length);
      }
    }
    const inOrder = [...best].sort(([a, one], [b, other]) => Number(isExact(other)) - Number(isExact(one)) || a - b);
    return {
      count: best.size,
      matches: inOrder.slice(0, MAX_MATCHES).map(([entry, name]) => this.#match(entry, name)),
    };
  }

  /** Entries that list an EVM address, whatever currency they list it for; its case makes no difference. */
  byAddress(address: string): readonly FoundEntry[] {
    const { addresses } = this.#packed;
    const key = findKey(addresses, Buffer.from(address.toLowerCase()));
    return [...refsOf(addresses, key).subarray(0, MAX_MATCHES)].map((entry) => this.#entry(entry));
  }

  /** Keys in which the sought tokens stand together, one for each place where they do. */
  #keysThatHold(sought: Uint8Array): Uint32Array {
    const { keys, suffixes, suffixKeys } = this.#packed;
    const from = (bytes: Uint8Array): number =>
      firstThat(suffixes.length, (i) => compareAt(keys.bytes, suffixes[i] ?? 0, bytes) >= 0);
    return suffixKeys.subarray(from(sought), from(Buffer.concat([sought, PAST_TOKEN])));
  }

  #note(best: Map<number, Best>, name: number, above: number): void {
    const { nameEntries, nameKinds } = this.#packed;
    const entry = nameEntries[name] ?? 0;
    const rank = above + (nameKinds[name] ?? 0);
    const known = best.get(entry);
    if (known === undefined || rank < known.rank) best.set(entry, { name, rank });
  }

  #match(entry: number, { name, rank }: Best): Match {
    const { names, nameKinds } = this.#packed;
    return {
      ...this.#entry(entry),
      matchType: isExact({ rank }) ? 'exact' : 'substring',
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

function isExact({ rank }: Pick<Best, 'rank'>): boolean {
  return rank < NAME_KINDS.length;
}

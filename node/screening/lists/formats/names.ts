import type { EntryType, ListedEntry, ListedName, NameKind } from '../contract.ts';
import type { ReadingNotes } from './format.ts';

/** Runs of white space become one space. */
export function collapse(text: string): string {
  return text.replace(/\s+/gu, ' ').trim();
}

/** Adds a name as the list writes it; an empty one is none. */
export function addName(names: ListedName[], text: string, kind: NameKind): void {
  const name = collapse(text);
  if (name !== '') names.push({ text: name, kind });
}

/** Notes entries that have no name: no search would find them. */
export function noteNameless(notes: ReadingNotes, count: number): void {
  if (count > 0) notes.lacks.push(`${count} of its entries have no name`);
}

/** What is put together row by row where a list has several rows for one entry. */
export interface GatheredEntry {
  readonly entryId: string;
  type: EntryType;
  readonly names: ListedName[];
  readonly programs: Set<string>;
  readonly addresses: Set<string>;
  remarks: string;
}

/** Entries of which several rows tell, in the order of their first rows. */
export class GatheredEntries {
  readonly #entries = new Map<string, GatheredEntry>();

  of(entryId: string): GatheredEntry {
    const known = this.#entries.get(entryId);
    if (known !== undefined) return known;
    const entry: GatheredEntry = {
      entryId,
      type: 'unknown',
      names: [],
      programs: new Set(),
      addresses: new Set(),
      remarks: '',
    };
    this.#entries.set(entryId, entry);
    return entry;
  }

  /** How many have no name. */
  get nameless(): number {
    return [...this.#entries.values()].filter(({ names }) => names.length === 0).length;
  }

  /** Those that have a name, the primary ones first. */
  *all(): Generator<ListedEntry> {
    for (const { entryId, type, names, programs, addresses, remarks } of this.#entries.values()) {
      if (names.length === 0) continue;
      const more = remarks === '' ? {} : { remarks };
      const title = names.toSorted((a, b) => Number(b.kind === 'primary') - Number(a.kind === 'primary'));
      yield { entryId, type, names: title, programs: [...programs], addresses: [...addresses], ...more };
    }
  }
}

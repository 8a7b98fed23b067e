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

/** What ends a name in either order, at the end of a part that a comma ends: `Jr.`, `III (third)`. */
const SUFFIX = /^(|.*\s)((?:jr|sr|ii|iii|iv)\.?(?:\s*\(.*\))?)$/iu;

/** The entry; of an individual's names that are written "SURNAME, Given" also "Given SURNAME", a suffix at its end. */
export function withNaturalOrder(entry: ListedEntry): ListedEntry {
  if (entry.type !== 'individual') return entry;
  const names = [...entry.names];
  for (const { text } of entry.names) addName(names, naturalOrder(text), 'reordered');
  return { ...entry, names };
}

/** `SURNAME, Given, Jr.` → `Given SURNAME Jr.`; empty where no comma parts a surname from a given name. */
function naturalOrder(name: string): string {
  const [surname = '', ...others] = name.split(',');
  const parts = others.map((part) => {
    const [, given = part, suffix = ''] = SUFFIX.exec(part.trim()) ?? [];
    return { given, suffix };
  });
  const given = parts
    .map((part) => part.given)
    .join(' ')
    .trim();
  return given === '' ? '' : [given, surname, ...parts.map(({ suffix }) => suffix)].join(' ');
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

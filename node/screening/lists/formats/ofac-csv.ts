import type { EntryType, ListedEntry, ListedName } from '../contract.ts';
import { ListError, quoted } from '../list-error.ts';
import { rowsOf } from './csv-rows.ts';
import type { ListFile, ListFormat, ReadingNotes } from './format.ts';
import { addName } from './names.ts';

/** What OFAC writes into the free text of its remarks, beside much else. */
interface RemarksContent {
  readonly weakAliases: readonly string[];
  /** Digital currency addresses, whatever the ticker says. */
  readonly addresses: readonly string[];
}

/**
 * `a.k.a. 'X'`, `f.k.a. 'X'`, `n.k.a. 'X'`. X may hold an apostrophe, so it ends at a quote before `;`, `.` or the end;
 * other quoted text is no name. An alias is short: what is longer is a quote that was never closed.
 */
const WEAK_ALIAS = /\b[afn]\.k\.a\. '(.{1,350}?)'(?=[;.]|\s*$)/gsu;
/** `Digital Currency Address - XBT 1abc…;`, with `alt.` before it or not. */
const ADDRESS = /\bDigital Currency Address - [A-Z0-9]{2,10} ([0-9A-Za-z:]{10,128})/gu;

/** Reads remarks to which their overflow has been joined. */
function readRemarks(remarks: string): RemarksContent {
  return {
    weakAliases: [...remarks.matchAll(WEAK_ALIAS)].map(([, name = '']) => name),
    addresses: [...remarks.matchAll(ADDRESS)].map(([, address = '']) => address),
  };
}

/** The four files of one list of OFAC. */
interface OfacFiles {
  readonly main: string;
  readonly aliases: string;
  readonly addresses: string;
  readonly comments: string;
}

/** Columns of each file; none has a header. */
const MAIN_COLUMNS = 12;
const ALIAS_COLUMNS = 5;
const ADDRESS_COLUMNS = 6;
const COMMENT_COLUMNS = 2;
const NULL = '-0-';
const TYPES: Readonly<Record<string, EntryType>> = {
  '': 'entity',
  individual: 'individual',
  vessel: 'vessel',
  aircraft: 'aircraft',
};
/** Ctrl-Z, the last character of each file. */
const END_MARK = '\u001a';
/** OFAC cuts remarks at so many characters, and goes on in the comments file. */
const REMARKS_CHARACTERS = 1_000;
/** A list of so many entries has aliases: of the real ones, the shorter has two an entry. */
const ENTRIES_WITH_ALIASES = 200;
/** What ends a name in either order, at the end of a part that a comma ends: `Jr.`, `III (third)`. */
const SUFFIX = /^(|.*\s)((?:jr|sr|ii|iii|iv)\.?(?:\s*\(.*\))?)$/iu;
const ENTRY_NUMBER = /^\d{1,9}$/;

/** The CSV files of OFAC: no header, `-0- ` for nothing, an entry's remarks continued in the comments file. */
export function ofacCsv(files: OfacFiles): ListFormat {
  return {
    slots: [
      { file: files.main, required: true },
      { file: files.aliases, required: true },
      { file: files.comments, required: true },
      { file: files.addresses, required: false },
    ],
    async *read(all, notes) {
      const aliases = await rowsByEntry(all.required(files.aliases), ALIAS_COLUMNS, notes, ([, , , name = '']) => name);
      const comments = await rowsByEntry(all.required(files.comments), COMMENT_COLUMNS, notes, ([, text = '']) => text);
      const known = new Set<string>();
      let cut = 0;
      for await (const row of ofacRows(all.required(files.main), MAIN_COLUMNS, notes)) {
        if (untrimmed(row[MAIN_COLUMNS - 1] ?? '').length >= REMARKS_CHARACTERS) cut++;
        const entry = entryOf(all.required(files.main).name, row, aliases, comments);
        if (known.has(entry.entryId)) {
          throw new ListError('malformed', `${files.main} has the entry ${entry.entryId} twice`);
        }
        known.add(entry.entryId);
        yield withNaturalOrder(entry);
      }
      if (comments.size === 0 && cut > 0) {
        notes.lacks.push(`${files.comments} has no rows, and the remarks of ${cut} entries are cut`);
      }
      if (aliases.size === 0 && known.size >= ENTRIES_WITH_ALIASES) {
        notes.lacks.push(`${files.aliases} has no rows, and ${files.main} has ${known.size} entries`);
      }
      const addresses = all.optional(files.addresses);
      await countUnmatched(known, [aliases, comments], addresses, notes);
    },
  };
}

function entryOf(
  file: string,
  row: readonly string[],
  aliases: ReadonlyMap<string, readonly string[]>,
  comments: ReadonlyMap<string, readonly string[]>,
): ListedEntry {
  const [id = '', name = '', type = '', program = '', , , , , , , , remarks = ''] = row;
  const entryId = entryNumber(file, id);
  const entryType = TYPES[given(type).toLowerCase()];
  if (entryType === undefined) throw new ListError('malformed', `${file}, entry ${entryId}: type ${quoted(type)}`);
  // Cut at 1,000 characters in the middle of a word, so joined without a separator, and only then read.
  const whole = untrimmed(remarks) + (comments.get(entryId) ?? []).join('');
  const { weakAliases, addresses } = readRemarks(whole);
  const names: ListedName[] = [];
  addName(names, given(name), 'primary');
  for (const alias of aliases.get(entryId) ?? []) addName(names, given(alias), 'strong-alias');
  for (const alias of weakAliases) addName(names, alias, 'weak-alias');
  if (names.length === 0) throw new ListError('malformed', `${file}, entry ${entryId} has no name`);
  const remark = whole.trim();
  return {
    entryId,
    type: entryType,
    names,
    programs: given(program)
      .split(/\]\s*\[/u)
      .filter((part) => part !== ''),
    addresses,
    ...(remark === '' ? {} : { remarks: remark }),
  };
}

/** The entry; of an individual's names that are written "SURNAME, Given" also "Given SURNAME", a suffix at its end. */
function withNaturalOrder(entry: ListedEntry): ListedEntry {
  if (entry.type !== 'individual') return entry;
  const names = [...entry.names];
  for (const { text } of entry.names) addName(names, naturalOrder(text), 'reordered');
  return { ...entry, names };
}

/** `SURNAME, Given, Jr.` → `Given SURNAME Jr.`; empty where no comma parts a surname from a given name. */
function naturalOrder(name: string): string {
  const [surname = '', ...others] = name.split(',');
  const parts = others.map((part) => {
    const [, first = part, suffix = ''] = SUFFIX.exec(part.trim()) ?? [];
    return { first, suffix };
  });
  const firstNames = parts
    .map(({ first }) => first)
    .join(' ')
    .trim();
  return firstNames === '' ? '' : [firstNames, surname, ...parts.map(({ suffix }) => suffix)].join(' ');
}

/** What a companion file says, by entry. Bounded by the size of a file. */
async function rowsByEntry(
  file: ListFile,
  columns: number,
  notes: ReadingNotes,
  pick: (row: readonly string[]) => string,
): Promise<Map<string, string[]>> {
  const rows = new Map<string, string[]>();
  for await (const row of ofacRows(file, columns, notes)) {
    const id = entryNumber(file.name, row[0] ?? '');
    const known = rows.get(id);
    if (known === undefined) rows.set(id, [untrimmed(pick(row))]);
    else known.push(untrimmed(pick(row)));
  }
  return rows;
}

async function countUnmatched(
  known: ReadonlySet<string>,
  companions: readonly ReadonlyMap<string, readonly string[]>[],
  addresses: ListFile | undefined,
  notes: ReadingNotes,
): Promise<void> {
  for (const companion of companions) {
    for (const [id, rows] of companion) if (!known.has(id)) notes.unmatchedRows += rows.length;
  }
  if (addresses === undefined) return;
  for await (const [id = ''] of ofacRows(addresses, ADDRESS_COLUMNS, notes)) {
    if (!known.has(entryNumber(addresses.name, id))) notes.unmatchedRows++;
  }
}

/**
 * Rows without a header. The last column matters, so a file that ends inside a row is refused, wherever it was cut. One
 * that ends between two rows, without the end mark, is noted.
 */
async function* ofacRows(file: ListFile, columns: number, notes: ReadingNotes): AsyncGenerator<readonly string[]> {
  let last = '';
  let held = '';
  const watched = {
    name: file.name,
    async *text() {
      for await (const piece of file.text()) {
        const text = held + piece;
        // Only the very last character may be the end mark.
        held = text.endsWith(END_MARK) ? END_MARK : '';
        const passed = held === '' ? text : text.slice(0, -1);
        if (passed === '') continue;
        last = passed.slice(-1);
        yield passed;
      }
    },
  };
  yield* rowsOf(watched, columns);
  if (last !== '' && last !== '\n') throw new ListError('malformed', `${file.name} ends inside a row: it is cut off`);
  if (held === '') notes.lacks.push(`${file.name} does not end with the end mark (Ctrl-Z) of OFAC's files`);
}

function entryNumber(file: string, text: string): string {
  const id = text.trim();
  if (!ENTRY_NUMBER.test(id)) throw new ListError('malformed', `${file}: ${quoted(text)} is no entry number`);
  return id;
}

/** The field trimmed; empty where it says nothing. */
function given(field: string): string {
  const text = field.trim();
  return text === NULL ? '' : text;
}

/** The field as it is, since a cut may fall on a space; empty where it says nothing. */
function untrimmed(field: string): string {
  return field.trim() === NULL ? '' : field;
}

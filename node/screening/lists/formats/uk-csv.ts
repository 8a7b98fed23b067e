import type { EntryType, NameKind } from '../contract.ts';
import { ListError, quoted } from '../list-error.ts';
import { type NamedRow, namedRows } from './csv-rows.ts';
import type { ListFormat } from './format.ts';
import { addName, GatheredEntries, noteNameless } from './names.ts';
import { walletAddresses } from './wallet-addresses.ts';

const FILE = 'uk-sanctions-list.csv';
/** In the order in which a name is said: the surname, or the whole name of a company or ship, is the sixth. */
const NAME_PARTS = ['Name 1', 'Name 2', 'Name 3', 'Name 4', 'Name 5', 'Name 6'] as const;
const COLUMNS = [
  'Unique ID',
  ...NAME_PARTS,
  'Name type',
  'Alias strength',
  'Name non-latin script',
  'Regime Name',
  'Designation Type',
  'Other Information',
] as const;
type Column = (typeof COLUMNS)[number];

const TYPES: Readonly<Record<string, EntryType>> = { individual: 'individual', entity: 'entity', ship: 'vessel' };
/** The first line, above the header: `Report Date: 29-Apr-2026`. */
const REPORT_DATE = /^Report Date:\s*(\d{2})-([A-Z][a-z]{2})-(\d{4})\s*$/;
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** The CSV file of the UK Sanctions List: one row a name, grouped by `Unique ID`. */
export const ukCsv: ListFormat = {
  slots: [{ file: FILE, required: true }],
  async *read(files, notes) {
    const before = ([line = '', ...more]: readonly string[]): boolean => {
      if (notes.fileDate !== null) return false;
      notes.fileDate = more.some((field) => field !== '') ? null : reportDate(line);
      if (notes.fileDate === null) throw new ListError('malformed', `${FILE} begins with ${quoted(line)}`);
      return true;
    };
    const entries = new GatheredEntries();
    for await (const row of namedRows(files.required(FILE), COLUMNS, { before })) take(entries, row);
    yield* entries.all();
    noteNameless(notes, entries.nameless);
  },
};

function take(entries: GatheredEntries, row: NamedRow<Column>): void {
  const id = row('Unique ID').trim();
  if (!/^[A-Z]{2,5}\d{1,7}$/.test(id)) throw new ListError('malformed', `${FILE}: ${quoted(id)} is no Unique ID`);
  const entry = entries.of(id);
  entry.type = TYPES[row('Designation Type').trim().toLowerCase()] ?? entry.type;
  const regime = row('Regime Name').trim();
  if (regime !== '') entry.programs.add(regime);
  const information = row('Other Information').trim();
  if (entry.remarks === '') entry.remarks = information;
  for (const address of walletAddresses(information)) entry.addresses.add(address);
  addName(entry.names, NAME_PARTS.map((part) => row(part)).join(' '), kindOf(row));
  addName(entry.names, row('Name non-latin script'), 'original-script');
}

function kindOf(row: NamedRow<Column>): NameKind {
  if (row('Name type').trim().toLowerCase() === 'primary name') return 'primary';
  return row('Alias strength').trim().toLowerCase().startsWith('low') ? 'weak-alias' : 'strong-alias';
}

/** `29-Apr-2026` → `2026-04-29`; null where the line says no date. */
function reportDate(line: string): string | null {
  const [, day = '', month = '', year = ''] = REPORT_DATE.exec(line) ?? [];
  const number = MONTHS.indexOf(month) + 1;
  return number === 0 ? null : `${year}-${String(number).padStart(2, '0')}-${day}`;
}

import { ListError, quoted } from '../list-error.ts';
import { type NamedRow, namedRows } from './csv-rows.ts';
import { euName, euType } from './eu-xml.ts';
import type { ListFormat, ReadingNotes } from './format.ts';
import { addName, GatheredEntries, noteNameless } from './names.ts';
import { walletAddresses } from './wallet-addresses.ts';

const FILE = 'csvfullsanctionslist_1_1.csv';
const COLUMNS = [
  'fileGenerationDate',
  'Entity_LogicalId',
  'Entity_Remark',
  'Entity_SubjectType',
  'Entity_SubjectType_ClassificationCode',
  'Entity_Regulation_Programme',
  'NameAlias_FirstName',
  'NameAlias_MiddleName',
  'NameAlias_LastName',
  'NameAlias_WholeName',
] as const;
type Column = (typeof COLUMNS)[number];

/** The EU's consolidated financial sanctions, CSV 1.1: one row for each name, address, birth date and so on. */
export const euCsv: ListFormat = {
  slots: [{ file: FILE, required: true }],
  async *read(files, notes) {
    const entries = new GatheredEntries();
    for await (const row of namedRows(files.required(FILE), COLUMNS, { delimiter: ';' })) take(entries, row, notes);
    yield* entries.all();
    noteNameless(notes, entries.nameless);
  },
};

function take(entries: GatheredEntries, row: NamedRow<Column>, notes: ReadingNotes): void {
  const id = row('Entity_LogicalId').trim();
  if (!/^\d{1,12}$/.test(id)) throw new ListError('malformed', `${FILE}: ${quoted(id)} is no Entity_LogicalId`);
  notes.fileDate ??= isoDate(row('fileGenerationDate').trim());
  const entry = entries.of(id);
  const type = euType(row('Entity_SubjectType'), row('Entity_SubjectType_ClassificationCode'));
  if (type !== 'unknown') entry.type = type;
  const programme = row('Entity_Regulation_Programme').trim();
  if (programme !== '') entry.programs.add(programme);
  const remark = row('Entity_Remark').trim();
  if (entry.remarks === '') entry.remarks = remark;
  for (const address of walletAddresses(remark)) entry.addresses.add(address);
  const parts = [row('NameAlias_FirstName'), row('NameAlias_MiddleName'), row('NameAlias_LastName')];
  const name = euName(row('NameAlias_WholeName'), parts);
  addName(entry.names, name, entry.names.length === 0 ? 'primary' : 'strong-alias');
}

/** `05/06/2026` → `2026-06-05`; null where it is no such date. */
function isoDate(text: string): string | null {
  const [, day, month, year] = /^(\d{2})\/(\d{2})\/(\d{4})$/.exec(text) ?? [];
  return year === undefined ? null : `${year}-${month}-${day}`;
}

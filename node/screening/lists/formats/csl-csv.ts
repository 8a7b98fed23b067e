import { createHash } from 'node:crypto';
import type { EntryType, ListedEntry, ListedName } from '../contract.ts';
import { type NamedRow, namedRows } from './csv-rows.ts';
import type { ListFormat } from './format.ts';
import { addName, collapse, noteNameless } from './names.ts';

const FILE = 'consolidated.csv';
const COLUMNS = ['source', 'type', 'programs', 'name', 'federal_register_notice', 'remarks', 'alt_names'] as const;
type Column = (typeof COLUMNS)[number];

/**
 * Ends the `source` of every row of the Bureau of Industry and Security, whatever it calls its lists. The other rows
 * copy lists of OFAC and the State Department.
 */
const PUBLISHER = 'bureau of industry and security';
const TYPES: Readonly<Record<string, EntryType>> = {
  individual: 'individual',
  entity: 'entity',
  vessel: 'vessel',
  aircraft: 'aircraft',
};
const ENTRY_ID_DIGITS = 16;

/** The lists of the BIS in the Consolidated Screening List of the US Department of Commerce. */
export const cslCsv: ListFormat = {
  slots: [{ file: FILE, required: true }],
  async *read(files, notes) {
    let nameless = 0;
    for await (const row of namedRows(files.required(FILE), COLUMNS)) {
      if (!row('source').trim().toLowerCase().endsWith(PUBLISHER)) continue;
      const entry = entryOf(row);
      if (entry.names.length > 0) yield entry;
      else nameless++;
    }
    noteNameless(notes, nameless);
  },
};

function entryOf(row: NamedRow<Column>): ListedEntry {
  const names: ListedName[] = [];
  addName(names, row('name'), 'primary');
  const aliases = row('alt_names').split(';');
  for (const [i, alias] of aliases.entries()) {
    // The last of a series can begin with the word that joins it.
    const text = i > 0 && i === aliases.length - 1 ? alias.trim().replace(/^and /u, '') : alias;
    addName(names, text, 'strong-alias');
  }
  const remarks = row('remarks').trim();
  return {
    entryId: entryIdOf(row),
    type: TYPES[row('type').trim().toLowerCase()] ?? 'unknown',
    names,
    programs: [sourceName(row('source')), ...row('programs').split(';').map(collapse)].filter((text) => text !== ''),
    addresses: [],
    ...(remarks === '' ? {} : { remarks }),
  };
}

/**
 * The list has no official number, and the id of a row changes: what names a row is where it is from, its name, its
 * notice.
 */
function entryIdOf(row: NamedRow<Column>): string {
  const parts = [row('source'), row('name'), row('federal_register_notice')].map((part) => part.trim());
  return createHash('sha256').update(parts.join('\n')).digest('hex').slice(0, ENTRY_ID_DIGITS);
}

/** Which of the four lists it is on. */
function sourceName(source: string): string {
  return source.split(' - ')[0]?.trim() ?? '';
}

import type { EntryType, ListedEntry, ListedName } from '../contract.ts';
import { ListError, quoted } from '../list-error.ts';
import type { ListFormat } from './format.ts';
import { addName, noteNameless } from './names.ts';
import { walletAddresses } from './wallet-addresses.ts';
import { childrenOf, type XmlElement, xmlElements } from './xml-elements.ts';

/** `P` and `E`, or `person` and `enterprise`: the XML and the CSV file have them the other way round. */
const TYPES: Readonly<Record<string, EntryType>> = {
  p: 'individual',
  person: 'individual',
  e: 'entity',
  enterprise: 'entity',
};

/** A name as a whole, or where that is empty, its parts in the order in which they are said. */
export function euName(whole: string, parts: readonly string[]): string {
  return whole.trim() === '' ? parts.join(' ') : whole;
}

/** What the first of two words that is known says of an entry. */
export function euType(...words: readonly string[]): EntryType {
  for (const word of words) {
    const type = TYPES[word.trim().toLowerCase()];
    if (type !== undefined) return type;
  }
  return 'unknown';
}

const FILE = 'xmlfullsanctionslist_1_1.xml';

/** The EU's consolidated financial sanctions, XML 1.1. */
export const euXml: ListFormat = {
  slots: [{ file: FILE, required: true }],
  async *read(files, notes) {
    const form = {
      root: 'export',
      namespace: 'http://eu.europa.ec/fpi/fsd/export',
      wanted: new Set(['sanctionEntity']),
      onRoot: ({ generationDate }: Readonly<Record<string, string>>) => {
        notes.fileDate = generationDate ?? null;
      },
    };
    const known = new Set<string>();
    let nameless = 0;
    for await (const element of xmlElements(files.required(FILE), form)) {
      const entry = entryOf(element);
      if (known.has(entry.entryId)) throw new ListError('malformed', `${FILE} has the entry ${entry.entryId} twice`);
      known.add(entry.entryId);
      if (entry.names.length > 0) yield entry;
      else nameless++;
    }
    noteNameless(notes, nameless);
  },
};

function entryOf(element: XmlElement): ListedEntry {
  const { logicalId: entryId = '' } = element.attributes;
  if (!/^\d{1,12}$/.test(entryId)) throw new ListError('malformed', `${FILE}: ${quoted(entryId)} is no logicalId`);
  const names: ListedName[] = [];
  for (const { attributes } of childrenOf(element, 'nameAlias')) {
    const { wholeName = '', firstName = '', middleName = '', lastName = '', strong } = attributes;
    // No name is primary: the first is the entry's title.
    const kind = names.length === 0 ? 'primary' : strong === 'false' ? 'weak-alias' : 'strong-alias';
    addName(names, euName(wholeName, [firstName, middleName, lastName]), kind);
  }
  const [subject] = childrenOf(element, 'subjectType');
  const { code = '', classificationCode = '' } = subject?.attributes ?? {};
  const programmes = childrenOf(element, 'regulation').map(({ attributes }) => attributes.programme ?? '');
  const remarks = childrenOf(element, 'remark')
    .map(({ text }) => text.trim())
    .filter((text) => text !== '');
  return {
    entryId,
    type: euType(code, classificationCode),
    names,
    programs: [...new Set(programmes)].filter((programme) => programme !== ''),
    // Each is read by itself: a currency that ends one is none of an address that begins the next.
    addresses: [...new Set(remarks.flatMap(walletAddresses))],
    ...(remarks.length === 0 ? {} : { remarks: remarks.join('\n') }),
  };
}

import type { ListedEntry, ListedName, NameKind } from '../contract.ts';
import { ListError, quoted } from '../list-error.ts';
import type { ListFormat } from './format.ts';
import { addName } from './names.ts';
import { childrenOf, textOf, type XmlElement, xmlElements } from './xml-elements.ts';

const FILE = 'consolidated.xml';
const INDIVIDUAL = 'INDIVIDUALS/INDIVIDUAL';
const ENTITY = 'ENTITIES/ENTITY';
const NAME_PARTS = ['FIRST_NAME', 'SECOND_NAME', 'THIRD_NAME', 'FOURTH_NAME'] as const;
/** Stands where someone had no such part of a name. */
const NO_PART = 'na';
/** Quality of an alias that is weak; `Good`, `a.k.a.` and `f.k.a.` are not. */
const LOW_QUALITY = 'low';

/** The XML file of the UN Security Council's consolidated list. */
export const unXml: ListFormat = {
  slots: [{ file: FILE, required: true }],
  async *read(files, notes) {
    const form = {
      root: 'CONSOLIDATED_LIST',
      namespace: null,
      wanted: new Set([INDIVIDUAL, ENTITY]),
      onRoot: ({ dateGenerated }: Readonly<Record<string, string>>) => {
        notes.fileDate = dateGenerated ?? null;
      },
    };
    const known = new Set<string>();
    for await (const element of xmlElements(files.required(FILE), form)) {
      const entry = entryOf(element);
      if (known.has(entry.entryId)) throw new ListError('malformed', `${FILE} has the entry ${entry.entryId} twice`);
      known.add(entry.entryId);
      yield entry;
    }
  },
};

function entryOf(element: XmlElement): ListedEntry {
  const entryId = textOf(element, 'DATAID').trim();
  if (!/^\d{1,12}$/.test(entryId)) throw new ListError('malformed', `${FILE}: ${quoted(entryId)} is no DATAID`);
  const names: ListedName[] = [];
  addNames(names, NAME_PARTS.map((part) => namePart(element, part)).join(' '), 'primary');
  for (const { text } of childrenOf(element, 'NAME_ORIGINAL_SCRIPT')) addNames(names, text, 'original-script');
  for (const tag of ['INDIVIDUAL_ALIAS', 'ENTITY_ALIAS']) {
    for (const alias of childrenOf(element, tag)) {
      const isWeak = textOf(alias, 'QUALITY').trim().toLowerCase() === LOW_QUALITY;
      addNames(names, textOf(alias, 'ALIAS_NAME'), isWeak ? 'weak-alias' : 'strong-alias');
    }
  }
  if (names.length === 0) throw new ListError('malformed', `${FILE}, entry ${entryId} has no name`);
  const remarks = textOf(element, 'COMMENTS1').trim();
  const program = textOf(element, 'UN_LIST_TYPE').trim();
  return {
    entryId,
    type: element.name === 'INDIVIDUAL' ? 'individual' : 'entity',
    names,
    programs: program === '' ? [] : [program],
    addresses: [],
    ...(remarks === '' ? {} : { remarks }),
  };
}

function namePart(element: XmlElement, part: (typeof NAME_PARTS)[number]): string {
  const text = textOf(element, part).trim();
  return text === NO_PART ? '' : text;
}

/** Some fields pack several names into one. */
function addNames(names: ListedName[], text: string, kind: NameKind): void {
  for (const name of text.split(';')) addName(names, name, kind);
}

import { MAX_AUTHORITY, MAX_CITATION, MAX_SUMMARY, MAX_TITLE, MAX_URL } from '../../../protocol/api/regwatch-words.ts';
import { parseJson } from '../../../protocol/json/parse.ts';
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../../../protocol/json/value.ts';
import { type Entries, type Entry, type KeyDate, MAX_ENTRIES } from './entry.ts';
import { type FeedDate, readFeedDate } from './feed-date.ts';
import { plainText } from './plain-text.ts';
import { refused } from './regwatch-error.ts';

const MAX_DEPTH = 12;
/** Members and items of a document: a page of a thousand documents has a tenth. What a parser holds grows with them. */
const MAX_VALUES = 400_000;
const MAX_AGENCIES = 50;
const DOCUMENT_NUMBER = /^[A-Za-z0-9-]{4,40}$/;
const DATES = [
  ['publication_date', 'published'],
  ['signing_date', 'signed'],
  ['effective_on', 'effective'],
  ['comments_close_on', 'comments close'],
] as const;

/**
 * The entries of one page of `/api/v1/documents.json`, which has many more members than are read, or few. `count` tells
 * of all pages, not of this one; `results` is missing where nothing was found. Identity: the document number. Throws
 * `RegwatchError`.
 */
export function federalRegisterEntries(json: string): Entries {
  const page = parsed(json);
  const { count, results = [] } = isJsonObject(page) ? page : {};
  if (typeof count !== 'number' || !isJsonArray(results)) {
    throw refused('the document is no page of the Federal Register API');
  }
  if (results.length > MAX_ENTRIES) throw refused(`the document has more than ${MAX_ENTRIES} items`);
  const entries = results
    .filter(isJsonObject)
    .map(entryOf)
    .filter((entry) => entry !== null);
  return { entries, skipped: results.length - entries.length };
}

function parsed(json: string): JsonValue {
  try {
    return parseJson(json, { maxDepth: MAX_DEPTH, maxValues: MAX_VALUES });
  } catch (error) {
    throw refused('the document is not JSON', error);
  }
}

/** Null where it has no number or says nothing. */
function entryOf(document: JsonObject): Entry | null {
  const [number, title] = [textOf(document, 'document_number'), plainText(textOf(document, 'title'), MAX_TITLE)];
  if (!DOCUMENT_NUMBER.test(number) || title === '') return null;
  const link = textOf(document, 'html_url');
  const names = agenciesOf(document).map((agency) => textOf(agency, 'name') || textOf(agency, 'raw_name'));
  return {
    key: number,
    title,
    summary: plainText(textOf(document, 'abstract'), MAX_SUMMARY),
    link: link.startsWith('https://') && link.length <= MAX_URL ? link : null,
    citation: plainText(textOf(document, 'citation'), MAX_CITATION) || `FR Doc. ${number}`,
    authority: plainText([...new Set(names)].filter((name) => name !== '').join(', '), MAX_AUTHORITY) || null,
    publishedAt: dateOf(document, 'publication_date')?.at ?? null,
    effectiveAt: dateOf(document, 'effective_on')?.at ?? null,
    keyDates: DATES.flatMap(([member, label]): KeyDate[] => {
      const date = dateOf(document, member);
      return date === null ? [] : [{ date: date.day, label }];
    }),
    signs: ['fr', ...signsOf(document)],
  };
}

function signsOf(document: JsonObject): string[] {
  const words = (member: string) => plainText(textOf(document, member), MAX_TITLE).toLowerCase().replace(/\.$/, '');
  const [type, action] = [words('type'), words('action')];
  return [
    ...(type === '' ? [] : [`fr:${type}`]),
    ...(action === '' ? [] : [`fr-action:${action}`]),
    ...agenciesOf(document)
      .map((agency) => textOf(agency, 'slug'))
      .flatMap((slug) => (slug === '' ? [] : [`agency:${slug}`])),
  ];
}

function agenciesOf({ agencies }: JsonObject): readonly JsonObject[] {
  return agencies !== undefined && isJsonArray(agencies) ? agencies.slice(0, MAX_AGENCIES).filter(isJsonObject) : [];
}

function dateOf(document: JsonObject, member: string): FeedDate | null {
  return readFeedDate(textOf(document, member));
}

/** Empty where the member is missing, or no text. */
function textOf(document: JsonObject, member: string): string {
  const value = document[member];
  return typeof value === 'string' ? value : '';
}

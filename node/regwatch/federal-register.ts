import Type, { type Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { MAX_AUTHORITY, MAX_CITATION, MAX_SUMMARY, MAX_TITLE, MAX_URL } from '../../protocol/api/regwatch-item.ts';
import { parseJson } from '../../protocol/json/parse.ts';
import type { JsonValue } from '../../protocol/json/value.ts';
import { type Entries, type Entry, type KeyDate, MAX_ENTRIES } from './entry.ts';
import { readFeedDate } from './feed-date.ts';
import { plainText } from './plain-text.ts';
import { refused } from './regwatch-error.ts';

const text = Type.Optional(Type.Union([Type.String(), Type.Null()]));

/** What is read of a document; the API gives many more members, or few. */
const DocumentShape = Type.Object({
  document_number: Type.String({ pattern: '^[A-Za-z0-9-]{4,40}$' }),
  title: Type.String(),
  type: text,
  action: text,
  abstract: text,
  citation: text,
  html_url: text,
  publication_date: text,
  effective_on: text,
  comments_close_on: text,
  signing_date: text,
  agencies: Type.Optional(Type.Array(Type.Object({ name: text, raw_name: text, slug: text }), { maxItems: 200 })),
});
type FederalDocument = Static<typeof DocumentShape>;

/** `results` is missing where nothing was found. `count` tells of all pages, not of this one. */
const PageShape = Type.Object({
  count: Type.Integer({ minimum: 0 }),
  results: Type.Optional(Type.Array(Type.Unknown(), { maxItems: MAX_ENTRIES })),
});

const compiledPage = Compile(PageShape);
const compiledDocument = Compile(DocumentShape);

const MAX_DEPTH = 12;
const DATES = [
  ['publication_date', 'published'],
  ['signing_date', 'signed'],
  ['effective_on', 'effective'],
  ['comments_close_on', 'comments close'],
] as const;

/** The entries of one page of `/api/v1/documents.json`. Identity: the document number. Throws `RegwatchError`. */
export function federalRegisterEntries(json: string): Entries {
  const page: unknown = parsed(json);
  if (!compiledPage.Check(page)) throw refused('the document is no page of the Federal Register API');
  const { results = [] } = page;
  const documents = results.filter((result) => compiledDocument.Check(result));
  const entries = documents.map(entryOf).filter(({ title }) => title !== '');
  return { entries, skipped: results.length - entries.length };
}

function parsed(json: string): JsonValue {
  try {
    return parseJson(json, { maxDepth: MAX_DEPTH });
  } catch (error) {
    throw refused('the document is not JSON', error);
  }
}

function entryOf(document: FederalDocument): Entry {
  const { document_number: number, title, abstract, citation, html_url: link, agencies = [] } = document;
  const published = readFeedDate(document.publication_date ?? undefined);
  const names = agencies.map(({ name, raw_name: raw }) => name ?? raw ?? '').filter((name) => name !== '');
  return {
    key: number,
    title: plainText(title, MAX_TITLE),
    summary: plainText(abstract ?? '', MAX_SUMMARY),
    link: link?.startsWith('https://') === true && link.length <= MAX_URL ? link : null,
    citation: plainText(citation ?? `FR Doc. ${number}`, MAX_CITATION),
    authority: plainText([...new Set(names)].join(', '), MAX_AUTHORITY) || null,
    publishedAt: published?.at ?? null,
    effectiveAt: readFeedDate(document.effective_on ?? undefined)?.at ?? null,
    keyDates: DATES.flatMap(([member, label]): KeyDate[] => {
      const date = readFeedDate(document[member] ?? undefined);
      return date === null ? [] : [{ date: date.day, label }];
    }),
    signs: ['fr', ...signsOf(document)],
  };
}

function signsOf({ type, action, agencies = [] }: FederalDocument): string[] {
  const words = (of: string | null | undefined) =>
    plainText(of ?? '', MAX_TITLE)
      .toLowerCase()
      .replace(/\.$/, '');
  return [
    ...(words(type) === '' ? [] : [`fr:${words(type)}`]),
    ...(words(action) === '' ? [] : [`fr-action:${words(action)}`]),
    ...agencies.flatMap(({ slug }) => (slug === null || slug === undefined ? [] : [`agency:${slug}`])),
  ];
}

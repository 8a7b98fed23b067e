import { hash } from 'node:crypto';
import { parseFeed } from 'feedsmith';
import { MAX_SUMMARY, MAX_TITLE, MAX_URL } from '../../../protocol/api/regwatch-words.ts';
import { type Entries, type Entry, MAX_ENTRIES, MAX_KEY } from './entry.ts';
import { readFeedDate } from './feed-date.ts';
import { plainText } from './plain-text.ts';
import { refused } from './regwatch-error.ts';

const ROOTS = new Set(['rss', 'feed', 'rdf']);
/** Elements and other markup of one document at most. */
const MAX_MARKUP = 400_000;
const NOT_SPACE = /[^\s\uFEFF]/g;

/**
 * Refuses what no feed needs and parsers stumble over: a DOCTYPE or any other declaration (entities that grow, entities
 * from elsewhere), a document cut off before its end, markup without bound, another root. Throws `RegwatchError`. Takes
 * one pass.
 */
function guardXml(text: string): void {
  const root = rootOf(text);
  if (!text.trimEnd().toLowerCase().endsWith(`</${root.toLowerCase()}>`)) {
    throw refused('the document ends before its root element does');
  }
  let markup = 0;
  for (let at = text.indexOf('<'); at !== -1; markup++) {
    if (markup > MAX_MARKUP) throw refused(`the document has more than ${MAX_MARKUP} tags`);
    const next = text.charAt(at + 1) === '!' ? afterDeclaration(text, at) : at + 1;
    at = text.indexOf('<', next);
  }
}

/** Name of the root element, with its prefix. */
function rootOf(text: string): string {
  NOT_SPACE.lastIndex = 0;
  let at = NOT_SPACE.exec(text)?.index ?? text.length;
  for (let end = afterProlog(text, at); end !== null; end = afterProlog(text, at)) {
    NOT_SPACE.lastIndex = end;
    at = NOT_SPACE.exec(text)?.index ?? text.length;
  }
  if (text.startsWith('<!', at)) throw refused('a DOCTYPE, or another declaration, is not read');
  const name = /^<([A-Za-z][\w.:-]{0,40})[\s/>]/.exec(text.slice(at, at + 50))?.[1];
  if (name !== undefined && ROOTS.has(name.toLowerCase().split(':').at(-1) ?? '')) return name;
  throw refused('the document is no feed');
}

/** The end of an instruction or a comment before the root element; null where there is none. */
function afterProlog(text: string, at: number): number | null {
  const end = text.startsWith('<?', at) ? '?>' : text.startsWith('<!--', at) ? '-->' : null;
  if (end === null) return null;
  const found = text.indexOf(end, at);
  return found === -1 ? text.length : found + end.length;
}

/** The end of a CDATA section or a comment. */
function afterDeclaration(text: string, at: number): number {
  const end = text.startsWith('<![CDATA[', at) ? ']]>' : text.startsWith('<!--', at) ? '-->' : null;
  if (end === null) throw refused('a DOCTYPE, or another declaration, is not read');
  const found = text.indexOf(end, at);
  if (found === -1) throw refused('the document ends within a section of text');
  return found + end.length;
}

/** One item in the words of RSS, Atom and RDF alike. HTML where the feed has HTML. */
interface RawItem {
  readonly id: string | undefined;
  readonly title: string | undefined;
  readonly description: string | undefined;
  readonly link: string | undefined;
  /** In the order in which they are believed. */
  readonly dates: readonly string[];
  readonly categories: readonly (string | undefined)[];
}

type Feed = ReturnType<typeof parseFeed>;

/** EUR-Lex: `CELEX:32026R1465: Council Regulation …`, or the number in the link. Sector, year, type, the rest. */
const CELEX_TITLE = /^CELEX:([0-9A-Z()/_.-]{8,40}):\s*/;
const CELEX_LINK = /[?&]uri=CELEX(?::|%3A)([0-9A-Z()/_.-]{8,40})/i;
const CELEX_NUMBER = /^([0-9EC])\d{4}([A-Z]{1,2})/;
/** ESMA: no date but this one, inside the description. */
const TIME_ELEMENT = /<time\s[^>]{0,200}?datetime=["']([^"']{1,64})["']/i;
/** Characters that the prefix takes before a title of full length. */
const CELEX_LENGTH = 60;
const MAX_CATEGORIES = 20;
const MAX_CATEGORY = 100;

/**
 * The entries of an RSS, Atom or RDF document. Identity: the CELEX number where there is one; else the item's own id
 * (`guid`, `id`, `rdf:about`), else its link, else a hash of title and date. Of entries with one identity the first
 * counts. Throws `RegwatchError`.
 */
export function feedEntries(text: string, timeZone: string | undefined): Entries {
  guardXml(text);
  const items = rawItems(parsed(text));
  if (items.length > MAX_ENTRIES) throw refused(`the document has more than ${MAX_ENTRIES} items`);
  const entries = items.map((item) => entryOf(item, timeZone)).filter((entry) => entry !== null);
  return { entries, skipped: items.length - entries.length };
}

function parsed(text: string): Feed {
  try {
    return parseFeed(text);
  } catch (error) {
    throw refused('the feed cannot be read', error);
  }
}

function rawItems(feed: Feed): readonly RawItem[] {
  switch (feed.format) {
    case 'rss':
      return (feed.feed.items ?? []).map((item) => ({
        id: item.guid?.value,
        title: item.title,
        description: item.description ?? item.content?.encoded,
        link: item.link ?? (item.guid?.isPermaLink === false ? undefined : item.guid?.value),
        dates: texts(item.pubDate, item.dc?.dates?.[0]),
        categories: (item.categories ?? []).map(({ name }) => name),
      }));
    case 'rdf':
      return (feed.feed.items ?? []).map((item) => ({
        id: item.rdf?.about,
        title: item.title,
        description: item.description ?? item.content?.encoded,
        link: item.link,
        dates: texts(item.dc?.dates?.[0]),
        categories: item.dc?.subjects ?? [],
      }));
    case 'atom':
      return (feed.feed.entries ?? []).map((entry) => ({
        id: entry.id,
        title: entry.title?.value,
        description: entry.summary?.value ?? entry.content?.value,
        link: entry.links?.find(({ rel = 'alternate' }) => rel === 'alternate')?.href,
        dates: texts(entry.published, entry.updated),
        categories: (entry.categories ?? []).map(({ term, label }) => label ?? term),
      }));
    default:
      throw refused('the document is no feed');
  }
}

/** The library leaves the type of dates open; without its option they are text. */
function texts(...values: readonly unknown[]): readonly string[] {
  return values.filter((value) => typeof value === 'string');
}

/** Null where it says nothing. */
function entryOf(raw: RawItem, timeZone: string | undefined): Entry | null {
  const summary = plainText(raw.description ?? '', MAX_SUMMARY);
  const whole = plainText(raw.title ?? '', MAX_TITLE + CELEX_LENGTH);
  const link = linkOf(raw.link);
  const celex = CELEX_TITLE.exec(whole)?.[1] ?? CELEX_LINK.exec(link ?? '')?.[1] ?? null;
  const title = plainText(whole.replace(CELEX_TITLE, ''), MAX_TITLE) || plainText(summary, MAX_TITLE);
  if (title === '') return null;
  const published = dateOf(raw, timeZone);
  return {
    key: keyOf(raw, celex, link, title),
    title,
    summary,
    link,
    citation: celex === null ? null : `CELEX ${celex}`,
    authority: null,
    publishedAt: published?.at ?? null,
    effectiveAt: null,
    keyDates: published === null ? [] : [{ date: published.day, label: 'published' }],
    signs: [...celexSigns(celex), ...categorySigns(raw.categories)],
  };
}

function dateOf({ dates, description = '' }: RawItem, timeZone: string | undefined) {
  for (const text of dates) {
    const date = readFeedDate(text, timeZone);
    if (date !== null) return date;
  }
  return readFeedDate(TIME_ELEMENT.exec(description)?.[1], timeZone);
}

function linkOf(text: string | undefined): string | null {
  const url = URL.parse(text?.trim() ?? '');
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) return null;
  url.username = '';
  url.password = '';
  return url.href.length > MAX_URL ? null : url.href;
}

function keyOf({ id, dates }: RawItem, celex: string | null, link: string | null, title: string): string {
  if (celex !== null) return `CELEX:${celex}`;
  const own = id?.trim() ?? '';
  if (own !== '') return own.length > MAX_KEY ? hash('sha256', own) : own.toWellFormed();
  return link ?? hash('sha256', JSON.stringify([title, dates[0] ?? null]));
}

function celexSigns(celex: string | null): readonly string[] {
  const [, sector, type] = CELEX_NUMBER.exec(celex ?? '') ?? [];
  return sector === undefined ? [] : ['celex', `celex:${sector}${type}`];
}

function categorySigns(categories: readonly (string | undefined)[]): readonly string[] {
  return categories
    .slice(0, MAX_CATEGORIES)
    .map((category) => `category:${plainText(category ?? '', MAX_CATEGORY).toLowerCase()}`);
}

/** A law that a text may name. */
export interface NamedLaw {
  readonly law: string;
  readonly names: RegExp;
  /** A name that other laws bear too: it counts where nothing says that another one is meant. Null: none. */
  readonly bareNames: RegExp | null;
}

/** Where a text names a law, or an article or annex of one. */
interface Place {
  readonly from: number;
  readonly to: number;
}

interface Mention extends Place {
  readonly law: string;
}

interface Reference extends Place {
  /** Numbers of articles, and of annexes in capitals. */
  readonly numbers: readonly string[];
}

/** Laws that a text names, and the articles and annexes that it names of each. */
export type LawsNamed = ReadonlyMap<string, ReadonlySet<string>>;

const NUMBER = String.raw`\d{1,3}(?!\d|\s*(?:CFR|CCR|RCNY|U\.?S\.?C))(?:\s*\([^)]{1,6}\))*`;
const BETWEEN = String.raw`\s*(?:,|and|&|or|to|\+|/|-|\u2013)\s*(?:arts?\.?|articles?)?\s*`;
/** `Art. 18(1), 47(1)`; `Annexes IV and XI`; `18(1)`. */
const ARTICLES = new RegExp(String.raw`(?:\b(?:arts?\.?|articles?)|\u00a7+)\s*${NUMBER}(?:${BETWEEN}${NUMBER})*`, 'gi');
const ANNEXES = /\bannex(?:es)?\s+[IVX]+(?:\s*(?:,|and|&|\+)\s*(?:annex\s+)?[IVX]+)*\b/gi;
const PARAGRAPHS = /(?<![\w.-])\d{1,3}\s*\(\d[^)]{0,5}\)(?:\s*\([^)]{1,6}\))*/g;

/** Words and signs that bind an article to the law that it is of. */
const BINDING = /\b(?:of|the|in|under|regulation|directive|eu)\b|[\s()]/gi;
const OF = /\bof\b/i;
/** Less than a sign. */
const AFTER = 0.5;
/** After these a bare name stands by itself. */
const BEFORE_BARE = /(?:^|[^\p{L}\s]|\b(?:the|of|under|per|see|by|and|or|with|to|in|for|our))\s*$/iu;
const PARTS = /[;\n]/;

/**
 * The laws that a text names, each with its articles and annexes. An article is of the law that it stands next to.
 * `elsewhere`: with one of these in the same part of the text, a bare name is of another law.
 */
export function lawsNamed(text: string, laws: readonly NamedLaw[], elsewhere: RegExp): LawsNamed {
  const mentions = laws.flatMap((law) => mentionsOf(text, law, elsewhere));
  const found = new Map(mentions.map(({ law }) => [law, new Set<string>()]));
  const references = referencesIn(text);
  const rest = without(text, references);
  for (const reference of references) {
    const nearest = mentions.toSorted((a, b) => distance(rest, reference, a) - distance(rest, reference, b))[0];
    for (const number of reference.numbers) if (nearest) found.get(nearest.law)?.add(number);
  }
  return found;
}

function mentionsOf(text: string, { law, names, bareNames }: NamedLaw, elsewhere: RegExp): Mention[] {
  const found = placesOf(text, names);
  if (bareNames !== null) {
    const bare = placesOf(text, bareNames).filter(
      ({ from, to }) =>
        !found.some((place) => place.from <= from && to <= place.to) &&
        BEFORE_BARE.test(text.slice(0, from)) &&
        !elsewhere.test(partAround(text, from, to)),
    );
    found.push(...bare);
  }
  return found.map(({ from, to }) => ({ from, to, law }));
}

function referencesIn(text: string): Reference[] {
  const listed = [ARTICLES, ANNEXES].flatMap((pattern) => placesOf(text, pattern));
  const alone = placesOf(text, PARAGRAPHS).filter(({ from }) => !listed.some((at) => at.from <= from && from < at.to));
  return [...listed, ...alone].map(({ from, to }) => ({ from, to, numbers: numbersIn(text.slice(from, to)) }));
}

function numbersIn(reference: string): string[] {
  const numbers = reference.replace(/\([^)]*\)|annex(?:es)?/gi, ' ').match(/\d+|\b[IVX]+\b/gi) ?? [];
  return numbers.map((number) => number.toUpperCase());
}

/** The text with these places blank: in a list of articles the others are of the same law. */
function without(text: string, places: readonly Place[]): string {
  let rest = text;
  for (const { from, to } of places) rest = rest.slice(0, from) + ' '.repeat(to - from) + rest.slice(to);
  return rest;
}

/**
 * How far an article stands from a law: signs between them, those that bind it not counted. Of two that are as near the
 * law before it is nearer, but for one that is joined by "of".
 */
function distance(text: string, reference: Place, law: Place): number {
  if (law.from < reference.to) return text.slice(law.to, reference.from).replace(BINDING, '').length;
  const between = text.slice(reference.to, law.from);
  const signs = between.replace(BINDING, '').length;
  if (signs === 0 && OF.test(between)) return -1;
  return signs + AFTER;
}

function placesOf(text: string, pattern: RegExp): Place[] {
  return [...text.matchAll(pattern)].map(({ index, 0: found }) => ({ from: index, to: index + found.length }));
}

function partAround(text: string, from: number, to: number): string {
  const before = text.slice(0, from).split(PARTS).at(-1) ?? '';
  const after = text.slice(to).split(PARTS)[0] ?? '';
  return before + text.slice(from, to) + after;
}

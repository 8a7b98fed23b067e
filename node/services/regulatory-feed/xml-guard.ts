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
export function guardXml(text: string): void {
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

/** Entities beyond XML's own that occur in regulators' texts. */
const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  ndash: '–',
  mdash: '—',
  lsquo: '‘',
  rsquo: '’',
  ldquo: '“',
  rdquo: '”',
  hellip: '…',
  bull: '•',
  middot: '·',
  sect: '§',
  para: '¶',
  copy: '©',
  reg: '®',
  trade: '™',
  euro: '€',
  pound: '£',
  deg: '°',
  laquo: '«',
  raquo: '»',
  aacute: 'á',
  agrave: 'à',
  acirc: 'â',
  auml: 'ä',
  atilde: 'ã',
  ccedil: 'ç',
  eacute: 'é',
  egrave: 'è',
  ecirc: 'ê',
  iacute: 'í',
  ntilde: 'ñ',
  oacute: 'ó',
  ocirc: 'ô',
  ouml: 'ö',
  otilde: 'õ',
  szlig: 'ß',
  uacute: 'ú',
  uuml: 'ü',
};
/** What these hold is not to be read by people. */
const UNREAD = new Set(['script', 'style', 'template', 'noscript', 'iframe', 'svg', 'math']);
/** Markup looked at of one text: a page is not a summary. Characters. */
const MAX_MARKUP = 100_000;
const ELLIPSIS = '…';
const ENTITY = /&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z][a-z0-9]{1,31}));/gi;
const TAG_NAME = /^\/?([a-z][a-z0-9-]*)/i;
const CONTROLS = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g;

/**
 * The text that a person would read of HTML: tags and scripts left out, entities decoded once, white space folded,
 * controls and marks of direction taken out. It may hold `<` as a character; it is text, and to be escaped as text.
 * Longer than `max` code points, it is cut at a word and ends in `…`. Takes time linear in its length.
 */
export function plainText(markup: string, max: number): string {
  const text = withoutTags(markup.slice(0, MAX_MARKUP))
    .replace(ENTITY, decodeEntity)
    .replace(CONTROLS, '')
    .replaceAll(/\s+/g, ' ')
    .trim()
    .toWellFormed();
  return cut(text, max);
}

function withoutTags(markup: string): string {
  const pieces: string[] = [];
  let at = 0;
  for (let open = markup.indexOf('<'); open !== -1; open = markup.indexOf('<', at)) {
    pieces.push(markup.slice(at, open));
    const end = tagEnd(markup, open);
    if (end === null) pieces.push('<');
    else pieces.push(' ');
    at = end ?? open + 1;
  }
  pieces.push(markup.slice(at));
  return pieces.join('');
}

/** Where what begins with `<` ends; null where it is no markup but the character. */
function tagEnd(markup: string, open: number): number | null {
  if (markup.startsWith('<!--', open)) return after(markup, '-->', open);
  if (markup.startsWith('<!', open) || markup.startsWith('<?', open)) return after(markup, '>', open);
  const name = TAG_NAME.exec(markup.slice(open + 1, open + 40))?.[1]?.toLowerCase();
  if (name === undefined) return null;
  const end = after(markup, '>', open);
  if (!UNREAD.has(name) || markup[open + 1] === '/') return end;
  const closing = new RegExp(`</${name}`, 'gi');
  closing.lastIndex = end;
  const close = closing.exec(markup)?.index;
  return close === undefined ? markup.length : after(markup, '>', close);
}

function after(markup: string, what: string, from: number): number {
  const at = markup.indexOf(what, from);
  return at === -1 ? markup.length : at + what.length;
}

function decodeEntity(whole: string, decimal: string, hex: string, name: string): string {
  if (name !== undefined) return ENTITIES[name] ?? ENTITIES[name.toLowerCase()] ?? whole;
  const point = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
  return point > 0 && point <= 0x10ffff ? String.fromCodePoint(point) : '';
}

function cut(text: string, max: number): string {
  if (text.length <= max) return text;
  const points = [...text];
  if (points.length <= max) return text;
  const kept = points.slice(0, max - 1).join('');
  const word = kept.lastIndexOf(' ');
  return (word > max / 2 ? kept.slice(0, word) : kept) + ELLIPSIS;
}

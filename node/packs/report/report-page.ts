import { type ComponentChild, h } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { shownText } from '../../pages/shown-text.ts';
import { omittedWords, type ReportDocument, type ReportSection, type ReportTable } from './report-document.ts';

/** Nothing is loaded and nothing runs: the page is read from a disk, whoever it came from. */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

const STYLE = `
:root { color-scheme: light; }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 70rem; padding: 0 1rem 3rem; background: #fff; color: #1b1f24;
  font: 1rem/1.5 system-ui, sans-serif; }
h1 { margin: 2rem 0 1rem; font-size: 1.7rem; line-height: 1.25; overflow-wrap: anywhere; }
h2 { margin: 2.5rem 0 .5rem; font-size: 1.25rem; }
a { color: #0b57a4; }
:focus-visible { outline: 3px solid #0b57a4; outline-offset: 2px; }
.skip { position: absolute; left: -100rem; }
.skip:focus { left: 1rem; top: 1rem; background: #fff; padding: .5rem; }
dl { display: grid; grid-template-columns: minmax(8rem, 14rem) 1fr; gap: .25rem 1rem; }
dt { color: #444; }
dd { margin: 0; overflow-wrap: anywhere; }
.scroll { overflow-x: auto; margin: 1rem 0; }
table { border-collapse: collapse; width: 100%; font-size: .85rem; }
caption { text-align: left; font-weight: 600; padding: .5rem 0; }
th, td { border: 1px solid #c9d0d8; padding: .25rem .4rem; text-align: left; vertical-align: top;
  overflow-wrap: anywhere; min-width: 3.5rem; }
th { background: #f3f5f7; overflow-wrap: normal; }
@page { size: A4; margin: 15mm; @bottom-right { content: counter(page) ' / ' counter(pages); font: 8pt sans-serif; } }
@media print {
  body { max-width: none; padding: 0; font-size: 10pt; }
  nav, .skip { display: none; }
  .scroll { overflow: visible; }
  table { font-size: 7.5pt; table-layout: fixed; }
  th, td { min-width: 0; overflow-wrap: anywhere; }
  thead { display: table-header-group; }
  tr { break-inside: avoid; }
  h2, caption { break-after: avoid; }
  .cover { break-after: page; }
}
@media (max-width: 40rem) { dl { grid-template-columns: 1fr; } dd { margin-bottom: .5rem; } }
`;

/** A report as a page of HTML by itself: no file, no script and no network beside it. */
export function reportPage(report: ReportDocument): string {
  const { title, sections } = report;
  const page = h('html', { lang: 'en' }, [
    h('head', null, [
      h('meta', { charset: 'utf-8' }),
      h('meta', { 'http-equiv': 'Content-Security-Policy', content: POLICY }),
      h('meta', { name: 'viewport', content: 'width=device-width, initial-scale=1' }),
      h('meta', { name: 'robots', content: 'noindex' }),
      h('title', null, title),
      h('style', { dangerouslySetInnerHTML: { __html: STYLE } }),
    ]),
    h('body', null, [
      h('a', { class: 'skip', href: '#main' }, 'Skip to the content'),
      h('main', { id: 'main', tabIndex: -1 }, [...cover(report), ...sections.map(sectionOf)]),
    ]),
  ]);
  return `<!doctype html>\n${renderToString(page)}\n`;
}

function cover({ title, cover: facts, introduction, sections }: ReportDocument): ComponentChild[] {
  return [
    h('div', { class: 'cover' }, [
      h('h1', null, title),
      h(
        'dl',
        null,
        facts.flatMap(([name, text]) => [h('dt', null, name), h('dd', null, foreign(text))]),
      ),
      ...introduction.map((text) => h('p', null, text)),
      h(
        'nav',
        { 'aria-label': 'Sections' },
        h(
          'ul',
          null,
          sections.map(({ id, title: name }) => h('li', null, h('a', { href: `#${id}` }, name))),
        ),
      ),
    ]),
  ];
}

function sectionOf({ id, title, paragraphs, tables }: ReportSection): ComponentChild {
  return h('section', { 'aria-labelledby': id }, [
    h('h2', { id }, title),
    ...paragraphs.map((text) => h('p', null, foreign(text))),
    ...tables.flatMap(tableParts),
  ]);
}

/** A text that may hold what others wrote: it moves nothing around it. */
function foreign(text: string): ComponentChild {
  return h('bdi', null, shownText(text));
}

/** A table that is wider than the screen is scrolled by itself, by the keyboard too. */
function tableParts(table: ReportTable): ComponentChild[] {
  const { caption, columns, rows } = table;
  if (rows.length === 0) return [h('p', null, `${caption}: none.`)];
  const omitted = omittedWords(table);
  return [
    h(
      'div',
      { class: 'scroll', role: 'region', 'aria-label': caption, tabIndex: 0 },
      h('table', null, [
        h('caption', null, caption),
        h(
          'thead',
          null,
          h(
            'tr',
            null,
            columns.map((name) => h('th', { scope: 'col' }, name)),
          ),
        ),
        h(
          'tbody',
          null,
          rows.map((row) =>
            h(
              'tr',
              null,
              row.map((cell) => h('td', null, foreign(cell))),
            ),
          ),
        ),
      ]),
    ),
    ...(omitted === null ? [] : [h('p', null, omitted)]),
  ];
}

import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { readDocumentApart } from '../../../../node/services/regulatory-feed/document-reader.ts';
import type { SourceTerms } from '../../../../node/services/regulatory-feed/entry.ts';
import {
  type GivenItem,
  type RawDocument,
  readDocument,
} from '../../../../node/services/regulatory-feed/read-document.ts';
import { RegwatchError } from '../../../../node/services/regulatory-feed/regwatch-error.ts';
import { JsonError } from '../../../../protocol/json/value.ts';
import { testWhere } from '../../../fixtures/test-where.ts';
import { document, ESMA, EUR_LEX, FCA, FEDERAL_REGISTER, GOV_UK, RDF, rss, terms } from './documents.ts';

/** Files of the feeds as they are published; where they are not, their tests are left out, loudly. */
const SAMPLES = join(import.meta.dirname, '../../../../../shared/data/regwatch');

function only(text: string | RawDocument, of: SourceTerms = terms()): GivenItem {
  const { items } = readDocument(typeof text === 'string' ? document(text) : text, of);
  assert.is(items.length, 1);
  const [item] = items;
  if (item === undefined) throw new Error('no item');
  return item;
}

test('EUR-Lex: the number is the identity, and tells instrument, status and jurisdiction', () => {
  const { key, content } = only(EUR_LEX);
  assert.is(key, 'CELEX:32026R1744');
  assert.is(content.title, 'Regulation (EU) 2026/1744 amending Regulation (EU) 2024/1689');
  assert.is(content.sourceUrl, 'https://eur-lex.europa.eu/legal-content/AUTO/?uri=CELEX:32026R1744');
  assert.equal(
    [content.jurisdictions, content.frameworks, content.instrumentType, content.status, content.citation],
    [['EU'], ['EU_AI_ACT'], 'regulation', 'adopted', 'CELEX 32026R1744'],
  );
  assert.equal(
    [content.publishedAt, content.keyDates],
    ['2026-07-23T22:00:00.000Z', [{ date: '2026-07-24', label: 'published' }]],
  );
});

test('ESMA: the date is found inside the description, which becomes plain text', () => {
  const { content } = only(ESMA, terms({ jurisdictions: ['EU'] }));
  assert.is(content.publishedAt, '2026-09-10T08:25:31.000Z');
  assert.is(content.summary, '10 September A & B');
  assert.equal(
    [content.frameworks, content.instrumentType, content.status],
    [['MIFID_II'], 'consultation', 'proposed'],
  );
});

test('FCA: words without a zone are in the time of the source', () => {
  const { content } = only(FCA, terms({ timeZone: 'Europe/London' }));
  assert.equal([content.publishedAt, content.instrumentType], ['2026-07-27T14:30:00.000Z', 'enforcement']);
  assert.is(only(FCA).content.publishedAt, null);
});

test('gov.uk: a tag is the identity, `updated` the date', () => {
  const { key, content } = only(GOV_UK);
  assert.equal([key, content.publishedAt], ['tag:www.gov.uk,2005:/alert/1', '2026-04-29T13:02:41.000Z']);
  assert.is(content.sourceUrl, 'https://www.gov.uk/alert/1');
});

test('RDF: items beside the channel, dates of Dublin Core', () => {
  const { key, content } = only(RDF);
  assert.equal([key, content.publishedAt], ['https://rdf.example/1', '2026-01-02T03:04:05.000Z']);
});

test('the Federal Register: one page of many, agencies, days; what has no number or title is passed over', () => {
  const { items, skipped } = readDocument(document(FEDERAL_REGISTER), terms({ format: 'federal-register' }));
  assert.equal([items.length, skipped], [1, 2]);
  const { key, content } = only(document(FEDERAL_REGISTER), terms({ format: 'federal-register' }));
  assert.is(key, '2026-13245');
  assert.is(content.authority, 'National Institute, OFFICE');
  assert.equal(
    [content.jurisdictions, content.frameworks, content.instrumentType, content.status],
    [['US'], ['NIST_AI_RMF', 'US_BANK_MRM'], 'regulation', 'proposed'],
  );
  assert.equal(content.keyDates, [
    { date: '2026-06-20', label: 'published' },
    { date: '2026-08-20', label: 'comments close' },
  ]);
  assert.is(content.citation, 'FR Doc. 2026-13245');
});

test('what the rules do not tell is unclassified, and what has no date is undated', () => {
  const { content } = only(rss('<title>Weather</title><link>https://a.example/1</link>'));
  assert.equal(
    [content.jurisdictions, content.frameworks, content.instrumentType, content.status, content.publishedAt],
    [['unclassified'], ['unclassified'], 'unclassified', 'unclassified', null],
  );
});

test('identity: the id of its own, else the link, else title and date; the same twice in one document counts once', () => {
  const keys = (...items: string[]) => readDocument(document(rss(...items)), terms()).items.map(({ key }) => key);
  assert.equal(keys('<title>a</title><guid>g</guid><link>https://x.example/</link>'), ['g']);
  assert.equal(keys('<title>a</title><link>https://x.example/</link>'), ['https://x.example/']);
  const [first, second] = keys('<title>a</title>', '<title>b</title>');
  assert.is.not(first, second);
  assert.is(keys('<title>a</title>')[0], first);
  const { items, skipped } = readDocument(
    document(rss('<title>a</title><guid>g</guid>', '<title>b</title><guid>g</guid>')),
    terms(),
  );
  assert.equal([items.map(({ content }) => content.title), skipped], [['a'], 1]);
});

test('the encoding is that of a mark, of the header, or of the document itself', () => {
  const latin = (declaration: string) =>
    Buffer.from(
      `${declaration}<rss version="2.0"><channel><title>t</title><item><title>Notícias</title></item></channel></rss>`,
      'latin1',
    );
  const declared = '<?xml version="1.0" encoding="ISO-8859-1"?>';
  assert.is(only({ bytes: latin(declared), contentType: null }).content.title, 'Notícias');
  assert.is(only({ bytes: latin(''), contentType: 'text/xml; charset="iso-8859-1"' }).content.title, 'Notícias');
  const wide = Buffer.from(`\ufeff${rss('<title>Notícias</title>')}`, 'utf16le');
  assert.is(only({ bytes: wide, contentType: null }).content.title, 'Notícias');
  assert.throws(() => readDocument({ bytes: latin(''), contentType: null }, terms()), /not in utf-8/);
  assert.throws(() => readDocument(document(rss(), 'text/xml; charset=klingon'), terms()), /not known/);
});

test('links that are no web addresses are left out, and so are passwords in them', () => {
  assert.is(
    only(rss('<title>a</title><link>javascript:alert(1)</link><guid isPermaLink="false">1</guid>')).content.sourceUrl,
    null,
  );
  assert.is(
    only(rss('<title>a</title><link>https://me:secret@x.example/</link>')).content.sourceUrl,
    'https://x.example/',
  );
});

const BOMB = `<!DOCTYPE rss [<!ENTITY a "${'x'.repeat(100)}"><!ENTITY b "${'&a;'.repeat(100)}"><!ENTITY c "${'&b;'.repeat(100)}">]>`;
const MALICIOUS: Readonly<Record<string, string>> = {
  'entities that grow': `<?xml version="1.0"?>${BOMB}${rss('<title>&c;</title>').slice(38)}`,
  'an entity from elsewhere': `<!DOCTYPE rss [<!ENTITY x SYSTEM "file:///etc/passwd">]><rss><channel><item><title>&x;</title></item></channel></rss>`,
  'a DOCTYPE after a comment': `<!-- c --><!DOCTYPE rss><rss><channel><title>t</title></channel></rss>`,
  'a declaration inside': rss('<title>a</title><!ENTITY x "y">'),
  'the end missing': rss('<title>a</title>').slice(0, -20),
  'a section of text without end': rss('<title><![CDATA[a</title>'),
  HTML: '<html><body>404</body></html>',
  nothing: '',
  zeros: '\0'.repeat(1 << 20),
  JSON: '{"version":"https://jsonfeed.org/version/1","items":[]}',
  'nesting without end': rss(`<a>`.repeat(100_000)),
  'tags without number': rss('<a/>'.repeat(500_000)),
};

/** What costs most is read as a node reads it. */
const APART = new Set(['entities that grow', 'nesting without end']);

for (const [what, text] of Object.entries(MALICIOUS)) {
  test(`refused without harm: ${what}`, async () => {
    const started = performance.now();
    try {
      await (APART.has(what) ? readDocumentApart(document(text), terms()) : readDocument(document(text), terms()));
      assert.unreachable();
    } catch (error) {
      assert.instance(error, RegwatchError);
    }
    assert.ok(performance.now() - started < 15_000);
  });
}

test('a document over the largest size, or with too many items, is refused; entities that nobody declared stay text', async () => {
  const large = { bytes: new Uint8Array((8 << 20) + 1), contentType: null };
  const refusal = await readDocumentApart(large, terms()).catch((error: unknown) => error);
  assert.instance(refusal, RegwatchError);
  const items = Array.from({ length: 2_001 }, (_, i) => `<title>${i}</title>`);
  assert.throws(() => readDocument(document(rss(...items)), terms()), /more than 2000/);
  assert.is(only(rss('<title>&c; &amp;c;</title>')).content.title, '&c; &c;');
});

test('a document of few bytes and very many members and items is refused before it is parsed', async () => {
  const nesting = (8 << 20) / 2 - 2_500_000;
  const many = `{${'"\\n":0,'.repeat(700_000)}"a":${'['.repeat(nesting)}${']'.repeat(nesting)}}`;
  const of = terms({ format: 'federal-register' });
  const refusal: unknown = await Promise.try(() => readDocument(document(many), of)).catch((error: unknown) => error);
  assert.instance(refusal, RegwatchError);
  assert.is(
    refusal instanceof RegwatchError && refusal.cause instanceof JsonError && refusal.cause.code,
    'too-many-values',
  );
  assert.instance(await readDocumentApart(document(many), of).catch((error: unknown) => error), RegwatchError);
});

test('the event loop goes on while a document is read', async () => {
  const many = rss(
    ...Array.from(
      { length: 2_000 },
      (_, i) => `<title>Item ${i}</title><description>${'x '.repeat(900)}</description>`,
    ),
  );
  let ticks = 0;
  const timer = setInterval(() => ticks++, 5);
  const { items } = await readDocumentApart(document(many), terms());
  clearInterval(timer);
  assert.is(items.length, 2_000);
  assert.ok(ticks > 5, `${ticks} ticks`);
});

testWhere(existsSync(SAMPLES), `${SAMPLES} is not here`)(
  'the feeds as they are published are read whole, to the same items each time',
  async () => {
    const expected: Readonly<Record<string, number>> = {
      'esma-shape.xml': 1,
      'eur-lex-rss162.xml': 2,
      'federal-register-documents-api.json': 5,
      'federal-register-small.json': 2,
      'generic-atom-10.xml': 6,
      'generic-rdf-10.xml': 2,
      'generic-rss-20.xml': 2,
      'govuk-drug-device-alerts.atom': 1,
      'rssparser-encoding.rss': 40,
      'rssparser-heise.atom': 15,
      'rssparser-reddit-atom.rss': 24,
    };
    for (const [file, count] of Object.entries(expected)) {
      const raw = { bytes: await readFile(join(SAMPLES, file)), contentType: null };
      const of = terms({ format: file.endsWith('.json') ? 'federal-register' : 'feed' });
      const { items, skipped } = readDocument(raw, of);
      assert.equal([file, items.length, skipped], [file, count, 0]);
      assert.equal(readDocument(raw, of).items, items);
    }
  },
);

test.run();

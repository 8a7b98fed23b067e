import type { SourceTerms } from '../../../../node/services/regulatory-feed/entry.ts';
import type { RawDocument } from '../../../../node/services/regulatory-feed/read-document.ts';

/** A source without labels of its own. */
export function terms(more: Partial<SourceTerms> = {}): SourceTerms {
  return { id: 'test', format: 'feed', authority: 'Test Authority', jurisdictions: [], frameworks: [], ...more };
}

export function document(text: string, contentType: string | null = null): RawDocument {
  return { bytes: Buffer.from(text), contentType };
}

export function rss(...items: readonly string[]): string {
  const channel = items.map((item) => `<item>${item}</item>`).join('\n');
  return `<?xml version="1.0" encoding="UTF-8"?><rss version="2.0"><channel><title>t</title>${channel}</channel></rss>`;
}

/** EUR-Lex: no description, the number before the title, an id that is not the link, local midnight. */
export const EUR_LEX = `<?xml version="1.0" encoding="UTF-8"?>
<rss version="2.0"><channel xmlns:dc="http://purl.org/dc/elements/1.1/"><title>legislation</title><item>
<title>CELEX:32026R1744: Regulation (EU) 2026/1744 amending Regulation (EU) 2024/1689</title><description/>
<link>https://eur-lex.europa.eu/./legal-content/AUTO/?uri=CELEX:32026R1744</link>
<guid>https://eur-lex.europa.eu/./legal-content/AUTO/?uri=CELLAR:86beade5</guid>
<pubDate>Mon, 24 Jul 2026 00:00:00 +0200</pubDate><dc:creator>Council</dc:creator></item></channel></rss>`;

/** ESMA: the only date is inside the description. */
export const ESMA = rss(
  `<title>Consultation Paper on MiFID II records</title><link>https://esma.example/1</link>
   <description>&lt;time datetime="2026-09-10T10:25:31+02:00"&gt;10 September&lt;/time&gt;&lt;p&gt;A &amp;amp; B&lt;/p&gt;</description>`,
);

/** FCA: dates in words, in the time of London. */
export const FCA = rss(
  '<title>Firm fined</title><link>https://fca.example/1</link><pubDate>Monday, July 27, 2026 - 15:30</pubDate>',
);

/** gov.uk: ids are tags, and there is no `published`. */
export const GOV_UK = `<feed xmlns="http://www.w3.org/2005/Atom"><id>tag:gov</id><title>Alerts</title><entry>
<id>tag:www.gov.uk,2005:/alert/1</id><updated>2026-04-29T14:02:41+01:00</updated>
<link rel="alternate" type="text/html" href="https://www.gov.uk/alert/1"/>
<title>Roundup</title><summary type="html">Advice</summary></entry></feed>`;

/** RDF: items beside the channel, dates of Dublin Core. */
export const RDF = `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"
 xmlns:dc="http://purl.org/dc/elements/1.1/"><channel rdf:about="x"><title>t</title></channel>
<item rdf:about="https://rdf.example/1"><title>One</title><link>https://rdf.example/1</link>
<dc:date>2026-01-02T03:04:05Z</dc:date></item></rdf:RDF>`;

export const FEDERAL_REGISTER = JSON.stringify({
  count: 1893,
  results: [
    {
      document_number: '2026-13245',
      title: 'Artificial Intelligence Risk Management Framework; Proposed Rule',
      type: 'Proposed Rule',
      action: 'Proposed rule.',
      abstract: 'It would refer to SR 26-2.',
      html_url: 'https://www.federalregister.gov/d/2026-13245',
      publication_date: '2026-06-20',
      effective_on: null,
      comments_close_on: '2026-08-20',
      agencies: [{ name: 'National Institute', slug: 'nist' }, { raw_name: 'OFFICE' }],
    },
    { document_number: '2026-1', title: '' },
    { title: 'without a number' },
  ],
});

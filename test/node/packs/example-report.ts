import type { ReportDocument } from '../../../node/packs/report/report-document.ts';

const ROWS = 200;
export const REPORTED_AT = new Date('2026-11-21T09:30:00.000Z');

/** A report with a table of several pages, and with what a stranger might write. */
export const EXAMPLE_REPORT: ReportDocument = {
  title: 'Evidence pack of acc_eu_example',
  cover: [['Account', 'acc_eu_example']],
  introduction: ['What was recorded.'],
  sections: [
    {
      id: 'scope',
      title: 'Scope',
      paragraphs: ['A paragraph of <b>plain</b> text.'],
      tables: [
        {
          caption: 'Clauses',
          columns: ['Clause', 'What is said', 'Count'],
          rows: Array.from({ length: ROWS }, (_, i) => [
            `clause ${i}`,
            `${'a longer text, '.repeat(1 + (i % 7))} <img src=x onerror=alert(1)>\u202e`,
            String(i),
          ]),
          omitted: 3,
        },
      ],
    },
  ],
};

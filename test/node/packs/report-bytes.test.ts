import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { extractText, getDocumentProxy } from 'unpdf';
import { reportPage } from '../../../node/packs/report/report-page.ts';
import { reportPdf } from '../../../node/packs/report/report-pdf.ts';
import { CHILD_ENVIRONMENT } from '../../fixtures/child-environment.ts';
import { EXAMPLE_REPORT, REPORTED_AT } from './example-report.ts';

const ROOT = join(import.meta.dirname, '../../..');
const run = promisify(execFile);

test('the same report is the same bytes, in another process, at another time and in another time zone', async () => {
  const script =
    "const { reportPdf } = await import('./node/packs/report/report-pdf.ts');" +
    "const { reportPage } = await import('./node/packs/report/report-page.ts');" +
    "const { EXAMPLE_REPORT, REPORTED_AT } = await import('./test/node/packs/example-report.ts');" +
    "const { createHash } = await import('node:crypto');" +
    'const parts = [reportPage(EXAMPLE_REPORT), await reportPdf(EXAMPLE_REPORT, REPORTED_AT)];' +
    "const hashes = parts.map((part) => createHash('sha256').update(part).digest('hex'));" +
    'process.stdout.write([...hashes, new Date(0).getTimezoneOffset()].join(" "));';
  const parts = [reportPage(EXAMPLE_REPORT), await reportPdf(EXAMPLE_REPORT, REPORTED_AT)];
  const expected = parts.map((part) => createHash('sha256').update(part).digest('hex')).join(' ');
  for (const [zone, offset] of [
    ['Asia/Tokyo', -540],
    ['America/Los_Angeles', 480],
  ] as const) {
    const env = { ...CHILD_ENVIRONMENT, TZ: zone, LANG: 'tr_TR.UTF-8' };
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', script], { cwd: ROOT, env });
    assert.is(stdout, `${expected} ${offset}`, zone);
  }
});

test('a long table goes over pages with its head on each, and loses no cell', async () => {
  const pdf = await getDocumentProxy(new Uint8Array(await reportPdf(EXAMPLE_REPORT, REPORTED_AT)));
  const { text: pages } = await extractText(pdf);
  assert.ok(pages.length > 3, `${pages.length} pages`);
  const [table] = EXAMPLE_REPORT.sections.flatMap(({ tables }) => tables);
  const squeezed = pages.join('').replaceAll(/\s/g, '');
  for (const [name = ''] of table?.rows ?? []) assert.match(squeezed, name.replaceAll(/\s/g, ''));
  const within = pages.slice(1, -1);
  assert.ok(
    within.every((page) => page.includes('What is said')),
    'the head of the table is on each page of it',
  );
});

test('what others wrote moves nothing and is no element', () => {
  const page = reportPage(EXAMPLE_REPORT);
  assert.match(page, '&lt;img src=x onerror=alert(1)>\\u{202e}');
  assert.not.match(page, '\u202e');
});

test.run();

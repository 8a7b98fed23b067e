// npm run frameworks -- recheck | pages: rows that are to be looked up again, and the tables of docs/regimes/.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { endWithUsageError, requireCommandLine, UsageError } from '../node/config/command-line.ts';
import { catalogue } from '../protocol/frameworks/catalogue.ts';
import { pageWithParts } from './frameworks/pages.ts';
import { DEFAULT_AGE_DAYS, rowsDue } from './frameworks/recheck.ts';

const USAGE = `npm run frameworks -- recheck [--days N] [--json]
npm run frameworks -- pages

recheck: rows of the catalogue that no primary text backs, and rows checked more than N days ago (default ${DEFAULT_AGE_DAYS}), the
oldest first.
pages: writes the tables of docs/regimes/ anew.`;
const PAGES = join(import.meta.dirname, '../docs/regimes');

const { values, positionals } = requireCommandLine(
  USAGE,
  { days: { type: 'string' }, json: { type: 'boolean' } },
  { allowPositionals: true },
);
const days = Number(values.days ?? DEFAULT_AGE_DAYS);
const [command] = positionals;
if (positionals.length !== 1 || (command !== 'recheck' && command !== 'pages')) {
  endWithUsageError(new UsageError('say recheck or pages'));
}
if (!Number.isInteger(days) || days < 0) endWithUsageError(new UsageError('--days is a whole number of days'));

if (command === 'pages') writePages();
else recheck();

function recheck(): void {
  const rows = rowsDue(catalogue, days, Date.now());
  if (values.json === true) {
    console.log(JSON.stringify({ catalogueVersion: catalogue.catalogueVersion, rows }, null, 2));
    return;
  }
  for (const { framework, clause, mark, checkedAt, why, source } of rows) {
    console.log(`${checkedAt}  ${mark}  ${framework} ${clause}: ${why.join(', ')}`);
    console.log(`               ${source}`);
  }
  console.log(`${rows.length} rows of catalogue ${catalogue.catalogueVersion} are to be looked up again`);
}

function writePages(): void {
  for (const name of readdirSync(PAGES)) {
    const path = join(PAGES, name);
    const page = readFileSync(path, 'utf8');
    const made = pageWithParts(page, catalogue);
    if (made === page) continue;
    writeFileSync(path, made);
    console.log(path);
  }
}

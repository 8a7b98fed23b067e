// npm run frameworks -- recheck [--days N] [--json]: rows of the catalogue of frameworks that are to be looked up again.
import { endWithUsageError, requireCommandLine, UsageError } from '../node/config/command-line.ts';
import { catalogue } from '../protocol/frameworks/catalogue.ts';
import { DEFAULT_AGE_DAYS, rowsDue } from './frameworks/recheck.ts';

const USAGE = `npm run frameworks -- recheck [--days N] [--json]

Rows of the catalogue that no primary text backs, and rows checked more than N days ago (default ${DEFAULT_AGE_DAYS}), the
oldest first.`;

const { values, positionals } = requireCommandLine(
  USAGE,
  { days: { type: 'string' }, json: { type: 'boolean' } },
  { allowPositionals: true },
);
const days = Number(values.days ?? DEFAULT_AGE_DAYS);
if (positionals.length !== 1 || positionals[0] !== 'recheck') endWithUsageError(new UsageError('say recheck'));
if (!Number.isInteger(days) || days < 0) endWithUsageError(new UsageError('--days is a whole number of days'));

const rows = rowsDue(catalogue, days, Date.now());
if (values.json === true) console.log(JSON.stringify({ catalogueVersion: catalogue.catalogueVersion, rows }, null, 2));
else print();

function print(): void {
  for (const { framework, clause, mark, checkedAt, why, source } of rows) {
    console.log(`${checkedAt}  ${mark}  ${framework} ${clause}: ${why.join(', ')}`);
    console.log(`               ${source}`);
  }
  console.log(`${rows.length} rows of catalogue ${catalogue.catalogueVersion} are to be looked up again`);
}

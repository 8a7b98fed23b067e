import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { exportAuditLog } from '../../../../node/accounts/audit-log/audit-export.ts';
import { lineRange, readAuditPage, readLine } from '../../../../node/accounts/audit-log/audit-reader.ts';
import { auditEntryTable } from '../../../../node/accounts/audit-log/audit-tables.ts';
import { nativeSuite } from '../../../../node/keys/native-suite.ts';
import { AUDIT_EXPORT_FORMATS } from '../../../../protocol/api/audit-log.ts';
import { verifyAuditLog } from '../../../../protocol/audit/walk.ts';
import { timestampOf } from '../../../../protocol/time.ts';
import { fc } from '../../../fixtures/properties.ts';
import { AuditFixture, LATE, linesOf, NODE, temporaryDirectory, use } from './audit-fixture.ts';

const directory = await temporaryDirectory();
let clock = LATE;
const fixture = await AuditFixture.open(directory.path, { now: () => clock });
const { store, auditLog } = fixture;

test.after(async () => {
  await fixture[Symbol.asyncDispose]();
  await directory[Symbol.asyncDispose]();
});

let accounts = 0;

/** A fresh account whose lines stand `steps` milliseconds apart, in rows of the given sizes. */
async function filled(steps: readonly number[], rowSizes: readonly number[]): Promise<string> {
  const account = `account-${accounts++}`;
  auditLog.note('neighbour-of', use('x'));
  clock = LATE;
  let row = 0;
  for (const [i, step] of steps.entries()) {
    clock += step;
    auditLog.note(account, use(i));
    if (--row > 0) continue;
    await auditLog.flush();
    row = rowSizes[i % rowSizes.length] ?? 1;
  }
  await auditLog.flush();
  return account;
}

const steps = fc.array(fc.constantFrom(0, 0, 1, 10, 1000), { maxLength: 30 });
const rows = fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 4 });
const time = fc.option(fc.integer({ min: -5, max: 8_000 }), { nil: undefined });
const at = (offset: number | undefined) => (offset === undefined ? undefined : timestampOf(LATE + offset));

test('pages by time and counter, newest or oldest first, give what a look at every line gives', async () => {
  await fc.assert(
    fc.asyncProperty(
      steps,
      rows,
      time,
      time,
      fc.integer({ min: 1, max: 12 }),
      fc.constantFrom('newest' as const, 'oldest' as const),
      async (gaps, rowSizes, from, to, limit, order) => {
        const account = await filled(gaps, rowSizes);
        const all = await linesOf(store, account);
        const inPeriod = all.filter((line) => {
          const { at: when } = readLine(line).entry;
          return (
            (from === undefined || when >= timestampOf(LATE + from)) &&
            (to === undefined || when < timestampOf(LATE + to))
          );
        });
        const expected = order === 'oldest' ? inPeriod : inPeriod.toReversed();
        const found: string[] = [];
        for (let after: number | undefined, more = true; more;) {
          const page = await readAuditPage(store, account, { from: at(from), to: at(to), order, limit, after });
          assert.ok(page.lines.length <= limit);
          found.push(...page.lines);
          const last = page.lines.at(-1);
          if (page.hasMore) assert.is(page.lines.length, limit, 'no page before the last is short');
          after = last === undefined ? after : readLine(last).entry.seq;
          more = page.hasMore;
        }
        assert.equal(found, expected);
      },
    ),
    { numRuns: 150 },
  );
});

test('a page stays what it was while lines are added behind it', async () => {
  const account = await filled([0, 1, 1, 1, 1], [2]);
  const first = await readAuditPage(store, account, { order: 'newest', limit: 2 });
  await auditLog.record(account, use('later'));
  const after = readLine(first.lines.at(-1) ?? '').entry.seq;
  const second = await readAuditPage(store, account, { order: 'newest', limit: 2, after });
  assert.equal(
    second.lines.map((line) => readLine(line).entry.seq),
    [3, 2],
  );
});

test('an account without a log has an empty page', async () => {
  assert.equal(await readAuditPage(store, 'nobody', { order: 'newest', limit: 5 }), { lines: [], hasMore: false });
  assert.equal(await readAuditPage(store, 'account', { order: 'oldest', limit: 5 }), { lines: [], hasMore: false });
});

test('a period is found by looking at a few rows, however many there are', async () => {
  const account = await filled(
    Array.from({ length: 600 }, () => 1000),
    [1],
  );
  let looks = 0;
  const first = store.first.bind(store);
  store.first = (options) => {
    looks++;
    return first(options);
  };
  const period = { from: timestampOf(LATE + 123_456), to: timestampOf(LATE + 400_000) };
  assert.equal(await lineRange(store, account, period), { first: 124, end: 400 });
  store.first = first;
  assert.ok(looks <= 2 * Math.ceil(Math.log2(600)), `${looks} rows`);
});

test('a missing row is told, not passed over', async () => {
  const account = await filled([0, 1, 1, 1, 1], [1]);
  await store.write([auditEntryTable.del(account, 3)]);
  const read = async (): Promise<unknown> => Array.fromAsync(await exportAuditLog(store, account, 'jsonl'));
  assert.match(String(await read().catch((error: unknown) => error)), /line 3 .* is missing/);
});

test('an export as JSONL is the lines that were hashed: it verifies offline, in part or whole', async () => {
  const account = await filled(
    Array.from({ length: 500 }, () => 100),
    [7, 300, 1],
  );
  const lines = await exported(account, 'jsonl');
  assert.equal(lines.split('\n').slice(0, -1), await linesOf(store, account));
  const verdict = verifyAuditLog(nativeSuite, lines.split('\n').slice(0, -1), { node: NODE, account });
  assert.is(verdict?.last, 500);
  const part = await exported(account, 'jsonl', 10_000, 20_000);
  const partly = verifyAuditLog(nativeSuite, part.split('\n').slice(0, -1));
  assert.equal([partly?.first, partly?.last], [100, 199]);
});

test('an export as CSV has one row a line, under its names, RFC 4180', async () => {
  const account = `account-${accounts++}`;
  const hostile = [
    '=1+1',
    '@SUM(A1)',
    '-2',
    '+3',
    '\t=x',
    ' =x',
    '\uff1dx',
    'a "quoted", one\r\nand a line',
    'plain',
    '',
    null,
  ];
  for (const subject of hostile) auditLog.note(account, use('', { subject }));
  await auditLog.flush();
  const csv = await exported(account, 'csv');
  const [names = [], ...found] = parseCsv(csv);
  assert.equal(names, [
    'seq',
    'at',
    'by',
    'action',
    'status',
    'subject',
    'address',
    'requestId',
    'lost',
    'prev',
    'hash',
  ]);
  assert.equal(
    found.map((row) => row[5]),
    hostile.map((subject) => (subject === null ? '' : /^[\s]*[=@+\-\uff1d]/.test(subject) ? `'${subject}` : subject)),
  );
  assert.is(found.length, hostile.length);
  assert.equal(
    found.slice(1).map((row) => row[9]),
    found.slice(0, -1).map((row) => row[10]),
  );
  for (const row of found) for (const cell of row) assert.not.match(cell, /^\s*[=+\-@\uff1d]/);
});

test('no text makes a cell that is a formula, or breaks its row', async () => {
  const account = `account-${accounts++}`;
  const texts = fc.sample(
    fc.string({
      unit: fc.constantFrom('=', '+', '-', '@', '"', ',', '\r', '\n', '\t', ' ', "'", 'a', '\uff0b'),
      maxLength: 6,
    }),
    { numRuns: 300, seed: 7 },
  );
  for (const subject of texts) auditLog.note(account, use('', { subject }));
  await auditLog.flush();
  const [, ...found] = parseCsv(await exported(account, 'csv'));
  assert.is(found.length, texts.length);
  for (const [i, row] of found.entries()) {
    assert.is(row.length, 11);
    assert.ok(row[5] === texts[i] || row[5] === `'${texts[i]}`);
    assert.not.match(row[5] ?? '', /^[\s]*[=+\-@\uff0b]|^[\t\r\n]/);
  }
});

for (const format of AUDIT_EXPORT_FORMATS) {
  test(`an export as ${format} takes the memory of a piece, and ends where the log ended when it began`, async () => {
    const account = `account-${accounts++}`;
    for (let i = 0; i < 5_000; i++) auditLog.note(account, use(i, { subject: 'x'.repeat(128) }));
    await auditLog.flush();
    let pieces = 0;
    let found = format === 'csv' ? -1 : 0;
    for await (const piece of await exportAuditLog(store, account, format)) {
      pieces++;
      found += piece.split('\n').length - 1;
      assert.ok(piece.length < 600_000, `${piece.length} characters`);
      await auditLog.record(account, use('late'));
    }
    assert.ok(pieces > 4);
    assert.is(found, 5_000);
  });
}

async function exported(account: string, format: 'csv' | 'jsonl', from?: number, to?: number): Promise<string> {
  const period = { from: at(from), to: at(to) };
  return (await Array.fromAsync(await exportAuditLog(store, account, format, period))).join('');
}

/** RFC 4180, written apart from the writer. */
function parseCsv(text: string): string[][] {
  const parsed: string[][] = [];
  let row: string[] = [];
  for (let i = 0; i < text.length;) {
    let cell = '';
    if (text[i] === '"') {
      for (i++; text[i] !== '"' || text[i + 1] === '"'; i += text[i] === '"' ? 2 : 1) cell += text[i];
      i++;
    } else for (; text[i] !== ',' && text[i] !== '\r'; i++) cell += text[i];
    row.push(cell);
    if (text[i] === ',') {
      i++;
      continue;
    }
    assert.is(text.slice(i, i + 2), '\r\n');
    i += 2;
    parsed.push(row);
    row = [];
  }
  return parsed;
}

test.run();

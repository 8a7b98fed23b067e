import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { auditHeadProjection } from '../../../../node/accounts/audit-log/audit-attested.ts';
import { AuditLog, extendChain, firstEnd } from '../../../../node/accounts/audit-log/audit-log.ts';
import { readLine } from '../../../../node/accounts/audit-log/audit-reader.ts';
import { dailyHeadDraft } from '../../../../node/accounts/audit-log/daily-head-draft.ts';
import { DailyHeads } from '../../../../node/accounts/audit-log/daily-heads.ts';
import type { WaitingEntry } from '../../../../node/accounts/audit-log/waiting-entries.ts';
import { restorationTable } from '../../../../node/federation/start/restoration-table.ts';
import { auditLogCheck } from '../../../../node/fsck/check-audit-log.ts';
import { Report } from '../../../../node/fsck/report.ts';
import { Intake } from '../../../../node/intake/intake.ts';
import { RecordCounters } from '../../../../node/records/record-counters.ts';
import type { Operation } from '../../../../node/store/operation.ts';
import { Store } from '../../../../node/store/store.ts';
import type { NodeId } from '../../../../protocol/ids.ts';
import { timestampOf } from '../../../../protocol/time.ts';
import { del, type Mutation, StoredRows } from '../../fsck/damaged-home.ts';
import { copyTo, drop, edit, move, swap, text } from '../../fsck/mutations.ts';
import { cipher, signer } from '../../intake/intake-fixture.ts';
import { DAY_MS, LATE, NODE, temporaryDirectory, use } from './audit-fixture.ts';

const log = pino({ level: 'silent' });
const directory = await temporaryDirectory();
const home = join(directory.path, 'store');

/** Three days of two accounts in many rows: two days attested through intake, the third open. */
test.before(async () => {
  await using store = await Store.open(home);
  let clock = LATE;
  const now = () => clock;
  await using intake = await Intake.open({
    node: NODE,
    store,
    signer: () => signer,
    cipher,
    now,
    projections: [auditHeadProjection],
    counters: new RecordCounters(store, []),
    onCommitted: () => {},
  });
  intake.start();
  await using auditLog = await AuditLog.open({ node: NODE, store, now, isClockRight: () => true, log });
  await using heads = new DailyHeads({
    store,
    auditLog,
    now,
    isClockRight: () => true,
    log,
    attest: async (head, besides) => (await intake.submit(dailyHeadDraft('audit-head', head, besides))).record.id,
  });
  for (let day = 0; day < 3; day++) {
    clock = LATE + day * DAY_MS;
    await heads.look();
    for (let i = 0; i < 5; i++) {
      for (const account of ['acme', 'globex']) auditLog.note(account, use(`att_${day}_${i}`));
      clock++;
      await auditLog.flush();
    }
  }
});
test.after(async () => {
  await directory[Symbol.asyncDispose]();
});

/** What the check finds in a copy of the store in which rows were changed. */
async function checked(mutation?: Mutation, own: NodeId | null = NODE): Promise<Report> {
  const copy = `${home}-changed`;
  await cp(home, copy, { recursive: true });
  try {
    await using store = await Store.open(copy);
    if (mutation !== undefined) await store.write(await mutation(new StoredRows(store)));
    const report = new Report();
    await auditLogCheck.run({
      store,
      report,
      keys: null,
      own,
      cipher: null,
      agentKeys: null,
      held: null,
      signal: undefined,
    });
    return report;
  } finally {
    await rm(copy, { recursive: true });
  }
}

function told(report: Report): string[] {
  return report.findings.map(({ severity, table, detail }) => `${severity} ${table} ${detail}`);
}

test('a whole log: every line, every day open or attested', async () => {
  const report = await checked();
  assert.equal(told(report), []);
  const { auditLogs, auditEntries, auditDaysAttested, auditDaysOpen } = report.counts;
  assert.equal([auditLogs, auditEntries, auditDaysAttested, auditDaysOpen], [2, 30, 4, 2]);
});

test('without knowing the node, all but whose it is', async () => {
  const report = await checked(undefined, null);
  assert.equal([told(report), report.notChecked.length], [[], 1]);
});

const LAST_ROW = 14;
const DAMAGES: readonly (readonly [what: string, mutation: Mutation, table: string, detail: RegExp])[] = [
  ['a line is changed', edit('audit-entry/acme', 3, (s) => s.replace('att_0_3', 'att_9_9')), 'audit-entry', /hash of/],
  [
    'the last line is changed',
    edit('audit-entry/acme', LAST_ROW, (s) => s.replace('"status":200', '"status":201')),
    'audit-head',
    /does not stand/,
  ],
  [
    'a line has another form',
    edit('audit-entry/acme', 3, (s) => s.replace('"v":1', '"v":2')),
    'audit-entry',
    /audit line/,
  ],
  ['a row is dropped', drop('audit-entry/acme', 3), 'audit-entry', /must be/],
  ['the first row is dropped', drop('audit-entry/acme', 0), 'audit-entry', /must be/],
  ['the last row is dropped', drop('audit-entry/acme', LAST_ROW), 'audit-head', /does not stand/],
  ['two rows are swapped', swap('audit-entry/acme', 2, 3), 'audit-entry', /says that it is line/],
  ['a row has moved', move('audit-entry/acme', 4, (key) => key.replace(/5$/, '55')), 'audit-entry', /must be/],
  [
    'a row is there twice',
    copyTo('audit-entry/acme', LAST_ROW, 'audit-entry/acme/0000000000000077'),
    'audit-entry',
    /must be/,
  ],
  [
    'a log stands under another account',
    move('audit-entry/globex', 0, (key) => key.replace('globex', 'initech')),
    'audit-entry',
    /hash of/,
  ],
  ['a head is dropped', drop('audit-head/acme', 0), 'audit-head', /is missing/],
  [
    'a head is rolled back',
    edit('audit-head/acme', 0, (s) => s.replace('"seq":15', '"seq":14')),
    'audit-head',
    /does not stand/,
  ],
  [
    'a head has another first line of its day',
    edit('audit-head/acme', 0, (s) => s.replace(/"dayFirst":\d+/, '"dayFirst":1')),
    'audit-head',
    /does not stand/,
  ],
  ['a head belongs to no log', copyTo('audit-head/acme', 0, 'audit-head/initech'), 'audit-head', /no log/],
  ['an open day is dropped', drop('audit-day/', 0), 'audit-day', /no record attests the day/],
  [
    'an open day tells other lines',
    edit('audit-day/', 0, (s) => s.replace(/"first":\d+/, '"first":1')),
    'audit-day',
    /does not tell/,
  ],
  [
    'a day is open that has no line',
    copyTo('audit-day/', 0, 'audit-day/2026-11-19/acme'),
    'audit-day',
    /no day of a log/,
  ],
  ['a day is open under no date', copyTo('audit-day/', 0, 'audit-day/2026-02-30/acme'), 'audit-day', /no day of a log/],
  ['an attested day is dropped', drop('audit-attested/acme', 0), 'audit-day', /no record attests the day/],
  [
    'an attested day leads to another record',
    edit('audit-attested/acme', 0, (s) => s.replace(/.{4}$/, '0000')),
    'audit-attested',
    /leads to no record/,
  ],
  ['the records of two days are swapped', swap('audit-attested/acme', 0, 1), 'audit-attested', /leads to no record/],
  ['the days before were never closed', edit('audit-closed/', 0, () => '"2026-11-19"'), 'audit-closed', /is attested/],
  ['it is not known what is closed', drop('audit-closed/', 0), 'audit-closed', /is attested/],
  ['the closed day is no day', edit('audit-closed/', 0, () => '"2026-11-31"'), 'audit-closed', /does not read/],
  [
    'a second row says what is closed',
    copyTo('audit-closed/', 0, 'audit-closed/other'),
    'audit-closed',
    /belongs to nothing/,
  ],
];

for (const [what, mutation, table, detail] of DAMAGES) {
  test(`found: ${what}`, async () => {
    const { findings } = await checked(mutation);
    const problems = findings.filter(({ severity }) => severity === 'problem');
    const isNamed = problems.some((problem) => problem.table === table && detail.test(problem.detail));
    assert.ok(isNamed, JSON.stringify(problems, null, 1));
  });
}

test('a log that was rewritten from its first line on, head and all, is not what was attested', async () => {
  const report = await checked(async (rows) => {
    const entries: WaitingEntry[] = [];
    for (const [, value] of await rows.under('audit-entry/acme')) {
      const { at, seq: _seq, v: _v, ...facts } = readLine(text(value)).entry;
      entries.push({ at: Date.parse(at), facts: { ...facts, status: 403 } });
    }
    const old = (await rows.under('audit-entry/acme')).map(([key]) => del(key));
    const { operations } = extendChain('acme', firstEnd(NODE, 'acme'), entries, timestampOf(0));
    const isOfAttestedDay = ({ key }: Operation) =>
      key === 'audit-day/2026-11-20/acme' || key === 'audit-day/2026-11-21/acme';
    return [...old, ...operations.filter((operation) => !isOfAttestedDay(operation))];
  });
  const problems = told(report);
  assert.is(problems.length, 2, problems.join('\n'));
  for (const problem of problems) assert.match(problem, /problem audit-attested att_.* attests another head/);
});

const NOON = '2026-11-21T12:00:00.000Z';

/** A copy of the second day with two own records, whose node took back those before record `end`, and went on. */
function restored({ takenAt = NOON, unsealed = 2, end = 5 }): Operation {
  const at = timestampOf(Date.parse(takenAt));
  const settled = { at, end: { batch: 1, next: end }, sealedAt: null, peers: [], sequence: '1' };
  return restorationTable.put([NODE, at], { takenAt: at, held: { batch: 0, next: 1 }, unsealed, settled });
}

/** The log of `acme` as if `ofSecond` lines had been written on the second day, and all on the others. */
async function shortened(rows: StoredRows, ofSecond: number): Promise<Operation[]> {
  const all = await rows.under('audit-entry/acme');
  const days = [0, 1, 2].map((day) => all.slice(5 * day, 5 * day + 5));
  const kept = [...(days[0] ?? []), ...(days[1] ?? []).slice(0, ofSecond), ...(days[2] ?? [])];
  const entries = kept.map(([, value]): WaitingEntry => {
    const { at, seq: _seq, v: _v, ...facts } = readLine(text(value)).entry;
    return { at: Date.parse(at), facts };
  });
  const { operations } = extendChain('acme', firstEnd(NODE, 'acme'), entries, timestampOf(0));
  const isOfAttestedDay = ({ key }: Operation) => /^audit-day\/2026-11-2[01]\/acme$/.test(key);
  return [...all.map(([key]) => del(key)), ...operations.filter((operation) => !isOfAttestedDay(operation))];
}

for (const ofSecond of [2, 0]) {
  test(`lines that were lost with a restore, ${ofSecond} left of a day that was attested: a warning, and no other damage is`, async () => {
    const findings = async (...restorations: readonly Operation[]) =>
      told(await checked(async (rows) => [...(await shortened(rows, ofSecond)), ...restorations]));
    const explained = await findings(restored({}));
    assert.is(explained.length, 1, explained.join('\n'));
    assert.match(explained[0] ?? '', /^warning audit-attested .*lines after the copy .* are lost$/);
    for (const unexplained of [
      await findings(),
      // The day was over before, its record was in the copy, or it was made after the node went on.
      await findings(restored({ takenAt: '2026-11-22T00:00:00.000Z' })),
      await findings(restored({ unsealed: 4 })),
      await findings(restored({ end: 3 })),
    ]) {
      assert.is(unexplained.length, 1, unexplained.join('\n'));
      assert.match(unexplained[0] ?? '', /^problem audit-attested /);
    }
  });
}

test('a node that lost its log, and has the records of its peers, begins a new one: a warning', async () => {
  const report = await checked(async (rows) => {
    const lost = await rows.under('audit-');
    return lost.filter(([key]) => !key.startsWith('audit-attested')).map(([key]) => del(key));
  });
  assert.is(report.found('problem'), 0, told(report).join('\n'));
  assert.is(report.found('warning'), 4);
});

test.run();

import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  FLUSH_ENTRIES,
  FLUSH_MS,
  LIMITED_PER_MINUTE,
  PAGE_LINES,
  WRITE_ENTRIES,
} from '../../../../node/accounts/audit-log/audit-log.ts';
import { auditEntryTable } from '../../../../node/accounts/audit-log/audit-tables.ts';
import { MINUTE_MS } from '../../../../node/accounts/limits/sliding-window.ts';
import { numberCodec, Table } from '../../../../node/store/table.ts';
import { MAX_REQUEST_ID } from '../../../../protocol/audit/entry.ts';
import { fc } from '../../../fixtures/properties.ts';
import { TurnCount } from '../../../fixtures/turn-count.ts';
import { until } from '../../../fixtures/until.ts';
import {
  AuditFixture,
  countUp,
  entriesOf,
  LATE,
  linesOf,
  subjectsOf,
  temporaryDirectory,
  use,
} from './audit-fixture.ts';

const besideTable = new Table('beside', numberCodec);

test('what is noted reaches the disk by itself, one row for an account and flush', async () => {
  await using directory = await temporaryDirectory();
  await using fixture = await AuditFixture.open(directory.path);
  const before = fixture.store.writes;
  for (const i of [0, 1, 2]) {
    fixture.auditLog.note('acme', use(i));
    fixture.auditLog.note('globex', use(i));
  }
  assert.is(fixture.auditLog.waiting, 6);
  await until(
    'the entries are written',
    () => fixture.auditLog.waiting === 0 && fixture.store.writes > before,
    FLUSH_MS * 8,
  );
  assert.equal(await subjectsOf(fixture.store, 'acme'), countUp(3));
  assert.equal(await subjectsOf(fixture.store, 'globex'), countUp(3));
  assert.is((await Array.fromAsync(auditEntryTable.under(fixture.store, []))).length, 2);
  assert.is(fixture.store.writes, before + 1);
});

test('many entries are written without waiting, in rows of a bounded size', async () => {
  await using directory = await temporaryDirectory();
  await using fixture = await AuditFixture.open(directory.path);
  for (let i = 0; i < FLUSH_ENTRIES; i++) fixture.auditLog.note('acme', use(i));
  assert.is(fixture.auditLog.waiting, FLUSH_ENTRIES);
  await sleep(0);
  assert.is(fixture.auditLog.waiting, 0, 'taken at once');
  await fixture.auditLog.flush();
  assert.equal(await subjectsOf(fixture.store, 'acme'), countUp(FLUSH_ENTRIES));
  for await (const [, lines] of auditEntryTable.under(fixture.store, ['acme'])) assert.ok(lines.length <= PAGE_LINES);
});

test('an entry tells who, what, when, from where, with what result', async () => {
  await using directory = await temporaryDirectory();
  await using fixture = await AuditFixture.open(directory.path, { now: () => LATE });
  await fixture.auditLog.record('acme', use('att_1', { status: 429, requestId: null }));
  assert.equal(await entriesOf(fixture.store, 'acme'), [
    {
      ...use('att_1', { status: 429, requestId: null }),
      at: '2026-11-20T23:59:00.000Z',
      seq: 1,
      v: 1,
    },
  ]);
});

test('of requests over a limit some are told of one by one in a minute, and the rest are counted', async () => {
  let steady = 0;
  await using directory = await temporaryDirectory();
  await using fixture = await AuditFixture.open(directory.path, { steady: () => steady });
  const over = 5_000;
  for (let i = 0; i < LIMITED_PER_MINUTE + over; i++) fixture.auditLog.note('acme', use(i, { status: 429 }));
  fixture.auditLog.note('globex', use(0, { status: 429 }));
  fixture.auditLog.note('acme', use('accepted'));
  await fixture.auditLog.flush();
  const entries = await entriesOf(fixture.store, 'acme');
  assert.is(entries.filter(({ status }) => status === 429).length, LIMITED_PER_MINUTE);
  assert.is(
    entries.reduce((sum, { lost = 0 }) => sum + lost, 0),
    over,
  );
  assert.is(entries.at(-1)?.subject, 'accepted');
  assert.ok(entries.length < LIMITED_PER_MINUTE + 10, `${entries.length} lines`);
  assert.equal(await subjectsOf(fixture.store, 'globex'), ['0']);

  steady += MINUTE_MS;
  fixture.auditLog.note('acme', use('later', { status: 429 }));
  await fixture.auditLog.flush();
  assert.is((await subjectsOf(fixture.store, 'acme')).at(-1), 'later');
});

test('a kill loses what was noted since the last flush and nothing that was recorded; the chain goes on', async () => {
  await using directory = await temporaryDirectory();
  {
    await using fixture = await AuditFixture.open(directory.path);
    fixture.auditLog.note('acme', use(0));
    await fixture.auditLog.record('acme', use(1, { action: 'key.created' }));
    fixture.auditLog.note('acme', use('lost'));
    await fixture.die();
  }
  await using fixture = await AuditFixture.open(directory.path);
  assert.equal(await subjectsOf(fixture.store, 'acme'), ['0', '1']);
  await fixture.auditLog.record('acme', use(2));
  assert.equal(await subjectsOf(fixture.store, 'acme'), countUp(3));
});

test('disposing writes what waits', async () => {
  await using directory = await temporaryDirectory();
  {
    await using fixture = await AuditFixture.open(directory.path);
    fixture.auditLog.note('acme', use(0));
  }
  await using fixture = await AuditFixture.open(directory.path);
  assert.equal(await subjectsOf(fixture.store, 'acme'), ['0']);
});

test('what the store refuses waits, is told once, and is written in order when the store takes it again', async () => {
  await using directory = await temporaryDirectory();
  let isFull = true;
  await using fixture = await AuditFixture.open(directory.path, { refuses: () => isFull });
  for (let i = 0; i < 1000; i++) fixture.auditLog.note('acme', use(i));
  await assertRejects(fixture.auditLog.flush());
  for (let i = 1000; i < 3000; i++) fixture.auditLog.note('acme', use(i));
  await until('the loop has failed', () => fixture.auditLog.failing);
  assert.is(fixture.auditLog.waiting, 3000);
  for (let i = 3000; i < 3100; i++) fixture.auditLog.note('acme', use(i));
  isFull = false;
  await fixture.auditLog.flush();
  assert.equal(await subjectsOf(fixture.store, 'acme'), countUp(3100));
  assert.is(fixture.told.length, 1);
});

test('a change that is recorded while the store refuses is thrown to the caller, and written later', async () => {
  await using directory = await temporaryDirectory();
  let isFull = true;
  await using fixture = await AuditFixture.open(directory.path, { refuses: () => isFull, maxWaiting: 1 });
  fixture.auditLog.note('acme', use(0));
  await assertRejects(fixture.auditLog.record('acme', use('change')));
  isFull = false;
  await fixture.auditLog.flush();
  assert.equal(await subjectsOf(fixture.store, 'acme'), ['0', 'change']);
});

test('past the bound entries are counted for each account, and the log says how many are missing and where', async () => {
  await using directory = await temporaryDirectory();
  let isFull = true;
  await using fixture = await AuditFixture.open(directory.path, { refuses: () => isFull, maxWaiting: 4 });
  for (const i of [0, 1, 2]) fixture.auditLog.note('acme', use(i));
  fixture.auditLog.note('globex', use(0));
  for (let i = 0; i < 5; i++) fixture.auditLog.note('acme', use('lost'));
  for (let i = 0; i < 7; i++) fixture.auditLog.note('globex', use('lost'));
  for (let i = 0; i < 2; i++) fixture.auditLog.note('initech', use('lost'));
  await assertRejects(fixture.auditLog.flush());
  fixture.auditLog.note('acme', use('lost'));
  isFull = false;
  await fixture.auditLog.flush();
  fixture.auditLog.note('acme', use(3));
  await fixture.auditLog.flush();
  const told = async (account: string) =>
    (await entriesOf(fixture.store, account)).map(({ subject, lost, action }) => subject ?? `${action} ${lost}`);
  assert.equal(await told('acme'), ['0', '1', '2', 'entries.lost 6', '3']);
  assert.equal(await told('globex'), ['0', 'entries.lost 7']);
  assert.equal(await told('initech'), ['entries.lost 2']);
});

test('an entry with operations lands with them or not at all, behind what was noted before it', async () => {
  await using directory = await temporaryDirectory();
  let isFull = false;
  await using fixture = await AuditFixture.open(directory.path, { refuses: () => isFull });
  fixture.auditLog.note('acme', use(0));
  await fixture.auditLog.recordWith('acme', [use(1, { action: 'key.revoked' })], [besideTable.put(['a'], 1)]);
  fixture.auditLog.note('acme', use(2));
  isFull = true;
  await assertRejects(fixture.auditLog.recordWith('acme', [use('refused'), use('too')], [besideTable.put(['b'], 2)]));
  isFull = false;
  await fixture.auditLog.flush();
  assert.equal(await subjectsOf(fixture.store, 'acme'), countUp(3));
  assert.equal([await besideTable.get(fixture.store, 'a'), await besideTable.get(fixture.store, 'b')], [1, undefined]);
});

test('in any interleaving each account has all of its entries in order, gapless', async () => {
  const step = fc.tuple(fc.constantFrom('note', 'record', 'with', 'flush', 'pause', 'full'), fc.nat(2));
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      await using directory = await temporaryDirectory();
      let refusals = 0;
      await using fixture = await AuditFixture.open(directory.path, { refuses: () => refusals-- > 0 });
      const expected = new Map<string, string[]>();
      const under: Promise<unknown>[] = [];
      for (const [i, [what, which]] of steps.entries()) {
        const account = `account-${which}`;
        const isEntry = what === 'note' || what === 'record';
        if (isEntry) expected.set(account, [...(expected.get(account) ?? []), String(i)]);
        if (what === 'note') fixture.auditLog.note(account, use(i));
        else if (what === 'record') under.push(fixture.auditLog.record(account, use(i)).catch(() => undefined));
        else if (what === 'with') {
          under.push(fixture.auditLog.recordWith(account, [use('w')], []).catch(() => undefined));
        } else if (what === 'flush') under.push(fixture.auditLog.flush().catch(() => undefined));
        else if (what === 'full') refusals = which;
        else await sleep(1);
      }
      await Promise.all(under);
      refusals = 0;
      await fixture.auditLog.flush();
      for (const which of [0, 1, 2]) {
        const subjects = (await subjectsOf(fixture.store, `account-${which}`)).filter((subject) => subject !== 'w');
        assert.equal(subjects, expected.get(`account-${which}`) ?? []);
      }
    }),
    { numRuns: 60 },
  );
});

test('times of an account never go back, whatever the clock does, also over a restart', async () => {
  await using directory = await temporaryDirectory();
  let clock = LATE;
  {
    await using fixture = await AuditFixture.open(directory.path, { now: () => clock });
    for (const step of [0, 5_000, -60_000, 1, -3_600_000]) {
      clock += step;
      fixture.auditLog.note('acme', use(step));
    }
  }
  await using fixture = await AuditFixture.open(directory.path, { now: () => clock });
  await fixture.auditLog.record('acme', use('after'));
  const times = (await entriesOf(fixture.store, 'acme')).map(({ at }) => at.slice(11, 19));
  assert.equal(times, ['23:59:00', '23:59:05', '23:59:05', '23:59:05', '23:59:05', '23:59:05']);
});

test('what a caller can send is cut and made well-formed, and never keeps other entries from the disk', async () => {
  await using directory = await temporaryDirectory();
  await using fixture = await AuditFixture.open(directory.path);
  fixture.auditLog.note('acme', use('\ud800\n"', { requestId: 'x'.repeat(1000), action: '\udfff'.repeat(200) }));
  await fixture.auditLog.record('acme', use(1));
  const [first] = await entriesOf(fixture.store, 'acme');
  assert.is(first?.subject, '\ufffd\n"');
  assert.is(first?.requestId, 'x'.repeat(MAX_REQUEST_ID));
});

test('ten thousand accounts and more: chains that memory has let go of go on where they ended', async () => {
  await using directory = await temporaryDirectory();
  await using fixture = await AuditFixture.open(directory.path);
  for (const round of [0, 1]) {
    for (let i = 0; i < 10_500; i++) fixture.auditLog.note(`account-${i}`, use(round));
    await fixture.auditLog.flush();
  }
  for (const i of [0, 1, 499, 500, 10_499]) assert.equal(await subjectsOf(fixture.store, `account-${i}`), ['0', '1']);
});

test('many uses are few writes, and the event loop turns between any two of them', async () => {
  await using directory = await temporaryDirectory();
  await using fixture = await AuditFixture.open(directory.path, { maxWaiting: 50_000 });
  const entries = 40_000;
  for (let i = 0; i < entries; i++) fixture.auditLog.note('acme', use(i));
  const before = fixture.store.writes;
  using count = new TurnCount();
  await fixture.auditLog.flush();
  const { turns } = count;
  const writes = fixture.store.writes - before;
  assert.is(writes, Math.ceil(entries / WRITE_ENTRIES));
  assert.ok(turns >= writes, `${turns} turns of the event loop in ${writes} writes`);
  assert.is((await linesOf(fixture.store, 'acme')).length, entries);
});

async function assertRejects(outcome: Promise<unknown>): Promise<void> {
  const fate = await outcome.then(
    () => 'kept',
    () => 'refused',
  );
  assert.is(fate, 'refused');
}

test.run();

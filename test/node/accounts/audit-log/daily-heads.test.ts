import { pino } from 'pino';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { auditAttestedTable } from '../../../../node/accounts/audit-log/audit-attested.ts';
import { auditDayTable } from '../../../../node/accounts/audit-log/audit-tables.ts';
import { type DailyHead, DailyHeads } from '../../../../node/accounts/audit-log/daily-heads.ts';
import { nativeSuite } from '../../../../node/keys/native-suite.ts';
import { newRecordId } from '../../../../node/records/record-id.ts';
import type { Operation } from '../../../../node/store/operation.ts';
import { auditDay } from '../../../../protocol/audit/day.ts';
import { verifyAuditLog } from '../../../../protocol/audit/walk.ts';
import type { RecordId } from '../../../../protocol/ids.ts';
import { until } from '../../../fixtures/until.ts';
import {
  AuditFixture,
  type AuditFixtureOptions,
  DAY_MS,
  entriesOf,
  LATE,
  linesOf,
  NODE,
  temporaryDirectory,
  use,
} from './audit-fixture.ts';

const MINUTE = 60_000;
const log = pino({ level: 'silent' });

/** What becomes of an attesting: recorded, refused, or recorded by a node that dies before it can say so. */
type Fate = 'kept' | 'refused' | 'unsaid';

/** A log, its daily heads, a clock, and an intake that does with records what it is told. */
class Days implements AsyncDisposable {
  clock = LATE;
  isClockRight = true;
  readonly attested: DailyHead[] = [];
  fate: (head: DailyHead) => Fate = () => 'kept';
  /** Records that are being made at once, at most. */
  together = 0;
  readonly #directory: string;
  #under = 0;
  #fixture: AuditFixture | undefined;
  #heads: DailyHeads | undefined;

  constructor(directory: string) {
    this.#directory = directory;
  }

  async open(options: AuditFixtureOptions = {}): Promise<void> {
    this.#fixture = await AuditFixture.open(this.#directory, {
      now: () => this.clock,
      isClockRight: () => this.isClockRight,
      ...options,
    });
    const attest = (head: DailyHead, besides: () => readonly Operation[]) => this.#attest(head, besides);
    this.#heads = new DailyHeads({
      ...sourcesOf(this.fixture),
      now: () => this.clock,
      isClockRight: () => this.isClockRight,
      log,
      attest,
    });
  }

  get fixture(): AuditFixture {
    if (this.#fixture === undefined) throw new Error('not open');
    return this.#fixture;
  }

  get heads(): DailyHeads {
    if (this.#heads === undefined) throw new Error('not open');
    return this.#heads;
  }

  /** Days and accounts attested, in that order. */
  get told(): string[] {
    return this.attested.map(({ day, account, entries }) => `${day} ${account} ${entries}`);
  }

  note(account: string, ...subjects: readonly (string | number)[]): void {
    for (const subject of subjects) this.fixture.auditLog.note(account, use(subject));
  }

  async restart(how: 'stop' | 'kill' = 'stop'): Promise<void> {
    await this.heads[Symbol.asyncDispose]();
    if (how === 'kill') await this.fixture.die();
    await this.fixture[Symbol.asyncDispose]();
    await this.open();
  }

  async openDays(): Promise<string[]> {
    return (await Array.fromAsync(auditDayTable.under(this.fixture.store, []))).map(([parts]) => parts.join(' '));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#heads?.[Symbol.asyncDispose]();
    await this.#fixture?.[Symbol.asyncDispose]();
  }

  async #attest(head: DailyHead, besides: () => readonly Operation[]): Promise<RecordId> {
    this.together = Math.max(this.together, ++this.#under);
    await new Promise((resolve) => setImmediate(resolve));
    this.#under--;
    const fate = this.fate(head);
    if (fate === 'refused') throw new Error('the signer is halted');
    const id = newRecordId(NODE, this.clock);
    const { account, day } = head;
    await this.fixture.store.write([auditAttestedTable.put([account, day], id), ...besides()]);
    this.attested.push(head);
    if (fate === 'unsaid') throw new Error('the process is gone');
    return id;
  }
}

function sourcesOf({ store, auditLog }: AuditFixture): Pick<AuditFixture, 'store' | 'auditLog'> {
  return { store, auditLog };
}

async function timesOf(days: Days, account: string): Promise<string[]> {
  return (await entriesOf(days.fixture.store, account)).map(({ at }) => at);
}

async function daysIn(directory: string): Promise<Days> {
  const days = new Days(directory);
  await days.open();
  return days;
}

test('a day is attested once it is over, with the number of its lines and the hash of the last', async () => {
  await using directory = await temporaryDirectory();
  await using days = await daysIn(directory.path);
  days.note('acme', 1, 2, 3);
  days.note('globex', 1);
  days.clock = LATE + MINUTE + 1_000;
  days.note('acme', 4);
  assert.is(await days.heads.look(), 0, 'not right at midnight');
  days.clock = LATE + 2 * MINUTE;
  assert.is(await days.heads.look(), 2);
  assert.equal(days.told.toSorted(), ['2026-11-20 acme 3', '2026-11-20 globex 1']);
  const lines = await linesOf(days.fixture.store, 'acme');
  const verdict = verifyAuditLog(nativeSuite, lines, { node: NODE, account: 'acme' });
  assert.is(verdict?.days[0]?.head, days.attested[0]?.head);
  assert.equal(await days.openDays(), ['2026-11-21 acme']);
});

test('once only: by later looks, by looks at once, after a restart', async () => {
  await using directory = await temporaryDirectory();
  await using days = await daysIn(directory.path);
  days.note('acme', 1);
  days.clock += 2 * MINUTE;
  const found = await Promise.all([days.heads.look(), days.heads.look()]);
  assert.equal(found, [1, 1], 'one look, told to both');
  assert.is(await days.heads.look(), 0);
  await days.restart();
  assert.is(await days.heads.look(), 0);
  assert.equal(days.told, ['2026-11-20 acme 1']);
});

test('days that were missed are attested at the next start, oldest first, and days without a line are not', async () => {
  await using directory = await temporaryDirectory();
  await using days = await daysIn(directory.path);
  days.note('acme', 1);
  days.clock += DAY_MS;
  days.note('acme', 2, 3);
  days.note('globex', 1);
  await days.restart();
  days.clock += 5 * DAY_MS;
  assert.is(await days.heads.look(), 3);
  assert.equal(days.told.toSorted(), ['2026-11-20 acme 1', '2026-11-21 acme 2', '2026-11-21 globex 1']);
});

test('what is refused is attested later, and holds up nothing else', async () => {
  await using directory = await temporaryDirectory();
  await using days = await daysIn(directory.path);
  for (const account of ['acme', 'globex', 'initech']) days.note(account, 1);
  days.clock += 2 * MINUTE;
  days.fate = ({ account }) => (account === 'globex' ? 'refused' : 'kept');
  assert.is(await days.heads.look(), 2);
  assert.equal(await days.openDays(), ['2026-11-20 globex']);
  days.fate = () => 'kept';
  days.clock += DAY_MS;
  assert.is(await days.heads.look(), 1);
  assert.equal(days.told.at(-1), '2026-11-20 globex 1');
});

test('a node that dies on either side of the record has it once', async () => {
  for (const [fate, expected] of [
    ['refused', 1],
    ['unsaid', 0],
  ] as const) {
    await using directory = await temporaryDirectory();
    await using days = await daysIn(directory.path);
    days.note('acme', 1);
    days.clock += 2 * MINUTE;
    days.fate = () => fate;
    await days.heads.look();
    await days.restart('kill');
    days.fate = () => 'kept';
    assert.is(await days.heads.look(), expected);
    assert.equal(days.told, ['2026-11-20 acme 1']);
  }
});

test('the record was taken back from peers and the day comes of an older copy: not attested again', async () => {
  await using directory = await temporaryDirectory();
  await using days = await daysIn(directory.path);
  days.note('acme', 1);
  await days.fixture.auditLog.flush();
  await days.fixture.store.write([auditAttestedTable.put(['acme', '2026-11-20'], newRecordId(NODE, LATE))]);
  days.clock += 2 * MINUTE;
  assert.is(await days.heads.look(), 0);
  assert.equal([days.told, await days.openDays()], [[], []]);
});

test('what reaches the disk after its day was closed belongs to the next, also when the clock was set back', async () => {
  await using directory = await temporaryDirectory();
  await using days = await daysIn(directory.path);
  days.note('acme', 1);
  days.clock += 2 * MINUTE;
  await days.heads.look();
  days.clock = LATE;
  days.note('acme', 2);
  days.note('fresh', 1);
  await days.restart();
  days.note('acme', 3);
  days.note('fresh', 2);
  await days.fixture.auditLog.flush();
  assert.equal(await days.openDays(), ['2026-11-21 acme', '2026-11-21 fresh']);
  assert.is(await days.heads.look(), 0);
  days.clock = LATE + DAY_MS + 2 * MINUTE;
  await days.heads.look();
  assert.equal(days.told.toSorted(), ['2026-11-20 acme 1', '2026-11-21 acme 2', '2026-11-21 fresh 2']);
});

test('what the store refuses over midnight keeps its day open until it is written', async () => {
  await using directory = await temporaryDirectory();
  await using days = new Days(directory.path);
  let isFull = false;
  await days.open({ refuses: () => isFull });
  days.note('acme', 1);
  isFull = true;
  days.clock += 2 * MINUTE;
  assert.is(await days.heads.look(), 0);
  assert.is(days.fixture.auditLog.closedThrough, null);
  isFull = false;
  assert.is(await days.heads.look(), 1);
  assert.equal(days.told, ['2026-11-20 acme 1']);
});

test('lines noted while the day is being closed are in it whole or not at all', async () => {
  await using directory = await temporaryDirectory();
  await using days = await daysIn(directory.path);
  let noted = 0;
  const more = setInterval(() => days.note('acme', noted++), 0);
  for (let day = 0; day < 4; day++) {
    await new Promise((resolve) => setTimeout(resolve, 15));
    days.clock = LATE + day * DAY_MS + 2 * MINUTE;
    await days.heads.look();
  }
  clearInterval(more);
  await days.fixture.auditLog.flush();
  const lines = await linesOf(days.fixture.store, 'acme');
  const { days: spans = [] } = verifyAuditLog(nativeSuite, lines, { node: NODE, account: 'acme' }) ?? {};
  assert.is(lines.length, noted);
  for (const { day, entries, head } of days.attested) {
    const span = spans.find((one) => one.day === day);
    assert.equal([span?.entries, span?.head], [entries, head]);
  }
  assert.ok(days.attested.length >= 3);
});

test('a thousand accounts are attested side by side, and a store full of history costs one look', async () => {
  await using directory = await temporaryDirectory();
  await using days = await daysIn(directory.path);
  for (let i = 0; i < 1_000; i++) days.note(`account-${i}`, 1);
  days.clock += 2 * MINUTE;
  assert.is(await days.heads.look(), 1_000);
  assert.is(new Set(days.told).size, 1_000);
  assert.ok(days.together > 32 && days.together <= 64, `${days.together} together`);
  let rows = 0;
  const range = days.fixture.store.range.bind(days.fixture.store);
  days.fixture.store.range = (options) => {
    const found = range(options);
    return (async function* () {
      for await (const row of found) {
        rows++;
        yield row;
      }
    })();
  };
  days.clock += DAY_MS;
  assert.is(await days.heads.look(), 0);
  assert.is(rows, 0);
});

test('a start by a clock that is years ahead closes no day, and dates no line years ahead', async () => {
  await using directory = await temporaryDirectory();
  await using days = await daysIn(directory.path);
  days.note('acme', 1);
  days.clock = LATE + 2 * MINUTE;
  assert.is(await days.heads.look(), 1);
  days.isClockRight = false;
  days.clock = LATE + 5 * 365 * DAY_MS;
  await days.restart();
  days.note('acme', 2);
  assert.is(await days.heads.look(), 0);
  assert.is(days.fixture.auditLog.closedThrough, '2026-11-20');
  days.clock = LATE + 3 * MINUTE;
  days.isClockRight = true;
  days.note('acme', 3);
  await days.fixture.auditLog.flush();
  assert.equal(await timesOf(days, 'acme'), [
    '2026-11-20T23:59:00.000Z',
    '2026-11-21T00:00:00.000Z',
    '2026-11-21T00:02:00.000Z',
  ]);
  days.clock += DAY_MS;
  assert.is(await days.heads.look(), 1);
});

test('days that a clock which was ahead has closed are opened again, down to the last that is attested', async () => {
  await using directory = await temporaryDirectory();
  await using days = await daysIn(directory.path);
  days.note('acme', 1);
  await days.fixture.auditLog.closeThrough(auditDay('2031-11-20'));
  await days.restart();
  assert.is(await days.heads.look(), 0);
  assert.is(days.fixture.auditLog.closedThrough, '2026-11-19');
  days.note('acme', 2);
  await days.fixture.auditLog.flush();
  assert.equal(await timesOf(days, 'acme'), Array(2).fill('2026-11-20T23:59:00.000Z'));

  days.clock += 3 * DAY_MS;
  days.note('acme', 3);
  days.clock += DAY_MS;
  assert.is(await days.heads.look(), 2);
  await days.fixture.auditLog.closeThrough(auditDay('2031-11-20'));
  days.clock = LATE;
  assert.is(await days.heads.look(), 0);
  assert.is(days.fixture.auditLog.closedThrough, '2026-11-23', 'a day that a record attests stays closed');
});

test('the loop looks at once, and ends with its disposal', async () => {
  await using directory = await temporaryDirectory();
  const days = await daysIn(directory.path);
  days.note('acme', 1);
  days.clock += 2 * MINUTE;
  days.heads.start();
  await until('the day is attested', () => days.attested.length > 0);
  await days[Symbol.asyncDispose]();
  assert.equal(days.told, ['2026-11-20 acme 1']);
});

test.run();

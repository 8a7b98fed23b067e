import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Check } from '../../../node/fsck/check.ts';
import { FactsMaker } from '../../../node/fsck/record-facts.ts';
import { Report } from '../../../node/fsck/report.ts';
import { TallyWalk } from '../../../node/fsck/tally-walk.ts';
import type { Operation } from '../../../node/store/operation.ts';
import { TALLY_VERSION, tallyEndTable, tallyTable } from '../../../node/records/counts/tally-table.ts';
import { recordId } from '../../../protocol/ids.ts';
import { NODE, temporaryDirectory } from '../intake/intake-fixture.ts';
import { countedDraft, recordsOf, TallyFixture } from '../records/counts/tally-fixture.ts';
import { del, put } from './damaged-home.ts';

const DAY_MS = 86_400_000;
const START = Date.UTC(2026, 10, 20, 12);
const DAYS = 3;
const STRANGER = recordId('att_eu_01JZZZZZZZZZZZZZZZZZZZZZZZ');
const DECISION = 'decision|DECISION||dataHash,inputHash';

interface Walked {
  readonly found: readonly string[];
  readonly notChecked: readonly string[];
}

/** What the walk says of a store of three days with four events and three sources, after its rows were changed. */
async function walked(changes: readonly Operation[], maxCounted?: number): Promise<Walked> {
  await using directory = await temporaryDirectory();
  let now = START;
  await using fixture = await TallyFixture.open(directory.path, { now: () => now });
  for (let day = 0; day < DAYS; day++, now += DAY_MS) {
    for (const source of ['a', 'b', 'c']) {
      await fixture.intake.submitAll([countedDraft(source), countedDraft(source, { eventType: 'TECH_DOC' })]);
    }
  }
  await fixture.counters.flush();
  await fixture.store.write(changes);
  const report = new Report();
  const check: Check = {
    store: fixture.store,
    report,
    signal: undefined,
    keys: null,
    own: NODE,
    cipher: null,
    agentKeys: null,
    held: null,
  };
  const walk = new TallyWalk(check, maxCounted);
  const records = await recordsOf(fixture.store);
  const facts = records.map((record) => new FactsMaker().factsOf(record));
  for (let at = 0; at < facts.length; at += 5) await walk.take(facts.slice(at, at + 5));
  await walk.finish();
  const found = report.findings.map(({ severity, key, detail }) => `${severity}: ${key ?? ''} ${detail}`);
  return { found: found.sort(), notChecked: report.notChecked };
}

test('the counts of several days and sources are whole', async () => {
  assert.equal(await walked([]), { found: [], notChecked: [] });
});

test('a wrong, a missing and a stray count are named, and so is a mark beyond the last record', async () => {
  const key = (day: string) => `tally/acme/all/2026-11-${day}/${DECISION}`;
  const { found } = await walked([
    tallyTable.put(['acme', 'all', '2026-11-20', DECISION], { count: 4, first: [STRANGER], last: STRANGER }),
    del(key('21')),
    tallyTable.put(['acme', 'all', '2026-11-25', DECISION], { count: 1, first: [STRANGER], last: STRANGER }),
    put('tally/acme/all/2026-11-26/incident|||', 'many'),
    tallyEndTable.put([NODE], { version: TALLY_VERSION, next: 20 }),
    tallyEndTable.put(['us'], { version: TALLY_VERSION, next: 5 }),
  ]);
  assert.equal(found, [
    'problem: tally-end/eu counts up to record 19, and the last one is 18',
    'problem: tally-end/us belongs to no own records',
    `problem: ${key('20')} belongs to no record`,
    `problem: ${key('20')} does not count the records of its day`,
    `problem: ${key('21')} is missing`,
    `problem: ${key('25')} belongs to no record`,
    'problem: tally/acme/all/2026-11-26/incident||| does not read: a stored count has another form',
  ]);
});

test('rows that count records after their mark are named', async () => {
  const key = (day: string, facet = DECISION) => `tally/acme/all/2026-11-${day}/${facet}`;
  const { found } = await walked([tallyEndTable.put([NODE], { version: TALLY_VERSION, next: 8 })]);
  assert.ok(found.includes(`problem: ${key('21')} does not count the records of its day`));
  assert.ok(found.includes(`problem: ${key('21', 'decision|TECH_DOC||dataHash,inputHash')} belongs to no record`));
  assert.ok(found.includes(`problem: ${key('22')} belongs to no record`));
  assert.not(found.some((line) => line.includes('2026-11-20') || line.includes('tally-end')));
});

test('counts by other rules are no damage: the node counts anew at its next start', async () => {
  const { found } = await walked([tallyEndTable.put([NODE], { version: 999, next: 1 }), put('tally/x', 'x')]);
  assert.is(found.length, 1);
  assert.match(found[0] ?? '', /^note: tally-end\/eu .* at its next start$/);
});

test('a day of more sources than memory holds is said to be passed over', async () => {
  const { found, notChecked } = await walked([del(`tally/acme/all/2026-11-21/${DECISION}`)], 3);
  assert.equal(found, []);
  assert.equal(notChecked, ['counts of 3 days with more sources than memory holds']);
});

test.run();

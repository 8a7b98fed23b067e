import { createHash } from 'node:crypto';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { MAX_FACETS_OF_ACCOUNT, MAX_FACETS_OF_SOURCE } from '../../../../node/records/counts/day-tally.ts';
import { TALLY_VERSION, tallyEndTable, tallyTable } from '../../../../node/records/counts/tally-table.ts';
import { TELLING_FIELDS } from '../../../../protocol/frameworks/evidence-kinds.ts';
import { RETENTION_STEPS } from '../../../../protocol/frameworks/fields-shown.ts';
import { fc } from '../../../fixtures/properties.ts';
import { codeOf, NODE, temporaryDirectory } from '../../intake/intake-fixture.ts';
import { countedDraft, naiveRows, recordsOf, rowsOf, sorted, TallyFixture } from './tally-fixture.ts';

const DAY_MS = 86_400_000;
const START = Date.UTC(2026, 10, 20, 12);

const step = fc.record({
  source: fc.constantFrom('a', 'b/c', 'd'),
  account: fc.constantFrom('acme', 'globex'),
  eventType: fc.constantFrom(undefined, 'TECH_DOC', 'MY_EVENT', 'not an event'),
  environment: fc.constantFrom(undefined, 'test' as const),
  modelId: fc.constantFrom(undefined, 'm'),
  together: fc.boolean(),
  isKept: fc.boolean(),
  daysLater: fc.constantFrom(0, 0, 0, 1),
});

test('the rows are those of the records on the disk, whatever it refuses, over days, groups and restarts', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), fc.integer({ min: 1, max: 60 }), async (steps, maxCached) => {
      await using directory = await temporaryDirectory();
      let now = START;
      let isKept = true;
      for (const half of [steps.slice(0, 12), steps.slice(12)]) {
        await using fixture = await TallyFixture.open(directory.path, {
          now: () => now,
          isKept: () => isKept,
          maxCached,
        });
        const waiting: Promise<string>[] = [];
        for (const { source, account, together, daysLater, isKept: kept, ...claims } of half) {
          if (!together) await Promise.all(waiting);
          now += daysLater * DAY_MS;
          isKept = kept;
          waiting.push(codeOf(fixture.intake.submit(countedDraft(source, claims, { account }))));
        }
        await Promise.all(waiting);
        isKept = true;
        assert.equal(sorted(await rowsOf(fixture)), sorted(naiveRows(await recordsOf(fixture.store))));
      }
    }),
    { numRuns: 15 },
  );
});

test('a record of governance is counted by what was given, and a test apart from production', async () => {
  await using directory = await temporaryDirectory();
  await using fixture = await TallyFixture.open(directory.path);
  const claims = { given: ['risksIdentified', 'sourceId'], residualRisk: 'low' };
  await fixture.intake.submit(countedDraft('s', claims, { kind: 'risk_assessment' }));
  await fixture.intake.submit(countedDraft('s', { environment: 'test', modelId: 'm' }));
  const facets = [...(await rowsOf(fixture)).keys()].map((key) => key.split('/').at(-1));
  const tested = 'decision|DECISION|test|dataHash,inputHash,modelId';
  assert.equal(new Set(facets), new Set(['risk_assessment|||residualRisk,risksIdentified', tested]));
});

test('a caller who makes up events and fields gets a bounded number of rows, and every record is counted', async () => {
  await using directory = await temporaryDirectory();
  await using fixture = await TallyFixture.open(directory.path);
  const events = Array.from({ length: 3000 }, (_, i) => countedDraft('s', { eventType: `EVENT_${i}` }));
  await fixture.intake.submitAll(events);
  await fixture.intake.submitAll([...events.slice(0, 100), countedDraft('s', { eventType: 'TECH_DOC' })]);
  const rows = await rowsOf(fixture);
  const count = (isMatch: (key: string) => boolean) =>
    [...rows].reduce((sum, [key, row]) => sum + (isMatch(key) ? row.count : 0), 0);
  const bySource = [...rows.keys()].filter((key) => !key.includes('/all/'));
  assert.is(bySource.length, MAX_FACETS_OF_SOURCE + 2);
  assert.is(rows.size, MAX_FACETS_OF_SOURCE + 2 + MAX_FACETS_OF_ACCOUNT + 2);
  assert.is(
    count((key) => key.includes('/all/')),
    3101,
  );
  assert.is(
    count((key) => !key.includes('/all/')),
    3101,
  );
  assert.is(
    count((key) => key.endsWith('decision|TECH_DOC||*')),
    2,
  );
});

test('a store without counts is counted when it is opened, and so is one that was counted by other rules', async () => {
  await using directory = await temporaryDirectory();
  const drafts = Array.from({ length: 2500 }, (_, i) => countedDraft(`s${i % 7}`, { modelId: i % 2 === 0 ? 'm' : '' }));
  {
    await using fixture = await TallyFixture.open(directory.path);
    await fixture.intake.submitAll(drafts);
    const all = [...(await rowsOf(fixture)).keys()];
    await fixture.store.write([tallyEndTable.del(NODE), ...all.slice(3).map((key) => tallyTable.del(key))]);
  }
  {
    await using fixture = await TallyFixture.open(directory.path);
    const records = await recordsOf(fixture.store);
    assert.equal(sorted(await rowsOf(fixture)), sorted(naiveRows(records)));
    const stray = tallyTable.put(['acme', 'all', '2026-01-01', 'moon|||'], { count: 1, ...ids(records) });
    await fixture.store.write([stray, tallyEndTable.put([NODE], { version: 999, next: 5 })]);
  }
  await using fixture = await TallyFixture.open(directory.path);
  assert.equal(sorted(await rowsOf(fixture)), sorted(naiveRows(await recordsOf(fixture.store))));
  assert.is((await tallyEndTable.get(fixture.store, NODE))?.next, 2501);
});

test('counting goes on where it ended, and not from the beginning', async () => {
  await using directory = await temporaryDirectory();
  {
    await using fixture = await TallyFixture.open(directory.path);
    await fixture.intake.submitAll([countedDraft('a'), countedDraft('b')]);
    const [[first] = ['']] = sorted(await rowsOf(fixture));
    await fixture.store.write([tallyTable.del(first)]);
  }
  await using fixture = await TallyFixture.open(directory.path);
  await fixture.intake.submit(countedDraft('c'));
  assert.is((await rowsOf(fixture)).size, naiveRows(await recordsOf(fixture.store)).size - 1);
});

test('facets of another making are another version of the counts', () => {
  const making = JSON.stringify([TELLING_FIELDS, RETENTION_STEPS, MAX_FACETS_OF_SOURCE, MAX_FACETS_OF_ACCOUNT]);
  assert.equal(
    [TALLY_VERSION, createHash('sha256').update(making).digest('hex').slice(0, 16)],
    [4, 'a1e55213920fb8bc'],
  );
});

function ids([record]: Awaited<ReturnType<typeof recordsOf>>) {
  if (record === undefined) throw new RangeError('no record');
  return { first: [record.id], last: record.id };
}

test.run();

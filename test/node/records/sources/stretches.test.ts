import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Place, RecordFilter } from '../../../../node/records/sources/record-page.ts';
import { placesOf } from '../../../../node/records/sources/stretches.ts';
import { readTimeSteps } from '../../../../node/records/time-steps.ts';
import { fc } from '../../../fixtures/properties.ts';
import { draftOf, IntakeFixture, NODE, temporaryDirectory } from '../../intake/intake-fixture.ts';
import { SourceFixture } from './source-fixture.ts';

const START = Date.UTC(2026, 5, 1);
const STEP_MS = 1_000;
const SOURCES = ['loans', 'fraud', 'rare'];
/** At which group the clock goes back, and by how many steps. */
const BACK = new Map([
  [20, 12],
  [21, 9],
  [35, 30],
  [50, 2],
]);
const GROUPS = 60;

let clock = START;
const directory = await temporaryDirectory();
const fixture = await IntakeFixture.open(directory.path, { now: () => clock, timeOf: () => clock });
const sources = new SourceFixture(fixture);
test.after(async () => {
  await fixture[Symbol.asyncDispose]();
  await directory[Symbol.asyncDispose]();
});

for (let group = 0; group < GROUPS; group++) {
  clock += STEP_MS * (1 - (BACK.get(group) ?? 0));
  const names = group % 17 === 0 ? SOURCES : SOURCES.slice(0, 1 + (group % 2));
  await sources.record(names.map((sourceId, i) => draftOf(sourceId, { group, i })));
}
const all = sources.records;

const time = fc.integer({ min: -2, max: GROUPS }).map((step) => START + step * STEP_MS);
const periods = fc.tuple(time, time).map(([a, b]) => ({ from: Math.min(a, b), to: Math.max(a, b) }));

function within(sourceId: string, { from, to }: { readonly from: number; readonly to: number }): readonly number[] {
  const ofSource = all.filter((record) => record.sourceId === sourceId);
  const isIn = (at: string): boolean => Date.parse(at) >= from && Date.parse(at) < to;
  return ofSource.filter(({ submittedAt }) => isIn(submittedAt)).map(({ sourceSeq }) => sourceSeq);
}

async function listed(filter: RecordFilter, limit: number): Promise<readonly number[]> {
  const found: number[] = [];
  let place: Place | undefined;
  for (let pages = 0; pages < 1_000; pages++) {
    const page = await sources.lists.page(filter, place, limit);
    found.push(...page.records.map(({ sourceSeq }) => sourceSeq));
    if (page.next === null) return found;
    place = page.next;
  }
  throw new Error('the list does not end');
}

test('where the time of records goes back is noted, and nothing else', async () => {
  const steps = await readTimeSteps(fixture.store, NODE);
  assert.equal(
    steps.map(({ before, after }) => (Date.parse(before) - Date.parse(after)) / STEP_MS + 1),
    [...BACK.values()],
  );
});

test('however often the clock went back, the pages of a period hold each of its records once and in order', () =>
  fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...SOURCES),
      periods,
      fc.integer({ min: 1, max: 20 }),
      async (source, period, limit) => {
        const filter = { account: 'acme', sources: [source], ...period };
        assert.equal(await listed(filter, limit), within(source, period));
      },
    ),
    { numRuns: 150 },
  ));

test('the places of a period reach from its first record to its last', () =>
  fc.assert(
    fc.asyncProperty(fc.constantFrom(...SOURCES), periods, async (source, period) => {
      const records = sources.lists.source('acme', source);
      const { last } = await records.end(source);
      const { from, to } = await placesOf(records, last, period);
      const expected = within(source, period);
      if (expected.length === 0) assert.ok(from > to);
      else assert.equal([from, to], [expected[0], expected.at(-1)]);
    }),
    { numRuns: 150 },
  ));

test.run();

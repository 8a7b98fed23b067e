import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { readTallies } from '../../../../node/records/counts/tally-reader.ts';
import { auditDay } from '../../../../protocol/audit/day.ts';
import { temporaryDirectory } from '../../intake/intake-fixture.ts';
import { countedDraft, TallyFixture } from './tally-fixture.ts';

const DAY_MS = 86_400_000;
const START = Date.UTC(2026, 10, 1, 12);
const DAYS = 10;

const directory = await temporaryDirectory();
let clock = START;
const fixture = await TallyFixture.open(directory.path, { now: () => clock });
const ids: string[] = [];
for (let day = 0; day < DAYS; day++) {
  clock = START + day * DAY_MS;
  for (const source of ['a', 'b']) ids.push((await fixture.intake.submit(countedDraft(source))).record.id);
  await fixture.intake.submit(countedDraft('a', { eventType: 'TECH_DOC' }));
}
await fixture.counters.flush();
const range = { account: 'acme', sources: null, from: auditDay('2026-11-01'), to: auditDay('2026-11-30') };

test.after(async () => {
  await fixture[Symbol.asyncDispose]();
  await directory[Symbol.asyncDispose]();
});

test('counts of days are joined, with the first ids and the last', async () => {
  const { tallies, truncated, through } = await readTallies(fixture.store, range);
  assert.equal([truncated, through], [false, '2026-11-30']);
  const decisions = tallies.find(({ facet }) => facet.event === 'DECISION');
  assert.is(decisions?.count, 2 * DAYS);
  assert.equal(new Set(decisions?.first), new Set([...ids].sort().slice(0, 3)));
  assert.ok(ids.slice(-2).includes(decisions?.last ?? ''));
});

test('sources are told apart, and several are added up', async () => {
  const count = async (...sources: string[]) => {
    const { tallies } = await readTallies(fixture.store, { ...range, sources });
    return tallies.reduce((sum, tally) => sum + tally.count, 0);
  };
  assert.is(await count('a'), 2 * DAYS);
  assert.is(await count('b'), DAYS);
  assert.is(await count('a', 'b'), 3 * DAYS);
  assert.is(await count('c'), 0);
  assert.is(await count(), 0);
});

test('a range with too many rows ends with its last whole day, and says so', async () => {
  const cut = await readTallies(fixture.store, range, 7);
  assert.equal([cut.truncated, cut.through], [true, '2026-11-03']);
  assert.is(
    cut.tallies.reduce((sum, { count }) => sum + count, 0),
    9,
  );
  const nothing = await readTallies(fixture.store, range, 1);
  assert.equal([nothing.truncated, nothing.through, nothing.tallies.length], [true, null, 0]);
  const several = await readTallies(fixture.store, { ...range, sources: ['b', 'a'] }, 12);
  assert.equal([several.truncated, several.through], [true, null]);
});

test.run();

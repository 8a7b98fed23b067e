import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { sourceKey } from '../../../../node/records/sources/sources.ts';
import { bodyTable } from '../../../../node/records/record-tables.ts';
import { sourceIndex } from '../../../../node/records/sources/source-index.ts';
import { MAX_LOOKS, type Place, type RecordFilter } from '../../../../node/records/sources/record-page.ts';
import type { AttestationRecord } from '../../../../protocol/chain/record.ts';
import type { RecordKind } from '../../../../protocol/statement/vocabulary.ts';
import { fc } from '../../../fixtures/properties.ts';
import { draftOf, IntakeFixture, NODE, temporaryDirectory } from '../../intake/intake-fixture.ts';
import { SourceFixture } from './source-fixture.ts';

const START = Date.UTC(2026, 5, 1);
const STEP_MS = 1000;
const SOURCES = ['loans', 'fraud', 'triage', 'a/b ü'];
const KINDS: readonly RecordKind[] = ['decision', 'decision', 'decision', 'incident', 'session_start'];

let clock = START;
const directory = await temporaryDirectory();
const fixture = await IntakeFixture.open(directory.path, { now: () => (clock += STEP_MS) });
const sources = new SourceFixture(fixture);
test.after(async () => {
  await fixture[Symbol.asyncDispose]();
  await directory[Symbol.asyncDispose]();
});

for (let group = 0; group < 60; group++) {
  const drafts = Array.from({ length: 1 + (group % 6) }, (_, i) => {
    const sourceId = SOURCES[(group * 5 + i * 3) % SOURCES.length] ?? '';
    const kind = KINDS[(group + i) % KINDS.length] ?? 'decision';
    return draftOf(sourceId, { group, i }, { kind, account: (group + i) % 9 === 0 ? 'other' : 'acme' });
  });
  await sources.record(drafts);
}
const all = sources.records;

/** The list by its definition. */
function expected({ account, sources: names, from, to, accepts }: RecordFilter): string[] {
  return all
    .filter((record) => record.account === account && (names === null || names.includes(record.sourceId)))
    .filter(({ submittedAt }) => from === undefined || Date.parse(submittedAt) >= from)
    .filter(({ submittedAt }) => to === undefined || Date.parse(submittedAt) < to)
    .filter((record) => accepts === undefined || accepts(record))
    .toSorted((a, b) => order(a).localeCompare(order(b)))
    .map(({ id }) => id);
}

function order({ sourceId, sourceSeq }: AttestationRecord): string {
  return `${sourceKey(sourceId)}/${String(sourceSeq).padStart(8, '0')}`;
}

async function listed(filter: RecordFilter, limit: number): Promise<string[]> {
  const ids: string[] = [];
  let place: Place | undefined;
  for (let pages = 0; pages < 1000; pages++) {
    const page = await sources.lists.page(filter, place, limit);
    assert.ok(page.records.length <= limit);
    ids.push(...page.records.map(({ id }) => id));
    if (page.next === null) return ids;
    place = page.next;
  }
  throw new Error('the list does not end');
}

const time = fc.option(fc.integer({ min: -2, max: 64 }), { nil: undefined });
const filters = fc.record({
  account: fc.constantFrom('acme', 'other', 'nobody'),
  sources: fc.oneof(fc.constant(null), fc.subarray([...SOURCES, 'unknown'])),
  from: time.map((step) => (step === undefined ? undefined : START + step * STEP_MS)),
  to: time.map((step) => (step === undefined ? undefined : START + step * STEP_MS)),
  accepts: fc
    .constantFrom(undefined, 'decision', 'incident', 'erasure')
    .map((kind) => (kind === undefined ? undefined : (record: AttestationRecord) => record.kind === kind)),
});
const isIncident = ({ kind }: AttestationRecord): boolean => kind === 'incident';

test('the pages of a list hold what a plain filter finds, each record once, in order', async () => {
  await fc.assert(
    fc.asyncProperty(filters, fc.integer({ min: 1, max: 60 }), async (filter, limit) => {
      assert.equal(await listed(filter, limit), expected(filter));
    }),
    { numRuns: 250 },
  );
});

test('a page looks at a bounded number of records and always gets on', async () => {
  await sources.decisions('long', 2 * MAX_LOOKS + 500, 250);
  await sources.record([draftOf('long', {}, { kind: 'incident' })]);
  const filter = { account: 'acme', sources: ['long'], from: undefined, to: undefined, accepts: isIncident };
  const first = await sources.lists.page(filter, undefined, 10);
  assert.equal([first.records.length, first.next?.sourceSeq], [0, MAX_LOOKS]);
  assert.equal(await listed(filter, 10), [all.at(-1)?.id]);
});

test('records that are made meanwhile come at the end', async () => {
  const filter = { account: 'acme', sources: ['moving'], from: undefined, to: undefined };
  await sources.decisions('moving', 5);
  const first = await sources.lists.page(filter, undefined, 5);
  assert.is(first.next, null);
  const half = await sources.lists.page(filter, undefined, 3);
  await sources.decisions('moving', 2);
  const rest = await sources.lists.page(filter, half.next ?? undefined, 10);
  assert.equal(
    [...half.records, ...rest.records].map(({ sourceSeq }) => sourceSeq),
    [1, 2, 3, 4, 5, 6, 7],
  );
});

test('a record that cannot be read is named, and the others are listed', async () => {
  await sources.decisions('hurt', 60, 5);
  const hurt = all.filter(({ sourceId }) => sourceId === 'hurt');
  const body = await bodyTable.get(fixture.store, NODE, hurt[10]?.seq ?? 0);
  await fixture.store.write([
    bodyTable.put([NODE, hurt[10]?.seq ?? 0], (body ?? '').replace('"kind":"decision"', '"kind":"decisioM"')),
    sourceIndex.del('acme', sourceKey('hurt'), 31),
  ]);
  const from = Date.parse(hurt[5]?.submittedAt ?? '');
  const filter = { account: 'acme', sources: ['hurt'], from, to: undefined };
  const { records, unreadable } = await sources.lists.page(filter, undefined, 100);
  const places = records.map(({ sourceSeq }) => sourceSeq);
  assert.equal(
    unreadable.map(({ sourceSeq }) => sourceSeq),
    [11, 31, 32, 33, 34, 35],
  );
  assert.equal([places[0], places.at(-1), places.length], [6, 60, 49]);
});

test.run();

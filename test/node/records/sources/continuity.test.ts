import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { sourceKey } from '../../../../node/records/sources/sources.ts';
import { chainSourceTable, sourcePart } from '../../../../node/records/chain-tables.ts';
import { joinTexts, splitTexts } from '../../../../node/records/record-lines.ts';
import { bodyTable } from '../../../../node/records/record-tables.ts';
import {
  checkContinuity,
  type Continuity,
  MAX_CONTINUITY_RECORDS,
} from '../../../../node/records/sources/continuity.ts';
import { sourceIndex } from '../../../../node/records/sources/source-index.ts';
import { type Sha256Hash, writeSha256 } from '../../../../protocol/hash.ts';
import { openRecord, recordLeaf, type WholeTexts, writeRecord } from '../../../../protocol/chain/record.ts';
import { nobleSuite } from '../../../../protocol/suite/noble.ts';
import { IntakeFixture, NODE, temporaryDirectory } from '../../intake/intake-fixture.ts';
import { SourceFixture } from './source-fixture.ts';

const ALL = { from: 1, to: Number.MAX_SAFE_INTEGER };
const directory = await temporaryDirectory();
const fixture = await IntakeFixture.open(directory.path);
const { store } = fixture;
const sources = new SourceFixture(fixture);
test.after(async () => {
  await fixture[Symbol.asyncDispose]();
  await directory[Symbol.asyncDispose]();
});
let unique = 0;

/** A source of so many records. */
async function source(count: number): Promise<string> {
  const sourceId = `source-${++unique}`;
  await sources.decisions(sourceId, count);
  return sourceId;
}

async function checked(sourceId: string, asked = ALL): Promise<Continuity> {
  const records = sources.lists.source('acme', sourceId);
  return checkContinuity(records, await records.end(sourceId), asked);
}

function recordsOf(sourceId: string) {
  return sources.records.filter((record) => record.sourceId === sourceId);
}

function leafOf(sourceId: string, sourceSeq: number): Sha256Hash {
  const record = recordsOf(sourceId)[sourceSeq - 1];
  if (record === undefined) throw new RangeError(`${sourceId} has no record ${sourceSeq}`);
  return writeSha256(recordLeaf(nobleSuite, writeRecord(nobleSuite, record).head));
}

/** Changes the stored texts of a record. */
async function rewrite(sourceId: string, sourceSeq: number, change: (texts: WholeTexts) => WholeTexts): Promise<void> {
  const { seq } = recordsOf(sourceId)[sourceSeq - 1] ?? { seq: 0 };
  const [first = '', row = ''] = (await bodyTable.last(store, [NODE], seq)) ?? [];
  const at = seq - Number(first);
  const changed = joinTexts(splitTexts(row).map((texts, i) => (i === at ? change(texts) : texts)));
  assert.is.not(changed, row, 'something changes');
  await store.write([bodyTable.put([NODE, Number(first)], changed)]);
}

/** A record that is whole by itself, and not the one that was made. */
function anotherEvent(texts: WholeTexts): WholeTexts {
  const record = openRecord(nobleSuite, texts);
  return writeRecord(nobleSuite, { ...record, claims: { ...record.claims, eventType: 'DECISIOM' } });
}

test('a source that is whole is one range without gap or fork', async () => {
  const sourceId = await source(20);
  assert.equal(await checked(sourceId), {
    checked: { from: 1, to: 20 },
    ranges: [{ from: 1, to: 20 }],
    gaps: [],
    forks: [],
    next: null,
  });
  const part = await checked(sourceId, { from: 5, to: 9 });
  assert.equal([part.checked, part.ranges, part.next], [{ from: 5, to: 9 }, [{ from: 5, to: 9 }], null]);
  assert.is((await checked(sourceId, { from: 21, to: 30 })).checked, null);
});

test('a long source is checked page by page, each record once', async () => {
  const sourceId = await source(2 * MAX_CONTINUITY_RECORDS + 10);
  const ranges = [];
  let from: number | null = 1;
  while (from !== null) {
    const page: Continuity = await checked(sourceId, { from, to: ALL.to });
    assert.equal([page.gaps, page.forks], [[], []]);
    ranges.push(...page.ranges);
    from = page.next;
  }
  assert.equal(ranges, [
    { from: 1, to: MAX_CONTINUITY_RECORDS },
    { from: MAX_CONTINUITY_RECORDS + 1, to: 2 * MAX_CONTINUITY_RECORDS },
    { from: 2 * MAX_CONTINUITY_RECORDS + 1, to: 2 * MAX_CONTINUITY_RECORDS + 10 },
  ]);
});

/** Loses the row of the index that begins at a place. */
async function loseRow(sourceId: string, sourceSeq: number): Promise<void> {
  assert.ok(await sourceIndex.get(store, 'acme', sourceKey(sourceId), sourceSeq), 'there is a row');
  await store.write([sourceIndex.del('acme', sourceKey(sourceId), sourceSeq)]);
}

test('a record that is lost or cannot be read is a gap', async () => {
  const sourceId = await source(20);
  await loseRow(sourceId, 8);
  await rewrite(sourceId, 3, ({ head, body }) => ({ head: head.slice(1), body }));
  await rewrite(sourceId, 16, ({ head, body }) => ({ head, body: body.replace('DECISION', 'DECISIOM') }));
  const { ranges, gaps, forks } = await checked(sourceId);
  assert.equal(ranges, [
    { from: 1, to: 2 },
    { from: 4, to: 7 },
    { from: 15, to: 15 },
    { from: 17, to: 20 },
  ]);
  assert.equal(gaps, [
    { from: 3, to: 3, reason: 'damaged' },
    { from: 8, to: 14, reason: 'missing' },
    { from: 16, to: 16, reason: 'damaged' },
  ]);
  assert.equal(forks, []);
});

test('a source whose first rows are lost, or do not read, is missing there', async () => {
  const sourceId = await source(40);
  await loseRow(sourceId, 1);
  await loseRow(sourceId, 8);
  await store.write([{ type: 'put', key: sourceIndex.key('acme', sourceKey(sourceId), 22), value: Buffer.from('?') }]);
  assert.equal((await checked(sourceId)).gaps, [
    { from: 1, to: 14, reason: 'missing' },
    { from: 22, to: 28, reason: 'missing' },
  ]);
  assert.equal((await checked(sourceId, { from: 10, to: 25 })).gaps, [
    { from: 10, to: 14, reason: 'missing' },
    { from: 22, to: 25, reason: 'missing' },
  ]);
});

test('a record that leads elsewhere is damage', async () => {
  const [sourceId, other] = [await source(5), await source(5)];
  const [own, theirs] = [recordsOf(sourceId)[0]?.seq ?? 0, recordsOf(other)[2]?.seq ?? 0];
  const place = ['acme', sourceKey(sourceId), 1] as const;
  const row = await sourceIndex.get(store, ...place);
  if (row === undefined) throw new Error('no row');
  const runs = [
    { first: own, count: 2 },
    { first: theirs, count: 3 },
  ];
  await store.write([sourceIndex.put(place, { ...row, runs })]);
  assert.equal((await checked(sourceId)).gaps, [{ from: 3, to: 5, reason: 'damaged' }]);
});

test('a record that was changed forks the next one, and the last one its head', async () => {
  const sourceId = await source(10);
  await rewrite(sourceId, 4, anotherEvent);
  const middle = await checked(sourceId);
  assert.equal(
    middle.forks.map(({ sourceSeq, attestationId, found }) => ({ sourceSeq, attestationId, found })),
    [{ sourceSeq: 5, attestationId: recordsOf(sourceId)[4]?.id, found: leafOf(sourceId, 4) }],
  );
  assert.is.not(middle.forks[0]?.expected, leafOf(sourceId, 4));
  assert.equal(middle.ranges, [
    { from: 1, to: 4 },
    { from: 5, to: 10 },
  ]);
  await rewrite(sourceId, 10, anotherEvent);
  const last = (await checked(sourceId)).forks.at(-1);
  assert.equal([last?.sourceSeq, last?.attestationId, last?.found], [10, null, leafOf(sourceId, 10)]);
});

test('a fork shows wherever a page begins', async () => {
  const sourceId = await source(10);
  await rewrite(sourceId, 4, anotherEvent);
  assert.equal((await checked(sourceId, { from: 5, to: 6 })).forks.length, 1);
  assert.equal((await checked(sourceId, { from: 6, to: 7 })).forks, []);
});

test('a last row that names another leaf is a fork', async () => {
  const sourceId = await source(12);
  const place = ['acme', sourceKey(sourceId), 8] as const;
  const row = await sourceIndex.get(store, ...place);
  if (row === undefined) throw new Error('no row');
  await store.write([sourceIndex.put(place, { ...row, leaf: new Uint8Array(32).fill(7) })]);
  const { forks, gaps } = await checked(sourceId);
  const found = `sha256:${'07'.repeat(32)}`;
  assert.equal(forks, [{ sourceSeq: 12, attestationId: null, expected: leafOf(sourceId, 12), found }]);
  assert.equal(gaps, []);
});

test('records that were sealed and are not in the index are missing, be it the last ones or all', async () => {
  const [last, all] = [await source(12), await source(12)];
  for (const sourceId of [last, all]) {
    const head = { sourceSeq: 12, leaf: leafOf(sourceId, 12) };
    await store.write([chainSourceTable.put([NODE, sourcePart({ account: 'acme', sourceId })], head)]);
    assert.equal((await checked(sourceId)).ranges, [{ from: 1, to: 12 }]);
  }
  await loseRow(last, 8);
  await loseRow(all, 8);
  await loseRow(all, 1);
  assert.equal((await checked(last)).gaps, [{ from: 8, to: 12, reason: 'missing' }]);
  assert.equal((await checked(all)).gaps, [{ from: 1, to: 12, reason: 'missing' }]);
  const filter = { account: 'acme', sources: [last], from: undefined, to: undefined };
  const page = await sources.lists.page(filter, undefined, 100);
  assert.equal([page.records.length, page.unreadable.length], [7, 5], 'a list names them too');
});

test('records that are made meanwhile are no fork', async () => {
  const sourceId = await source(5);
  const writing = sources.decisions(sourceId, 60, 2);
  const looking = async () => {
    for (let checks = 0; checks < 20; checks++) {
      const { gaps, forks } = await checked(sourceId);
      assert.equal([gaps, forks], [[], []]);
    }
  };
  await Promise.all([writing, looking()]);
  assert.equal((await checked(sourceId)).ranges, [{ from: 1, to: 65 }]);
});

test.run();

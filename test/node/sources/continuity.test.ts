import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { sourceHeadTable, sourceKey, sourceRecordTable } from '../../../node/intake/sources.ts';
import { joinTexts, splitTexts } from '../../../node/records/record-lines.ts';
import { bodyTable } from '../../../node/records/record-tables.ts';
import { checkContinuity, type Continuity, MAX_CONTINUITY_RECORDS } from '../../../node/sources/continuity.ts';
import { writeSha256 } from '../../../protocol/hash.ts';
import { openRecord, recordLeaf, type WholeTexts, writeRecord } from '../../../protocol/chain/record.ts';
import { nobleSuite } from '../../../protocol/suite/noble.ts';
import { IntakeRoom, NODE, temporaryDirectory } from '../intake/intake-room.ts';
import { SourceRoom } from './source-room.ts';

const ALL = { from: 1, to: Number.MAX_SAFE_INTEGER };
const directory = await temporaryDirectory();
const room = await IntakeRoom.open(directory.path);
const { store } = room;
const sources = new SourceRoom(room);
test.after(async () => {
  await room[Symbol.asyncDispose]();
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
  return checkContinuity(records, await records.end(), asked);
}

function recordsOf(sourceId: string) {
  return sources.records.filter((record) => record.sourceId === sourceId);
}

function leafOf(sourceId: string, sourceSeq: number): string {
  const record = recordsOf(sourceId)[sourceSeq - 1];
  return record === undefined ? '' : writeSha256(recordLeaf(nobleSuite, writeRecord(nobleSuite, record).head));
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

test('a record that is lost or cannot be read is a gap', async () => {
  const sourceId = await source(20);
  await store.write([5, 6, 20].map((at) => sourceRecordTable.del('acme', sourceKey(sourceId), at)));
  await rewrite(sourceId, 12, ({ head, body }) => ({ head: head.slice(1), body }));
  await rewrite(sourceId, 15, ({ head, body }) => ({ head, body: body.replace('DECISION', 'DECISIOM') }));
  const { ranges, gaps, forks } = await checked(sourceId);
  assert.equal(ranges, [
    { from: 1, to: 4 },
    { from: 7, to: 11 },
    { from: 13, to: 14 },
    { from: 16, to: 19 },
  ]);
  assert.equal(gaps, [
    { from: 5, to: 6, reason: 'missing' },
    { from: 12, to: 12, reason: 'damaged' },
    { from: 15, to: 15, reason: 'damaged' },
    { from: 20, to: 20, reason: 'missing' },
  ]);
  assert.equal(forks, []);
});

test('a record that leads elsewhere is damage', async () => {
  const [sourceId, other] = [await source(5), await source(5)];
  const { seq } = recordsOf(other)[2] ?? { seq: 0 };
  await store.write([sourceRecordTable.put(['acme', sourceKey(sourceId), 3], seq)]);
  assert.equal((await checked(sourceId)).gaps, [{ from: 3, to: 3, reason: 'damaged' }]);
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

test('a head that is lost or behind is a fork', async () => {
  const [lost, behind] = [await source(5), await source(5)];
  const row = await sourceHeadTable.get(store, 'acme', sourceKey(behind));
  if (row === undefined) throw new Error('no head');
  await store.write([
    sourceHeadTable.del('acme', sourceKey(lost)),
    sourceHeadTable.put(['acme', sourceKey(behind)], { ...row, sourceSeq: 4 }),
  ]);
  const [withoutHead, late] = [await checked(lost), await checked(behind)];
  assert.equal(withoutHead.forks, [{ sourceSeq: 5, attestationId: null, expected: leafOf(lost, 5), found: null }]);
  assert.equal([late.checked?.to, late.forks.length], [5, 1]);
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

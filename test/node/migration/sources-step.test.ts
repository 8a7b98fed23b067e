import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { fsck } from '../../../node/fsck/fsck.ts';
import { sourceIndexOperations, sourceKey } from '../../../node/intake/sources.ts';
import { nativeSuite } from '../../../node/keys/native-suite.ts';
import { formerHeadTable, formerRecordTable, RECORDS_A_WRITE, sourcesStep } from '../../../node/migration/sources-step.ts';
import { readRecordTexts } from '../../../node/records/record-reader.ts';
import { bodyTable } from '../../../node/records/record-tables.ts';
import { countOf, sourceIndex } from '../../../node/sources/source-index.ts';
import { formatTable, MIGRATED_FORMAT } from '../../../node/store/format.ts';
import type { Operation } from '../../../node/store/operation.ts';
import { type Rows, Store } from '../../../node/store/store.ts';
import { openRecord, recordLeaf } from '../../../protocol/chain/record.ts';
import { writeSha256 } from '../../../protocol/hash.ts';
import type { NodeId } from '../../../protocol/ids.ts';
import { MemoryRows } from '../../fixtures/memory-rows.ts';
import { killedAtEachWrite, StoppedRows } from '../../fixtures/stopped-rows.ts';
import { EU, scratchDirectory, writeHome } from '../fsck/home.ts';
import { draftOf, IntakeRoom, NODE, temporaryDirectory } from '../intake/intake-room.ts';
import { requireWholeStore } from '../intake/stored-records.ts';

/** Records of the stores that are migrated here: several writes. */
const RECORDS = 3 * RECORDS_A_WRITE + 100;

/** Rows of the store as the format before has them: a row a record, a head a source, none of the index. */
async function former(store: Rows, node: NodeId): Promise<Operation[]> {
  const rows: Operation[] = [];
  for await (const [key] of store.range({ gte: `${sourceIndex.name}/`, lt: `${sourceIndex.name}0` })) {
    rows.push({ type: 'del', key });
  }
  for await (const texts of readRecordTexts(store, node, 1, Number.MAX_SAFE_INTEGER)) {
    const { account, sourceId, sourceSeq, seq } = openRecord(nativeSuite, texts);
    const leaf = writeSha256(recordLeaf(nativeSuite, texts.head));
    rows.push(
      formerRecordTable.put([account, sourceKey(sourceId), sourceSeq], seq),
      formerHeadTable.put([account, sourceKey(sourceId)], { sourceId, sourceSeq, leaf }),
    );
  }
  return rows;
}

const directory = await temporaryDirectory();
test.after(async () => {
  await directory[Symbol.asyncDispose]();
});

async function formerStore(): Promise<MemoryRows> {
  await using room = await IntakeRoom.open(directory.path);
  for (let made = room.intake.recorded; made < RECORDS; made = room.intake.recorded) {
    const count = made === 0 ? 700 : 1 + (made % 90);
    await room.intake.submitAll(Array.from({ length: count }, (_, i) => draftOf(`source ${(i * i) % 13}`, { i })));
  }
  const rows = new MemoryRows();
  for await (const [key, value] of room.store.range({})) await rows.write([{ type: 'put', key, value }]);
  await rows.write(await former(rows, NODE));
  return rows;
}

const before = await formerStore();

async function migrate(store: Rows, moved: (rows: number) => void = () => undefined): Promise<void> {
  await sourcesStep.run({ store, node: NODE, moved });
}

async function rowsOf(rows: MemoryRows, table: { readonly name: string }): Promise<readonly string[]> {
  const all = rows.all().filter(([key]) => key.startsWith(`${table.name}/`));
  return all.map(([key, value]) => `${key} ${Buffer.from(value).toString('base64')}`);
}

test('every record is found in the index of its source, and nothing of the rows before is left', async () => {
  const rows = before.copy();
  let moved = 0;
  await migrate(rows, (count) => (moved += count));
  assert.equal(await rowsOf(rows, formerHeadTable), []);
  assert.equal(await rowsOf(rows, formerRecordTable), []);
  assert.is(moved, (await rowsOf(before, formerHeadTable)).length + (await rowsOf(before, formerRecordTable)).length);
  await using scratch = await temporaryDirectory();
  await using store = await Store.open(join(scratch.path, 'store'));
  await store.write(rows.all().map(([key, value]) => ({ type: 'put', key, value })));
  assert.ok((await requireWholeStore(store)).length >= RECORDS);
});

test('killed before any of its writes and run again it comes to the same rows, and writes stay bounded', async () => {
  const whole = before.copy();
  await migrate(whole);
  const killed = await killedAtEachWrite(async (writes) => {
    const rows = before.copy();
    const stopped = new StoppedRows(rows, writes);
    try {
      await migrate(stopped);
      assert.ok(stopped.largest < 3 * RECORDS_A_WRITE);
    } finally {
      await migrate(rows);
      assert.equal(rows.all().map(String), whole.all().map(String));
    }
  });
  assert.ok(killed > 4);
});

test('what was moved is not moved again', async () => {
  const rows = before.copy();
  await migrate(rows);
  await migrate(new StoppedRows(rows, 0));
});

test('where the last record of a source does not read, its former rows say where the source ends', async () => {
  const rows = before.copy();
  const [first = '', body = ''] = (await bodyTable.last(rows, [NODE])) ?? [];
  const ends = await Array.fromAsync(formerHeadTable.under(rows, []), ([, end]) => end);
  await rows.write([bodyTable.put([NODE, Number(first)], body.replaceAll('"account"', '"accounT"'))]);
  await migrate(rows);
  assert.equal(await rowsOf(rows, formerHeadTable), []);
  for (const { sourceId, sourceSeq, leaf } of ends) {
    const [place = '', row] = (await sourceIndex.last(rows, ['acme', sourceKey(sourceId)])) ?? [];
    assert.is(row && Number(place) + countOf(row) - 1, sourceSeq);
    assert.is(row && writeSha256(row.leaf), leaf);
  }
});

test("rows that do not read stay for fsck to find, and so do all where the store is no node's", async () => {
  const rows = before.copy();
  const key = formerHeadTable.key('acme', sourceKey('unread'));
  await rows.write([{ type: 'put', key, value: Buffer.from('{}') }]);
  await sourcesStep.run({ store: new StoppedRows(rows, 0), node: null, moved: () => undefined });
  await migrate(rows);
  assert.equal(await rowsOf(rows, formerHeadTable), [`${key} ${Buffer.from('{}').toString('base64')}`]);
});

test('a home of the format before is whole once it is migrated, and by fsck as it is', async () => {
  await using scratch = await scratchDirectory();
  const home = join(scratch.path, 'eu');
  await writeHome(home, 2);
  {
    await using store = await Store.open(join(home, 'store'));
    await store.write([...(await former(store, EU)), formatTable.put(['store'], MIGRATED_FORMAT)]);
  }
  const { findings } = (await fsck(home)).report;
  assert.equal(findings.map(({ severity, table }) => [severity, table]), [['warning', 'format']]);
});

test('the rows that are derived are those that intake writes for the same records in one group', async () => {
  await using scratch = await temporaryDirectory();
  await using room = await IntakeRoom.open(scratch.path);
  const built = await room.intake.submitAll(Array.from({ length: 300 }, (_, i) => draftOf(`s${i % 7}`, { i })));
  const written = await Array.fromAsync(room.store.range({ gte: `${sourceIndex.name}/`, lt: `${sourceIndex.name}0` }));
  const derived = sourceIndexOperations(built).map((row) => [row.key, row.type === 'put' ? row.value : null]);
  assert.equal(written.map(String).sort(), derived.map(String).sort());
});

test.run();

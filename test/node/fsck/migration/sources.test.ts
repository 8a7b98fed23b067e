import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { fsck } from '../../../../node/fsck/fsck.ts';
import { sourceIndexOperations, sourceKey } from '../../../../node/records/sources/sources.ts';
import {
  formerHeadTable,
  formerRecordTable,
  RECORDS_A_WRITE,
  sourcesStep,
} from '../../../../node/fsck/migration/sources.ts';
import { bodyTable } from '../../../../node/records/record-tables.ts';
import { countOf, sourceIndex, type SourceRow } from '../../../../node/records/sources/source-index.ts';
import { formatTable } from '../../../../node/store/format.ts';
import { type Rows, Store } from '../../../../node/store/store.ts';
import { writeSha256 } from '../../../../protocol/hash.ts';
import { sourcesApart } from '../../../fixtures/earlier-store.ts';
import { MemoryRows } from '../../../fixtures/memory-rows.ts';
import { killedAtEachWrite, StoppedError, StoppedRows } from '../../../fixtures/stopped-rows.ts';
import { EU, scratchDirectory, writeHome } from '../home.ts';
import { draftOf, IntakeFixture, NODE, temporaryDirectory } from '../../intake/intake-fixture.ts';
import { requireWholeStore } from '../../intake/stored-records.ts';

/** Records of the stores that are migrated here: several writes. */
const RECORDS = 3 * RECORDS_A_WRITE + 100;

const directory = await temporaryDirectory();
test.after(async () => {
  await directory[Symbol.asyncDispose]();
});

async function formerStore(): Promise<MemoryRows> {
  await using fixture = await IntakeFixture.open(directory.path);
  for (let made = fixture.intake.recorded; made < RECORDS; made = fixture.intake.recorded) {
    const count = made === 0 ? 700 : 1 + (made % 90);
    await fixture.intake.submitAll(Array.from({ length: count }, (_, i) => draftOf(`source ${(i * i) % 13}`, { i })));
  }
  const rows = new MemoryRows();
  for await (const [key, value] of fixture.store.range({})) await rows.write([{ type: 'put', key, value }]);
  await rows.write(await sourcesApart(rows, NODE));
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

test('a source whose records do not read ends where it did, and they keep their places', async () => {
  const rows = before.copy();
  const ends = await Array.fromAsync(formerHeadTable.under(rows, []), ([, end]) => end);
  const bodies = await Array.fromAsync(bodyTable.under(rows, [NODE]));
  for (const [[first = ''], body] of [...bodies.slice(0, 2), ...bodies.slice(-3)]) {
    await rows.write([bodyTable.put([NODE, Number(first)], body.replaceAll('"account"', '"accounT"'))]);
  }
  const damaged = rows.copy();
  await migrate(rows);
  assert.equal(await rowsOf(rows, formerHeadTable), []);
  assert.equal(await rowsOf(rows, formerRecordTable), []);
  for (const { sourceId, sourceSeq, leaf } of ends) {
    let next = 1;
    let last: SourceRow | undefined;
    for await (const [[first = ''], row] of sourceIndex.under(rows, ['acme', sourceKey(sourceId)])) {
      assert.is(Number(first), next);
      next += countOf(row);
      last = row;
    }
    assert.is(next - 1, sourceSeq);
    assert.is(last && writeSha256(last.leaf), leaf);
  }
  for (const writes of [6, 90]) {
    const stopped = damaged.copy();
    await assertKilled(migrate(new StoppedRows(stopped, writes)));
    await migrate(stopped);
    assert.equal(stopped.all().map(String), rows.all().map(String));
  }
});

async function assertKilled(work: Promise<void>): Promise<void> {
  const error = await work.catch((reason: unknown) => reason);
  assert.instance(error, StoppedError);
}

test('a row before that leads past the end of its source stays for fsck to find', async () => {
  const rows = before.copy();
  const [, end] = (await Array.fromAsync(formerHeadTable.under(rows, [])))[0] ?? [];
  if (end === undefined) throw new Error('no head');
  const stray = formerRecordTable.put(['acme', sourceKey(end.sourceId), end.sourceSeq + 7], 5);
  await rows.write([stray]);
  await migrate(rows);
  assert.equal(
    (await rowsOf(rows, formerRecordTable)).map((row) => row.split(' ')[0]),
    [stray.key],
  );
  const [first = '', row] = (await sourceIndex.last(rows, ['acme', sourceKey(end.sourceId)])) ?? [];
  assert.is(row && Number(first) + countOf(row) - 1, end.sourceSeq);
});

test('a head before that tells of a record more than there is stays for fsck to find', async () => {
  const rows = before.copy();
  const [[parts, end] = []] = await Array.fromAsync(formerHeadTable.under(rows, []));
  if (parts === undefined || end === undefined) throw new Error('no head');
  await rows.write([formerHeadTable.put(parts, { ...end, sourceSeq: end.sourceSeq + 1 })]);
  await migrate(rows);
  assert.equal(
    (await rowsOf(rows, formerHeadTable)).map((row) => row.split(' ')[0]),
    [formerHeadTable.key(...parts)],
  );
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
    await store.write([...(await sourcesApart(store, EU)), formatTable.put(['store'], 3)]);
  }
  const { findings } = (await fsck(home)).report;
  assert.equal(
    findings.map(({ severity, table }) => [severity, table]),
    [['warning', 'format']],
  );
});

test('the rows that are derived are those that intake writes for the same records in one group', async () => {
  await using scratch = await temporaryDirectory();
  await using fixture = await IntakeFixture.open(scratch.path);
  const built = await fixture.intake.submitAll(Array.from({ length: 300 }, (_, i) => draftOf(`s${i % 7}`, { i })));
  const written = await Array.fromAsync(
    fixture.store.range({ gte: `${sourceIndex.name}/`, lt: `${sourceIndex.name}0` }),
  );
  const derived = sourceIndexOperations(built).map((row) => [row.key, row.type === 'put' ? row.value : null]);
  assert.equal(written.map(String).sort(), derived.map(String).sort());
});

test.run();

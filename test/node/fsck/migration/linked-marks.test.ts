import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { linkedStep } from '../../../../node/fsck/migration/linked-marks.ts';
import { migrateStore } from '../../../../node/fsck/migration/migrate-store.ts';
import { linkedTable, linkTable, mayBeLinked } from '../../../../node/records/link-tables.ts';
import { newRecordId } from '../../../../node/records/record-id.ts';
import { makeEarlier } from '../../../fixtures/earlier-store.ts';
import { MemoryRows } from '../../../fixtures/memory-rows.ts';
import { killedAtEachWrite, StoppedRows } from '../../../fixtures/stopped-rows.ts';
import { EU } from '../home.ts';

/** Records that are marked in one write. */
const MARKS_A_WRITE = 1_024;

/** So many records that others link to, each by several. */
async function linkedRows(targets: number): Promise<MemoryRows> {
  const rows = new MemoryRows();
  for (let i = 0; i < targets; i++) {
    const target = newRecordId(EU, i);
    const parts = (seq: number) => [target, 'related', 'incident', 'eu', seq] as const;
    await rows.write([1, 2, 3].map((seq) => linkTable.put(parts(seq), newRecordId(EU, i))));
  }
  return rows;
}

const step = (store: StoppedRows) => linkedStep.run({ store, node: null, moved: () => undefined });

test('a row is written of each record that others link to, in writes of bounded size, and of no other', async () => {
  const rows = await linkedRows(MARKS_A_WRITE + 50);
  await rows.write([linkTable.put(['no-record', 'related', 'incident', 'eu', 1], 'x')]);
  const stopped = new StoppedRows(rows, Number.POSITIVE_INFINITY);
  await step(stopped);
  assert.is(stopped.largest, MARKS_A_WRITE);
  const targets = new Set(await Array.fromAsync(linkTable.under(rows, []), ([[target = '']]) => target));
  const marked = await Array.fromAsync(linkedTable.under(rows, []), ([[target = '']]) => target);
  assert.equal(marked, [...targets].filter((target) => target !== 'no-record').toSorted());
  assert.is(await mayBeLinked(rows, newRecordId(EU, 0)), false);
});

test('killed before any of its writes and started again, a migration comes to the same rows', async () => {
  const before = await linkedRows(MARKS_A_WRITE + 1);
  await makeEarlier(before, 4);
  const whole = before.copy();
  await migrateStore(whole, { node: EU, log: null });
  const kills = await killedAtEachWrite(async (writes) => {
    const rows = before.copy();
    try {
      await migrateStore(new StoppedRows(rows, writes), { node: EU, log: null });
    } finally {
      await migrateStore(rows, { node: EU, log: null });
      assert.equal(rows.all(), whole.all());
    }
  });
  assert.is(kills, 4);
});

test.run();

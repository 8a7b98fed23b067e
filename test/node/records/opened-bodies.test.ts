import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { joinTexts } from '../../../node/records/record-lines.ts';
import { openedBodyTable } from '../../../node/records/opened-bodies.ts';
import { bodyTable } from '../../../node/records/record-tables.ts';
import { checksumOf } from '../../../node/store/compressed-text.ts';
import { textCodec } from '../../../node/store/table.ts';
import { MemoryRows } from '../../fixtures/memory-rows.ts';

const NODE = 'eu';
const RECORDS = Array.from({ length: 64 }, (_, i) => ({
  head: `{"seq":${i}}`,
  body: `{"sourceId":"${'a'.repeat(i + 60)}"}`,
}));
const CHANGED = RECORDS.with(7, { head: '{"seq":7}', body: '{"sourceId":"other"}' });

async function storedRow(rows: MemoryRows): Promise<Uint8Array> {
  const stored = await rows.get(bodyTable.key(NODE, 1));
  if (stored === undefined) throw new Error('no row');
  return stored;
}

test('a row is read the same from the store and from what was kept, compressed or plain', async () => {
  const rows = new MemoryRows();
  for (const value of [joinTexts(RECORDS), joinTexts(RECORDS.slice(0, 3))]) {
    await rows.write([bodyTable.put([NODE, 1], value)]);
    for (let i = 0; i < 3; i++) assert.is(joinTexts((await openedBodyTable.get(rows, NODE, 1)) ?? []), value);
  }
  await rows.write([{ type: 'put', key: bodyTable.key(NODE, 1), value: textCodec.encode(joinTexts(RECORDS)) }]);
  assert.equal(await openedBodyTable.get(rows, NODE, 1), RECORDS);
});

test('a row that was rewritten, damaged or deleted since is not answered from what was kept', async () => {
  const rows = new MemoryRows();
  const key = bodyTable.key(NODE, 1);
  await rows.write([openedBodyTable.put([NODE, 1], RECORDS)]);
  const stored = await storedRow(rows);
  assert.is.not(checksumOf(stored), undefined);
  assert.equal(await openedBodyTable.get(rows, NODE, 1), RECORDS);
  await rows.write([openedBodyTable.put([NODE, 1], CHANGED)]);
  assert.equal(await openedBodyTable.get(rows, NODE, 1), CHANGED);
  for (const at of [0, 1, 5, 9, stored.length - 1]) {
    const damaged = Uint8Array.from(stored);
    damaged[at] = (damaged[at] ?? 0) ^ 1;
    await rows.write([{ type: 'put', key, value: damaged }]);
    let refused = false;
    await openedBodyTable.get(rows, NODE, 1).catch(() => void (refused = true));
    assert.ok(refused, `byte ${at}`);
  }
  await rows.write([bodyTable.del(NODE, 1)]);
  assert.is(await openedBodyTable.get(rows, NODE, 1), undefined);
});

test.run();

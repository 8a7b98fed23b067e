import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { StartMarks } from '../../../../node/federation/start/node-start.ts';
import { restorationTable } from '../../../../node/federation/start/restoration-table.ts';
import { StoreError } from '../../../../node/store/store.ts';
import { nodeId } from '../../../../protocol/ids.ts';
import { timestampOf } from '../../../../protocol/time.ts';
import { MemoryRows } from '../../../fixtures/memory-rows.ts';

const EU = nodeId('eu');

async function run(store: MemoryRows, how: 'signs' | 'waits'): Promise<{ hasSigned: boolean; wasStopped: boolean }> {
  await using marks = await StartMarks.open(store, EU);
  const { hasSigned, wasStopped } = marks;
  if (how === 'signs') await marks.noteSigning();
  return { hasSigned, wasStopped };
}

test('a store says that it signed, and that it was stopped in order', async () => {
  const store = new MemoryRows();
  assert.equal(await run(store, 'signs'), { hasSigned: false, wasStopped: false });
  assert.equal(await run(store, 'signs'), { hasSigned: true, wasStopped: true });
});

test('a run that ended before it knew enough to sign says nothing of an ordered end, unless the one before did', async () => {
  const store = new MemoryRows();
  assert.equal(await run(store, 'waits'), { hasSigned: false, wasStopped: false });
  assert.equal(await run(store, 'signs'), { hasSigned: false, wasStopped: false });
  assert.equal(await run(store, 'waits'), { hasSigned: true, wasStopped: true });
  assert.equal(await run(store, 'signs'), { hasSigned: true, wasStopped: true });
});

test('the mark of an ordered end is gone while the node runs, so that neither a killed one nor a copy has it', async () => {
  const store = new MemoryRows();
  await run(store, 'signs');
  await using marks = await StartMarks.open(store, EU);
  await marks.noteSigning();
  assert.equal(await run(store.copy(), 'waits'), { hasSigned: true, wasStopped: false });
});

test('a copy with the mark of the store that it was made of does not pass for one that was stopped, until its chain is known', async () => {
  const store = new MemoryRows();
  await run(store, 'signs');
  const takenAt = timestampOf(0);
  const [held, unsealed] = [{ batch: 1, next: 2 }, 0];
  await store.write([restorationTable.put([EU, takenAt], { takenAt, held, unsealed, settled: null })]);
  assert.equal(await run(store, 'waits'), { hasSigned: true, wasStopped: false });
  assert.equal(await run(store, 'signs'), { hasSigned: true, wasStopped: false });
  const settled = { at: takenAt, end: held, sealedAt: null, peers: [], sequence: '0' };
  await store.write([restorationTable.put([EU, takenAt], { takenAt, held, unsealed, settled })]);
  assert.equal(await run(store, 'signs'), { hasSigned: true, wasStopped: true });
});

test('a store that takes no writes any more is closed all the same', async () => {
  const store = new MemoryRows();
  const marks = await StartMarks.open(store, EU);
  await marks.noteSigning();
  store.write = () => Promise.reject(new StoreError('write-failed', 'the disk is gone'));
  await marks[Symbol.asyncDispose]();
});

test.run();

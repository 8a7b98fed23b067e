import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { awaitedProjections, renewProjections } from '../../../../node/fsck/migration/projections.ts';
import { placedHoldTable } from '../../../../node/records/placed-hold-table.ts';
import { projectionVersionTable } from '../../../../node/records/projection.ts';
import { nodeId } from '../../../../protocol/ids.ts';
import type { LogDraft } from '../../../fixtures/federation-log-batch.ts';
import { keepBatch } from '../../../fixtures/linked-store.ts';
import { Ledger } from '../../../trust/ledger.ts';
import { LogStore } from '../../log/log-store.ts';

const OWN = nodeId('eu');
const LOCK: LogDraft = { kind: 'retention_lock', claims: { scope: ['all'], retentionDays: 1825 } };
const HOLD: LogDraft = { ...LOCK, claims: { ...LOCK.claims, legalHold: true } };

test('a store of before finds the legal holds of every node once it was started', async () => {
  const ledger = await Ledger.create();
  await using opened = await LogStore.open();
  const { store } = opened;
  for (const node of ['eu', 'us']) await keepBatch(store, await ledger.record(node, [{}, LOCK, HOLD, HOLD]));
  const rows = () => Array.fromAsync(placedHoldTable.under(store, []));
  const before = await rows();
  assert.is(before.length, 4);
  await store.write([...before.map(([parts]) => placedHoldTable.del(...parts)), projectionVersionTable.put([OWN], 3)]);
  for (const own of [OWN, null]) {
    assert.ok((await awaitedProjections(store, own)).has(placedHoldTable.name), 'none is missed before that');
  }
  await renewProjections(store, OWN, null);
  assert.equal(await rows(), before);
  for (const own of [OWN, null]) assert.is((await awaitedProjections(store, own)).size, 0);
});

test('where the version by which rows are made does not read, they are made again', async () => {
  const ledger = await Ledger.create();
  await using opened = await LogStore.open();
  const { store } = opened;
  await keepBatch(store, await ledger.record('eu', [HOLD]));
  await store.write([{ type: 'put', key: projectionVersionTable.key(OWN), value: Buffer.from('4x') }]);
  for (const own of [OWN, null]) {
    assert.ok((await awaitedProjections(store, own)).has(placedHoldTable.name), 'none is missed before that');
  }
  await renewProjections(store, OWN, null);
  for (const own of [OWN, null]) assert.is((await awaitedProjections(store, own)).size, 0);
  assert.is((await Array.fromAsync(placedHoldTable.under(store, []))).length, 1);
});

test.run();

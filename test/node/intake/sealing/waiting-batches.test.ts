import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { groupTable } from '../../../../node/records/record-tables.ts';
import type { Store } from '../../../../node/store/store.ts';
import { until } from '../../../fixtures/until.ts';
import { temporaryDirectory } from '../intake-fixture.ts';
import { requireChain, SealingFixture } from './sealing-fixture.ts';

/** Batches that are sealed while the ledger names none. */
const AHEAD = 4;
/** Batches that wait until it does. */
const WAITING = 6;

/** Counts how often groups are read from the store from now on. */
function groupReads(store: Store): { readonly count: number } {
  const reads = { count: 0 };
  const { range } = store;
  store.range = (options) => {
    if (options.gte?.startsWith(`${groupTable.name}/`) === true) reads.count++;
    return range.call(store, options);
  };
  return reads;
}

test('of batches that wait until the ledger is back the first two hold their groups, and the others are read back', async () => {
  await using directory = await temporaryDirectory();
  await using fixture = await SealingFixture.open(directory.path, { named: 0, maxRecords: 2 });
  for (let i = 0; i < AHEAD; i++) await fixture.record(2);
  await until('those ahead are sealed', () => fixture.sealed.length === AHEAD);
  for (let i = 0; i < WAITING; i++) await fixture.record(2);
  assert.is(fixture.sealer.waiting, 2 * WAITING);
  const reads = groupReads(fixture.store);
  fixture.sealer.noteNamed(AHEAD + WAITING);
  await fixture.sealer.seal();
  assert.is(reads.count, WAITING - 2);
  await fixture.record(2);
  await fixture.sealer.seal();
  assert.is(reads.count, WAITING - 2, 'none waits any more');
  assert.is((await requireChain(fixture.store)).length, AHEAD + WAITING + 1);
});

test.run();

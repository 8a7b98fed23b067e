import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { migrateStore } from '../../../../node/fsck/migration/migrate-store.ts';
import { timeStepTable } from '../../../../node/records/time-steps.ts';
import { makeEarlier } from '../../../fixtures/earlier-store.ts';
import { draftOf, IntakeFixture, NODE, temporaryDirectory } from '../../intake/intake-fixture.ts';

test('a store of the format before gets a row of each record whose time goes back, as its groups tell it', async () => {
  await using directory = await temporaryDirectory();
  let clock = Date.UTC(2026, 10, 22, 12);
  await using fixture = await IntakeFixture.open(directory.path, { now: () => clock, timeOf: () => clock });
  for (const minutes of [0, 1, -10, 1, 0, -1, 5]) {
    clock += minutes * 60_000;
    await fixture.intake.submitAll([draftOf('a'), draftOf('b')]);
  }
  const { store } = fixture;
  const expected = await Array.fromAsync(timeStepTable.under(store, []));
  assert.equal(
    expected.map(([[, seq]]) => Number(seq)),
    [5, 11],
  );
  await makeEarlier(store, 5);
  assert.equal(await Array.fromAsync(timeStepTable.under(store, [])), []);
  await migrateStore(store, { node: NODE, log: null });
  assert.equal(await Array.fromAsync(timeStepTable.under(store, [])), expected);
});

test.run();

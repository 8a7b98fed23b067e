import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { GOVERNANCE_PROJECTIONS } from '../../../node/governance/governance-tables.ts';
import { recordedSince } from '../../../node/governance/recorded-since.ts';
import { draftOf, IntakeFixture, temporaryDirectory } from '../intake/intake-fixture.ts';

const NOON = Date.UTC(2026, 10, 22, 12);
const HOUR = 3_600_000;

test('records of a period are found before those of an earlier one that a clock which was set right dated, and no further', async () => {
  await using directory = await temporaryDirectory();
  let clock = NOON;
  await using fixture = await IntakeFixture.open(directory.path, { now: () => clock, timeOf: () => clock });
  const { store, intake } = fixture;
  for (const hours of [-3, -1, 5, 6, -2, -1, 7]) {
    clock = NOON + hours * HOUR;
    const { record } = await intake.submit(draftOf('a', {}, { kind: 'incident' }));
    await store.write(GOVERNANCE_PROJECTIONS.flatMap(({ rowsOf }) => rowsOf(record)));
  }
  const seqs = async (since: number, limit = 10): Promise<readonly number[]> =>
    Array.fromAsync(recordedSince(store, 'acme', 'incident', { since, limit }), ({ seq }) => seq);
  assert.equal(await seqs(NOON), [7, 4, 3]);
  assert.equal(await seqs(NOON - HOUR), [7, 6, 4, 3, 2]);
  assert.equal(await seqs(NOON + 6.5 * HOUR), [7]);
  assert.equal(await seqs(NOON, 4), [7, 4]);
});

test.run();

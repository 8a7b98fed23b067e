import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { DailyUsage } from '../../../../node/accounts/limits/daily-usage.ts';
import { hasUsage, usageEndTable, usageTable } from '../../../../node/accounts/limits/usage-table.ts';
import { RecordCounters } from '../../../../node/records/record-counters.ts';
import { bodyTable } from '../../../../node/records/record-tables.ts';
import { NODE, temporaryDirectory } from '../../intake/intake-fixture.ts';
import { UsageFixture } from './usage-fixture.ts';

const DAY_MS = 86_400_000;
const START = Date.UTC(2026, 10, 20, 23, 59);

test('a store without any count is counted when it is opened', async () => {
  await using directory = await temporaryDirectory();
  let now = START;
  {
    await using fixture = await UsageFixture.open(directory.path, { now: () => now, isCounted: false });
    await fixture.record('acme', 150);
    now += DAY_MS;
    await fixture.record('acme', 7);
    await fixture.record('globex', 3);
    assert.not(await hasUsage(fixture.store));
    await fixture.store.write([usageEndTable.del(NODE)]);
  }
  await using fixture = await UsageFixture.open(directory.path, { now: () => now });
  assert.equal(await fixture.rows(), { 'acme/2026-11-20': 150, 'acme/2026-11-21': 7, 'globex/2026-11-21': 3 });
  await fixture.record('acme', 1);
  assert.is((await fixture.rows())['acme/2026-11-21'], 8);
});

test('a store with counts is not counted again', async () => {
  await using directory = await temporaryDirectory();
  {
    await using fixture = await UsageFixture.open(directory.path, { now: () => START });
    await fixture.record('acme', 2);
    await fixture.store.write([usageTable.put(['acme', '2026-11-20'], 900)]);
  }
  await using fixture = await UsageFixture.open(directory.path, { now: () => START });
  assert.equal(await fixture.rows(), { 'acme/2026-11-20': 900 });
});

test('a damaged record keeps no node from starting: the others are counted', async () => {
  await using directory = await temporaryDirectory();
  {
    await using fixture = await UsageFixture.open(directory.path, { now: () => START, isCounted: false });
    await fixture.record('acme', 64);
    await fixture.record('acme', 1);
    await fixture.store.write([bodyTable.put([NODE, 65], '{"damaged":true}')]);
  }
  await using fixture = await UsageFixture.open(directory.path, { now: () => START });
  assert.equal(await fixture.rows(), { 'acme/2026-11-20': 64 });
});

test('records taken back from peers are counted in their own writes, as if they had just been made', async () => {
  await using directory = await temporaryDirectory();
  await using elsewhere = await temporaryDirectory();
  await using origin = await UsageFixture.open(elsewhere.path, { now: () => START });
  const before = await origin.record('acme', 300);
  const after = await origin.record('acme', 200);
  const records = [...before, ...after].map(({ record }) => record);

  await using fixture = await UsageFixture.open(directory.path, { now: () => START });
  const { store } = fixture;
  const usage = await DailyUsage.open({ store, node: NODE, now: () => START });
  const counters = new RecordCounters(store, [usage]);
  for (let at = 0; at < records.length; at += 128) {
    const page = records.slice(at, at + 128);
    // The chain's own write, of which nobody tells the counter.
    await store.write(await counters.rowsOf(page));
  }
  await counters.reload();
  assert.equal(await fixture.rows(), { 'acme/2026-11-20': 500 });
  assert.is((await usage.standing({ id: 'acme', tier: 'developer' }))?.remaining, 500);
});

test.run();

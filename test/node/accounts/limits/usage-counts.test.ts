import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { UsageCounts } from '../../../../node/accounts/limits/daily-usage.ts';
import { dayAt, usageTable } from '../../../../node/accounts/limits/usage-table.ts';
import { Store } from '../../../../node/store/store.ts';
import { until } from '../../../fixtures/until.ts';
import { temporaryDirectory } from '../../intake/intake-fixture.ts';

const DAY = dayAt(Date.UTC(2026, 10, 21));

/** Readings that have reached the store and wait there. */
interface Readings {
  /** Resolves once there are so many. */
  reach(count: number): Promise<void>;
  /** Lets them go on, or fail. Returns how many there were. */
  answer(error?: Error): number;
}

async function withSlowStore(
  use: (counts: UsageCounts, store: Store, readings: Readings) => Promise<void>,
): Promise<void> {
  await using directory = await temporaryDirectory();
  await using store = await Store.open(directory.path);
  const get = store.get.bind(store);
  const waiting: PromiseWithResolvers<void>[] = [];
  store.get = async (key) => {
    const value = await get(key);
    const gate = Promise.withResolvers<void>();
    waiting.push(gate);
    await gate.promise;
    return value;
  };
  const answer = (error?: Error): number => {
    const readings = waiting.splice(0);
    for (const { resolve, reject } of readings) {
      if (error === undefined) resolve();
      else reject(error);
    }
    return readings.length;
  };
  const reach = (count: number): Promise<void> => until(`${count} readings`, () => waiting.length >= count);
  await use(new UsageCounts(store, 2), store, { reach, answer });
}

test('a count that was set while its row was being read is not overwritten by the older one', () =>
  withSlowStore(async (counts, store, { reach, answer }) => {
    await store.write([usageTable.put(['acme', DAY], 4)]);
    const reading = counts.read('acme', DAY);
    await reach(1);
    counts.set(usageTable.key('acme', DAY), { account: 'acme', day: DAY, records: 5 }, true);
    answer();
    await reading;
    assert.is(counts.get('acme', DAY), 5);
  }));

test('rows that are being read are never pushed out, those at rest are', () =>
  withSlowStore(async (counts, _store, { reach, answer }) => {
    const accounts = ['a', 'b', 'c', 'd'];
    const reading = Promise.all(accounts.map((account) => counts.read(account, DAY)));
    await reach(accounts.length);
    counts.set(usageTable.key('a', DAY), { account: 'a', day: DAY, records: 7 }, true);
    answer();
    await reading;
    assert.is(counts.get('a', DAY), 7);
    counts.set(usageTable.key('e', DAY), { account: 'e', day: DAY, records: 1 }, true);
    assert.equal(
      [...accounts, 'e'].filter((account) => counts.get(account, DAY) !== undefined),
      ['d', 'e'],
    );
  }));

test('those who read the same row at once read it once', () =>
  withSlowStore(async (counts, _store, { reach, answer }) => {
    const first = counts.read('acme', DAY);
    const second = counts.read('acme', DAY);
    await reach(1);
    assert.is(answer(), 1);
    await Promise.all([first, second]);
    assert.is(counts.get('acme', DAY), 0);
  }));

test('a reading that failed is tried again', () =>
  withSlowStore(async (counts, _store, { reach, answer }) => {
    const failing = counts.read('acme', DAY).then(
      () => 'read',
      (error: unknown) => (error instanceof Error ? error.message : 'failed'),
    );
    await reach(1);
    answer(new Error('the disk does not answer'));
    assert.is(await failing, 'the disk does not answer');
    assert.is(counts.get('acme', DAY), undefined);
    const again = counts.read('acme', DAY);
    await reach(1);
    answer();
    await again;
    assert.is(counts.get('acme', DAY), 0);
  }));

test.run();

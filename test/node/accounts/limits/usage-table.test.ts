import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  dayAt,
  endOfMonth,
  isUsageKey,
  monthOf,
  recordsOfMonth,
  usageTable,
} from '../../../../node/accounts/limits/usage-table.ts';
import { Store } from '../../../../node/store/store.ts';
import { temporaryDirectory } from '../../intake/intake-fixture.ts';

test('the records of a month are those of its own days, up to one of them', async () => {
  await using directory = await temporaryDirectory();
  await using store = await Store.open(directory.path);
  const days = ['2026-10-31', '2026-11-01', '2026-11-30', '2026-12-01'];
  await store.write([
    ...days.map((day, i) => usageTable.put(['acme', day], 10 ** i)),
    usageTable.put(['acme-2', '2026-11-02'], 7),
  ]);
  assert.is(await recordsOfMonth(store, 'acme', dayAt(Date.UTC(2026, 10, 29))), 10);
  assert.is(await recordsOfMonth(store, 'acme', dayAt(Date.UTC(2026, 10, 30))), 110);
  assert.is(await recordsOfMonth(store, 'acme', dayAt(Date.UTC(2027, 0, 1))), 0);
});

test('a month ends with its last day', () => {
  const ends = (year: number, month: number, day: number) => {
    const at = dayAt(Date.UTC(year, month, day));
    return `${monthOf(at)} ${new Date(endOfMonth(at)).toISOString()}`;
  };
  assert.is(ends(2026, 10, 1), '2026-11 2026-12-01T00:00:00.000Z');
  assert.is(ends(2026, 11, 31), '2026-12 2027-01-01T00:00:00.000Z');
  assert.is(ends(2028, 1, 29), '2028-02 2028-03-01T00:00:00.000Z');
});

test('a key is an account and a day that exists', () => {
  assert.ok(isUsageKey(['acme', '2026-11-21']));
  for (const parts of [
    ['acme'],
    ['acme', '2026-11-31'],
    ['', '2026-11-21'],
    ['acme', '2026-11-21', 'x'],
    ['acme', ''],
  ]) {
    assert.not(isUsageKey(parts), parts.join('/'));
  }
});

test.run();

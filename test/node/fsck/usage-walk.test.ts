import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Check } from '../../../node/fsck/check.ts';
import { FactsMaker } from '../../../node/fsck/record-facts.ts';
import { Report } from '../../../node/fsck/report.ts';
import { UsageWalk } from '../../../node/fsck/usage-walk.ts';
import type { Operation } from '../../../node/store/operation.ts';
import type { AttestationRecord } from '../../../protocol/chain/record.ts';
import { NODE, temporaryDirectory } from '../intake/intake-fixture.ts';
import { UsageFixture } from '../accounts/limits/usage-fixture.ts';
import { del, put } from './damaged-home.ts';

const DAY_MS = 86_400_000;
const START = Date.UTC(2026, 10, 20, 12);
const ACCOUNTS = ['acme', 'globex', 'initech'];
const DAYS = 4;

/** Findings about a store of three accounts and four days, after its rows were changed. */
async function findings(changes: readonly Operation[], rememberedRows?: number): Promise<string[]> {
  await using directory = await temporaryDirectory();
  let now = START;
  await using fixture = await UsageFixture.open(directory.path, { now: () => now });
  const records: AttestationRecord[] = [];
  for (let day = 0; day < DAYS; day++, now += DAY_MS) {
    for (const account of ACCOUNTS) {
      const made = await fixture.record(account, 3 + day);
      records.push(...made.map(({ record }) => record));
    }
  }
  await fixture.counters.flush();
  await fixture.store.write(changes);
  const report = new Report();
  const check: Check = {
    store: fixture.store,
    report,
    signal: undefined,
    keys: null,
    own: NODE,
    cipher: null,
    agentKeys: null,
    held: null,
  };
  const walk = new UsageWalk(check, rememberedRows);
  const facts = records.map((record) => new FactsMaker().factsOf(record));
  for (let at = 0; at < facts.length; at += 5) await walk.take(facts.slice(at, at + 5));
  await walk.finish();
  return report.findings.map(({ severity, key, detail }) => `${severity}: ${key ?? 'usage'} ${detail}`);
}

test('the counts of several days and accounts are whole', async () => {
  assert.equal(await findings([]), []);
});

test('a wrong, a missing, an unreadable and a stray count are named', async () => {
  const found = await findings([
    put('usage/acme/2026-11-20', '4'),
    del('usage/globex/2026-11-21'),
    put('usage/initech/2026-11-23', 'many'),
    put('usage/hooli/2026-11-22', '1'),
    put('usage/acme/2026-11-31', '3'),
    put('usage/acme', '3'),
  ]);
  assert.equal(found.sort(), [
    'problem: usage/acme is no key of this table',
    'problem: usage/acme/2026-11-20 does not count 3 records',
    'problem: usage/acme/2026-11-31 is no key of this table',
    'problem: usage/globex/2026-11-21 is missing',
    'problem: usage/hooli/2026-11-22 belongs to no record',
    'problem: usage/initech/2026-11-23 does not count 6 records',
    'problem: usage/initech/2026-11-23 does not read: a stored number is not a safe integer',
  ]);
});

test('more rows than are remembered: stray ones are counted', async () => {
  assert.equal(await findings([], 5), []);
  assert.equal(await findings([put('usage/hooli/2026-11-22', '1')], 5), ['problem: usage 1 rows belong to no record']);
});

test('no count at all is no damage: the node counts at its next start', async () => {
  const keys = ACCOUNTS.flatMap((account) => [0, 1, 2, 3].map((day) => `usage/${account}/2026-11-2${day}`));
  const found = await findings([...keys, 'usage-end/eu'].map(del));
  assert.equal(found, ['note: usage has no row: the node counts its records at its next start']);
});

test('a mark without counts names each that is missing', async () => {
  const keys = ACCOUNTS.flatMap((account) => [0, 1, 2, 3].map((day) => `usage/${account}/2026-11-2${day}`));
  const found = await findings(keys.map(del));
  assert.equal(found.sort(), keys.map((key) => `problem: ${key} is missing`).sort());
});

test('counts without a mark are of a release that wrote each at once: they count all records', async () => {
  assert.equal(await findings([del('usage-end/eu')]), []);
  const found = await findings([del('usage-end/eu'), put('usage/acme/2026-11-23', '5')]);
  assert.equal(found, ['problem: usage/acme/2026-11-23 does not count 6 records']);
});

test('records after the mark are not counted yet, and a mark beyond the last record is named', async () => {
  const end = (next: number) => put('usage-end/eu', JSON.stringify({ version: 1, next }));
  const before = ['acme', 'globex'].map((account) => put(`usage/${account}/2026-11-23`, '6'));
  assert.equal(await findings([...before, end(49), del('usage/initech/2026-11-23')]), []);
  assert.equal(await findings([end(49)]), ['problem: usage/initech/2026-11-23 belongs to no record']);
  assert.equal(await findings([end(99)]), ['problem: usage-end/eu counts up to record 98, and the last one is 54']);
});

test('counts by other rules are no damage: the node counts anew at its next start', async () => {
  const found = await findings([put('usage-end/eu', '{"version":9,"next":1}'), put('usage/acme/2026-11-23', '77')]);
  assert.is(found.length, 1);
  assert.match(found[0] ?? '', /^note: usage-end\/eu .* at its next start$/);
});

test.run();

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { usageEndTable } from '../../../node/accounts/limits/usage-table.ts';
import { MAX_UNWRITTEN_RECORDS, MIN_WRITE_PAUSE_MS } from '../../../node/records/row-pace.ts';
import type { Operation } from '../../../node/store/operation.ts';
import { tallyEndTable } from '../../../node/records/counts/tally-table.ts';
import { fc } from '../../fixtures/properties.ts';
import { type Fate, NODE, temporaryDirectory } from '../intake/intake-fixture.ts';
import { recordsOf } from './counts/tally-fixture.ts';
import { CountedFixture, countFindings, plainUsage, rowsAndPlain } from './counted-fixture.ts';

const WRITER = join(import.meta.dirname, 'counted-writer.ts');
const KILLS = 4;
const NOON = Date.UTC(2026, 10, 21, 12);
const CAP = 1_000;

type Step =
  | { readonly do: 'group'; readonly account: number; readonly sources: readonly number[] }
  | { readonly do: 'large'; readonly size: number }
  | { readonly do: 'wait'; readonly ms: number }
  | { readonly do: 'fate'; readonly fate: Fate }
  | { readonly do: 'crash' | 'flush' | 'stop' };

const steps: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      do: fc.constant('group'),
      account: fc.nat(2),
      sources: fc.array(fc.nat(3), { minLength: 1, maxLength: 8 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('large'), size: fc.integer({ min: 300, max: 1_200 }) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('wait'), ms: fc.integer({ min: 300, max: 40_000_000 }) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('fate'), fate: fc.constant('refused') }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('flush', 'stop') }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('crash') }) },
);

test('groups, writes of the rows, refusals, ends and crashes in any order: the counts are those of the records', () =>
  fc.assert(
    fc.asyncProperty(fc.array(steps, { minLength: 5, maxLength: 40 }), async (list) => {
      await using directory = await temporaryDirectory();
      let [clock, next]: [number, Fate] = [0, 'kept'];
      const options = {
        now: () => NOON + clock,
        monotonic: () => clock,
        fate: () => {
          const fate = next;
          next = 'kept';
          return fate;
        },
      };
      let fixture = await CountedFixture.open(directory.path, options);
      try {
        await fixture.record('acc_eu_0', ['s0']);
        for (const step of [...list, { do: 'crash' } as const, { do: 'stop' } as const]) {
          if (step.do === 'group') {
            await fixture.record(
              `acc_eu_${step.account}`,
              step.sources.map((s) => `s${s}`),
            );
          } else if (step.do === 'large') {
            await fixture.record(
              'acc_eu_0',
              Array.from({ length: step.size }, () => 's0'),
            );
          } else if (step.do === 'wait') clock += step.ms;
          else if (step.do === 'fate') next = step.fate;
          else if (step.do === 'flush') await fixture.counters.flush().catch(() => {});
          else {
            next = 'kept';
            await (step.do === 'crash' ? fixture.crash() : fixture[Symbol.asyncDispose]());
            assert.equal(await countFindings(directory.path), []);
            fixture = await CountedFixture.open(directory.path, options);
          }
          await requireStanding(fixture, NOON + clock);
        }
        next = 'kept';
        const [rows, plain] = await rowsAndPlain(fixture);
        assert.equal(rows, plain);
      } finally {
        await fixture.crash();
      }
    }),
    { numRuns: 12 },
  ));

test('a process killed at any moment leaves counts that fsck finds right, and starts with those of its records', async () => {
  await using directory = await temporaryDirectory();
  let told = 0;
  for (let kill = 0; kill < KILLS; kill++) {
    told = await killWriter(directory.path, told, 400 + 900 * (kill % 2));
    assert.equal(await countFindings(directory.path), []);
    await using fixture = await CountedFixture.open(directory.path);
    const records = await recordsOf(fixture.store);
    assert.ok(records.length >= told);
    told = records.length;
    const [rows, plain] = await rowsAndPlain(fixture);
    assert.equal(rows, plain);
  }
  assert.equal(await countFindings(directory.path), []);
});

test('rows are written with the first group, then once a second or every so many records, and at the end', async () => {
  await using directory = await temporaryDirectory();
  let clock = 0;
  const written: number[] = [];
  let groups = 0;
  const fate = (operations: readonly Operation[]): Fate => {
    groups++;
    if (operations.some(({ key }) => key.startsWith('tally'))) written.push(groups);
    return 'kept';
  };
  {
    await using fixture = await CountedFixture.open(directory.path, { monotonic: () => clock, fate });
    for (let group = 0; group < 30; group++) {
      await fixture.record(
        'acme',
        Array.from({ length: 100 }, () => 's'),
      );
    }
    assert.equal(written, [1, 11, 21]);
    clock += MIN_WRITE_PAUSE_MS - 1;
    await fixture.record('acme', ['s']);
    assert.is(written.length, 3);
    clock += 1;
    await fixture.record('acme', ['s']);
    await fixture.record('acme', ['s']);
    assert.equal(written, [1, 11, 21, 32]);
  }
  assert.equal(written, [1, 11, 21, 32, 34]);
  assert.ok(MAX_UNWRITTEN_RECORDS === 1_000);
});

test('no write of rows follows where none was put off', async () => {
  await using directory = await temporaryDirectory();
  await using fixture = await CountedFixture.open(directory.path);
  await fixture.record('acme', ['a']);
  await fixture.counters.flush();
  const before = fixture.store.writes;
  for (let i = 0; i < 3; i++) await fixture.counters.flush();
  assert.is(fixture.store.writes, before);
});

test('a daily cap holds over a crash, to the record', async () => {
  await using directory = await temporaryDirectory();
  const account = { id: 'acme', tier: 'developer' } as const;
  const options = { now: () => NOON, monotonic: () => 0 };
  let fixture = await CountedFixture.open(directory.path, options);
  for (let made = 0; made < CAP; made += 125) {
    await fixture.record(
      'acme',
      Array.from({ length: 125 }, () => 's'),
    );
    await fixture.crash();
    fixture = await CountedFixture.open(directory.path, options);
    assert.is((await fixture.usage.standing(account))?.remaining, CAP - made - 125);
    assert.is((await fixture.usage.figures(account)).recordsThisMonth, made + 125);
  }
  assert.is((await fixture.usage.reserve(account)).kind, 'refused');
  await fixture.crash();
});

test('the month counts what memory alone has, before and after its rows are written', async () => {
  await using directory = await temporaryDirectory();
  await using fixture = await CountedFixture.open(directory.path, { now: () => NOON, monotonic: () => 0 });
  const month = async () => (await fixture.usage.figures({ id: 'acme', tier: 'developer' })).recordsThisMonth;
  await fixture.record('acme', ['s', 's']);
  await fixture.record('acme', ['s', 's', 's']);
  await fixture.record('globex', ['s']);
  assert.is(await month(), 5);
  await fixture.counters.flush();
  assert.is(await month(), 5);
});

test('groups and writes of the rows side by side leave no row under a mark that it does not stand for', async () => {
  await using directory = await temporaryDirectory();
  let clock = 0;
  const fixture = await CountedFixture.open(directory.path, { monotonic: () => (clock += 130) });
  const groups = Array.from({ length: 60 }, (_, i) => fixture.record(`acc_eu_${i % 2}`, ['a', 'b', 'c'].slice(i % 3)));
  const flushes = groups.map(async (group, i) => {
    if (i % 2 === 0) await group;
    await fixture.counters.flush();
  });
  await Promise.all([...groups, ...flushes]);
  await fixture.record('acc_eu_0', ['a']);
  await fixture.crash();
  assert.equal(await countFindings(directory.path), []);
});

test('a store of a release that wrote each count at once opens as it is', async () => {
  await using directory = await temporaryDirectory();
  const options = { now: () => NOON, monotonic: () => 0 };
  {
    await using fixture = await CountedFixture.open(directory.path, options);
    for (let group = 0; group < 5; group++) await fixture.record('acme', ['a', 'b']);
    await fixture.counters.flush();
    await fixture.store.write([usageEndTable.del(NODE)]);
    await fixture.crash();
  }
  {
    await using fixture = await CountedFixture.open(directory.path, options);
    const end = await usageEndTable.get(fixture.store, NODE);
    assert.equal([end?.next, (await tallyEndTable.get(fixture.store, NODE))?.next], [11, 11]);
    await fixture.record('acme', ['a']);
    await fixture.record('acme', ['a']);
    await fixture.crash();
  }
  assert.equal(await countFindings(directory.path), []);
  await using fixture = await CountedFixture.open(directory.path, options);
  const [rows, plain] = await rowsAndPlain(fixture);
  assert.equal(rows, plain);
});

/** Runs the writer until it has told of some more records, kills it, and resolves to the last number told. */
async function killWriter(directory: string, from: number, more: number): Promise<number> {
  const writer = spawn(process.execPath, [WRITER, directory, String(from)], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(writer, 'exit');
  let last = from;
  for await (const line of createInterface({ input: writer.stdout })) {
    last = Number(line);
    if (last >= from + more) writer.kill('SIGKILL');
  }
  assert.equal(await ended, [null, 'SIGKILL']);
  return last;
}

/** What limits hang on is exact at each moment, whatever rows are put off. */
async function requireStanding(fixture: CountedFixture, now: number): Promise<void> {
  const counts = plainUsage(await recordsOf(fixture.store));
  const day = new Date(now).toISOString().slice(0, 'YYYY-MM-DD'.length);
  for (const id of ['acc_eu_0', 'acc_eu_1']) {
    const standing = await fixture.usage.standing({ id, tier: 'developer' });
    assert.is(standing?.remaining, Math.max(0, CAP - (counts.get(`${id}/${day}`) ?? 0)));
  }
}

test.run();

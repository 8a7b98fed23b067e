import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { migrateStore } from '../../../../node/fsck/migration/migrate-store.ts';
import type { MigrationStep } from '../../../../node/fsck/migration/migration-step.ts';
import {
  FORMAT_KEY,
  formatTable,
  type MigratedFormat,
  MIGRATING_KEY,
  requireFormat,
  STORE_FORMAT,
} from '../../../../node/store/format.ts';
import { type Rows, StoreError } from '../../../../node/store/store.ts';
import { numberCodec, Table } from '../../../../node/store/table.ts';
import { nodeId } from '../../../../protocol/ids.ts';
import { MemoryRows } from '../../../fixtures/memory-rows.ts';
import { killedAtEachWrite, StoppedRows } from '../../../fixtures/stopped-rows.ts';

const EU = nodeId('eu');
const ROWS = 5;

/** Moves rows of one table to another, a row a write, and doubles them: one that is moved twice shows. */
function doubling(name: string, from: MigratedFormat = 3): MigrationStep {
  const [before, after] = [new Table(`${name}-old`, numberCodec), new Table(`${name}-new`, numberCodec)];
  return {
    name,
    from,
    async run({ store, moved }) {
      const found = await Array.fromAsync(before.under(store, []));
      for (const [[part = ''], value] of found) {
        await store.write([after.put([part], 2 * value), before.del(part)]);
        moved(1);
      }
    },
  };
}

const steps = [doubling('a'), doubling('b')];
const STEPS_OF_EACH = [doubling('a', 3), doubling('b', 4)];

async function earlierStore(format: MigratedFormat = 3): Promise<MemoryRows> {
  const rows = new MemoryRows();
  await rows.write([formatTable.put(['store'], format)]);
  for (const name of ['a', 'b']) {
    const table = new Table(`${name}-old`, numberCodec);
    for (let i = 0; i < ROWS; i++) await rows.write([table.put([String(i)], i)]);
  }
  return rows;
}

const migrate = (store: Rows) => migrateStore(store, { node: EU, log: null, steps });

function rowsOf(rows: MemoryRows): readonly (readonly [string, string])[] {
  return rows.all().map(([key, value]) => [key, Buffer.from(value).toString()]);
}

test('each step is run once, in order, on a store of the format before, and its format is raised', async () => {
  const rows = await earlierStore();
  const ran: unknown[] = [];
  const told: unknown[] = [];
  const log = { info: (facts: unknown) => void told.push(facts) };
  const noted = steps.map(({ name, from, run }): MigrationStep => ({
    name,
    from,
    run: (context) => {
      ran.push([name, context.node]);
      return run(context);
    },
  }));
  assert.is(await requireFormat(rows), 3);
  for (let start = 0; start < 2; start++) await migrateStore(rows, { node: EU, log, steps: noted });
  assert.is(await requireFormat(rows), 'current');
  assert.equal(ran, [
    ['a', 'eu'],
    ['b', 'eu'],
  ]);
  assert.equal(told, [
    { from: 3, to: STORE_FORMAT },
    { step: 'a', rows: ROWS },
    { step: 'b', rows: ROWS },
    { format: STORE_FORMAT },
  ]);
  const expected = ['a', 'b'].flatMap((name) =>
    Array.from({ length: ROWS }, (_, i) => [`${name}-new/${i}`, String(2 * i)]),
  );
  assert.equal(rowsOf(rows), [...expected, [FORMAT_KEY, String(STORE_FORMAT)]]);
});

test('killed before any of its writes and started again, a migration comes to the same rows', async () => {
  const whole = await earlierStore();
  await migrate(whole);
  const before = await earlierStore();
  const killed = await killedAtEachWrite(async (writes) => {
    const rows = before.copy();
    try {
      await migrate(new StoppedRows(rows, writes));
    } finally {
      if (writes > 0) assert.is(Number(Buffer.from((await rows.get(FORMAT_KEY)) ?? [])), STORE_FORMAT);
      await migrate(rows);
      assert.equal(rowsOf(rows), rowsOf(whole));
    }
  });
  assert.is(killed, 2 * ROWS + 2);
});

test('a migration that is killed at each of its starts, one write later each time, comes to its end', async () => {
  const rows = await earlierStore();
  await killedAtEachWrite(() => migrate(new StoppedRows(rows, 2)));
  assert.is(await requireFormat(rows), 'current');
});

test('a store that is half migrated is refused by a release that knows only the format before', async () => {
  const rows = await earlierStore();
  await migrate(new StoppedRows(rows, 3)).catch(() => undefined);
  assert.is(await requireFormat(rows), 3);
  assert.equal(await formatTable.get(rows, 'store'), STORE_FORMAT);
  await rows.write([formatTable.put(['migrating'], 2)]);
  const code = await requireFormat(rows).catch((error: unknown) => error instanceof StoreError && error.code);
  assert.is(code, 'format');
  await rows.write([{ type: 'del', key: MIGRATING_KEY }]);
  assert.is(await requireFormat(rows), 'current');
});

test('the steps are run that lead from the format of the store, and no earlier ones', async () => {
  const rows = await earlierStore(4);
  await migrateStore(rows, { node: EU, log: null, steps: STEPS_OF_EACH });
  assert.is(await requireFormat(rows), 'current');
  const moved = rowsOf(rows).map(([key]) => key.split('/')[0]);
  assert.equal([...new Set(moved)], ['a-old', 'b-new', 'format']);
});

test('what an earlier release began to migrate is gone on with from where that one began', async () => {
  const rows = await earlierStore(4);
  await rows.write([formatTable.put(['migrating'], 3)]);
  assert.is(await requireFormat(rows), 3);
  await migrateStore(rows, { node: EU, log: null, steps: STEPS_OF_EACH });
  assert.is(await requireFormat(rows), 'current');
  const moved = rowsOf(rows).map(([key]) => key.split('/')[0]);
  assert.equal([...new Set(moved)], ['a-new', 'b-new', 'format']);
});

test('a store of this format, and an empty one, are left as they are', async () => {
  for (const rows of [new MemoryRows(), new MemoryRows(new Map([[FORMAT_KEY, Buffer.from(String(STORE_FORMAT))]]))]) {
    await migrate(new StoppedRows(rows, 0));
  }
});

test.run();

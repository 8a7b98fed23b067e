import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { migrateStore } from '../../../../node/fsck/migration/migrate-store.ts';
import type { MigrationStep } from '../../../../node/fsck/migration/sources.ts';
import {
  FORMAT_KEY,
  formatTable,
  MIGRATED_FORMAT,
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
function doubling(name: string): MigrationStep {
  const [before, after] = [new Table(`${name}-old`, numberCodec), new Table(`${name}-new`, numberCodec)];
  return {
    name,
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

async function earlierStore(): Promise<MemoryRows> {
  const rows = new MemoryRows();
  await rows.write([formatTable.put(['store'], MIGRATED_FORMAT)]);
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
  const noted = steps.map(({ name, run }): MigrationStep => ({
    name,
    run: (context) => {
      ran.push([name, context.node]);
      return run(context);
    },
  }));
  assert.is(await requireFormat(rows), 'earlier');
  for (let start = 0; start < 2; start++) await migrateStore(rows, { node: EU, log, steps: noted });
  assert.is(await requireFormat(rows), 'current');
  assert.equal(ran, [
    ['a', 'eu'],
    ['b', 'eu'],
  ]);
  assert.equal(told, [
    { from: MIGRATED_FORMAT, to: STORE_FORMAT },
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
  assert.is(await requireFormat(rows), 'earlier');
  assert.equal(await formatTable.get(rows, 'store'), STORE_FORMAT);
  await rows.write([formatTable.put(['migrating'], MIGRATED_FORMAT - 1)]);
  const code = await requireFormat(rows).catch((error: unknown) => error instanceof StoreError && error.code);
  assert.is(code, 'format');
  await rows.write([{ type: 'del', key: MIGRATING_KEY }]);
  assert.is(await requireFormat(rows), 'current');
});

test('a store of this format, and an empty one, are left as they are', async () => {
  for (const rows of [new MemoryRows(), new MemoryRows(new Map([[FORMAT_KEY, Buffer.from(String(STORE_FORMAT))]]))]) {
    await migrate(new StoppedRows(rows, 0));
  }
});

test.run();

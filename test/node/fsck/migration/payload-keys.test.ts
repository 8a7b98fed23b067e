import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { fsck } from '../../../../node/fsck/fsck.ts';
import {
  migrateStore,
  MIGRATION_STEPS,
  openNodeStore,
  payloadKeyStep,
} from '../../../../node/fsck/migration/migrate-store.ts';
import type { Finding, Report } from '../../../../node/fsck/report.ts';
import { payloadKeyTable, preparedKeyTable, splitKeyRow } from '../../../../node/records/payload/payload-keys.ts';
import { payloadTable } from '../../../../node/records/payload/payload-tables.ts';
import { readRecordTexts } from '../../../../node/records/record-reader.ts';
import { bodyTable } from '../../../../node/records/record-tables.ts';
import { sourceIndex } from '../../../../node/records/sources/source-index.ts';
import { newRecordId } from '../../../../node/records/record-id.ts';
import { FORMAT_KEY, requireFormat } from '../../../../node/store/format.ts';
import { type Rows, Store } from '../../../../node/store/store.ts';
import { readHead } from '../../../../protocol/chain/record.ts';
import { makeEarlier } from '../../../fixtures/earlier-store.ts';
import { MemoryRows } from '../../../fixtures/memory-rows.ts';
import { eraseKey } from '../../../fixtures/payload-keys.ts';
import { killedAtEachWrite, StoppedRows } from '../../../fixtures/stopped-rows.ts';
import { EU, scratchDirectory, writeHome } from '../home.ts';

const scratch = await scratchDirectory();
/** A home of this format, and the same of the format before. */
const home = join(scratch.path, 'eu');
const earlier = join(scratch.path, 'earlier');
/** Operations that a row adds to a write, at most. */
const ROW_OPERATIONS = 65;
const WRITE_OPERATIONS = 256;

test.after(async () => {
  await scratch[Symbol.asyncDispose]();
});

test.before(async () => {
  await writeHome(home, 2);
  {
    await using store = await Store.open(join(home, 'store'));
    const [last, before] = (await Array.fromAsync(payloadKeyTable.under(store, [EU]))).toReversed();
    // All that share a row are erased; and a group is one that came back from other members.
    const [erased, absent] = [Number(last?.[0][0]), Number(before?.[0][0])];
    for await (const { head } of readRecordTexts(store, EU, erased, 1)) await eraseKey(store, readHead(head).id);
    await store.write([payloadKeyTable.del(EU, absent), payloadTable.del(absent)]);
  }
  await cp(home, earlier, { recursive: true });
  await using store = await Store.open(join(earlier, 'store'));
  await makeEarlier(store);
});

async function memoryOf(directory: string): Promise<MemoryRows> {
  await using store = await Store.open(join(directory, 'store'));
  return new MemoryRows(new Map(await Array.fromAsync(store.range({}))));
}

/** Keys of the rows that only one of them has, or that differ; how sources are packed is not looked at. */
function differences(one: MemoryRows, other: MemoryRows): readonly string[] {
  const texts = ([key, value]: readonly [string, Uint8Array]) => `${key} ${Buffer.from(value).toString('hex')}`;
  const isCompared = ([key]: readonly [string, Uint8Array]) => !key.startsWith(`${sourceIndex.name}/`);
  const [a, b] = [one, other].map((rows) => new Set(rows.all().filter(isCompared).map(texts)));
  if (a === undefined || b === undefined) throw new Error('unreachable');
  return [...a.symmetricDifference(b)].map((row) => row.split(' ')[0] ?? '').toSorted();
}

/** Notes aside: LevelDB may leave a file that it does not use. */
function actedOn({ findings }: Report): readonly Finding[] {
  return findings.filter(({ severity }) => severity !== 'note');
}

const migrate = (store: Rows) => migrateStore(store, { node: EU, log: null });

async function count(store: Rows, prefix: string): Promise<number> {
  return (await Array.fromAsync(store.range({ gte: prefix, lt: `${prefix}\u{10ffff}` }))).length;
}

test('a migrated store has the rows of one that was of this format from the start', async () => {
  const rows = await memoryOf(earlier);
  const before = await count(rows, 'payload-key/');
  assert.ok(before > 400);
  assert.is(await count(rows, 'payload-keys/'), 0);
  const stopped = new StoppedRows(rows, Number.POSITIVE_INFINITY);
  await payloadKeyStep.run({ store: stopped, node: EU, moved: () => undefined });
  assert.ok(stopped.largest < WRITE_OPERATIONS + ROW_OPERATIONS);
  await migrate(rows);
  assert.equal(differences(rows, await memoryOf(home)), []);
  const seeds = await Array.fromAsync(payloadKeyTable.under(rows, [EU]), ([, row]) => splitKeyRow(row));
  assert.is(seeds.flat().filter((seed) => seed !== null).length, before);
  assert.is(seeds.flat().filter((seed) => seed === null).length, 2, 'those that were erased');
});

test('killed before any of its writes and started again, it comes to the same rows', async () => {
  const [before, whole] = [await memoryOf(earlier), await memoryOf(home)];
  const kills = await killedAtEachWrite(async (writes) => {
    const rows = before.copy();
    try {
      await migrate(new StoppedRows(rows, writes));
    } finally {
      await migrate(rows);
      assert.equal(differences(rows, whole), [], `killed after ${writes} writes`);
    }
  });
  assert.ok(kills >= 5, `${kills} writes`);
});

test('a node that starts on it migrates it once, and fsck finds every payload and every erasure as before', async () => {
  const copy = join(scratch.path, 'started');
  await cp(earlier, copy, { recursive: true });
  const expected = (await fsck(home)).report;
  const told: unknown[] = [];
  const log = { info: (facts: unknown) => void told.push(facts) };
  for (let start = 0; start < 2; start++) {
    await using store = await openNodeStore(copy, { node: EU, log });
    assert.is(await requireFormat(store), 'current');
  }
  assert.is(told.length, 4 + MIGRATION_STEPS.length);
  const { report } = await fsck(copy);
  assert.equal([actedOn(report), report.counts], [actedOn(expected), expected.counts]);
  assert.ok(report.counts.payloadsOpened > 400);
  assert.equal([report.counts.payloadsErased, report.counts.payloadsAbsent], [2, 1]);
});

test('fsck proves a store of the format before as it would be migrated, says so, and leaves it as it is', async () => {
  const expected = (await fsck(home)).report;
  const { report } = await fsck(earlier);
  assert.equal(
    actedOn(report).map(({ severity, key, detail }) => [severity, key, detail]),
    [['warning', FORMAT_KEY, 'the store is of format 3: it was checked as the node migrates it when it starts']],
  );
  assert.equal(report.counts, expected.counts);
  const rows = await memoryOf(earlier);
  assert.is(await requireFormat(rows), 3);
  assert.ok((await count(rows, 'payload-key/')) > 400);
});

test('the key of a prepared record, and what is no key, stay where they are', async () => {
  const rows = await memoryOf(earlier);
  const prepared = preparedKeyTable.put([newRecordId(EU, Date.now())], Buffer.alloc(33, 1));
  const [damaged = ''] = (await rows.first({ gte: 'payload-key/' })) ?? [];
  await rows.write([prepared, { type: 'put', key: damaged, value: Buffer.alloc(7) }]);
  await migrate(rows);
  const left = await Array.fromAsync(preparedKeyTable.under(rows, []), ([[id = '']]) => preparedKeyTable.key(id));
  assert.equal(left.toSorted(), [prepared.key, damaged].toSorted());
});

test('records that do not read keep nothing else from being migrated', async () => {
  const rows = await memoryOf(earlier);
  const bodies = await Array.fromAsync(rows.range({ gte: 'body/eu/', lt: 'body/eu0' }));
  const [first, second] = bodies;
  assert.ok(first && second);
  await rows.write([
    { type: 'put', key: first[0], value: Buffer.from(bodyTable.decode(first[1]).replace('"kind"', '"kinds"')) },
    { type: 'put', key: second[0], value: Buffer.from([0xff]) },
  ]);
  await migrate(rows);
  assert.is(await requireFormat(rows), 'current');
  const kept = await count(rows, 'payload-key/');
  assert.ok(kept >= 64 && kept <= 65, `${kept} are found by fsck`);
});

test.run();

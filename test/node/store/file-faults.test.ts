import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readdir, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { checkLevelDbFiles } from '../../../node/store/leveldb/check-files.ts';
import type { Commit } from '../../../node/store/operation.ts';
import { Store, StoreError, WRITE_BUFFER_BYTES } from '../../../node/store/store.ts';
import { DISK_FAULTS, type DiskFault, failOnDisk } from '../../fixtures/failing-disk.ts';

const test = suite('a store on failing files');

const scratch = await mkdtemp(join(tmpdir(), 'faults-'));
test.after(() => rm(scratch, { recursive: true, force: true }));

const ROW_BYTES = 1 << 20;
/** A row that has no room in a file of half the size. In bytes. */
const LARGE_BYTES = 4 << 20;
/** Numbers of files that LevelDB may take next. */
const NEXT_FILES = 20;

/** More than any disk has room for; a file of so many bytes takes none. */
const NO_DISK_BYTES = 2 ** 43;

const put = (key: string, value: string | Uint8Array = key) =>
  ({ type: 'put', key, value: Buffer.from(value) }) as const;

/** Fails the next writes with these, in order; undefined lets one through. */
class FailingGate {
  readonly next: (DiskFault | undefined)[] = [];
  readonly gate = (commit: Commit): Promise<void> => {
    const fault = this.next.shift();
    return fault === undefined ? commit.sync() : failOnDisk(fault, commit);
  };
}

for (const fault of DISK_FAULTS) {
  test(`${fault}: the write is refused whole, reads go on, the next write mends the store`, async () => {
    const directory = join(scratch, fault);
    const disk = new FailingGate();
    {
      await using store = await Store.open(directory, { gate: disk.gate });
      await store.write([put('kept')]);
      disk.next.push(fault);
      await refused(store, [put('refused'), put('kept', 'changed'), { type: 'del', key: 'kept' }]);
      assert.is(store.failing, true);
      assert.equal(await textsOf(store, ['kept', 'refused']), ['kept', '']);
      await store.write([put('later')]);
      assert.is(store.failing, false);
      assert.equal(await textsOf(store, ['kept', 'refused', 'later']), ['kept', '', 'later']);
    }
    await using again = await Store.open(directory);
    assert.equal(await textsOf(again, ['kept', 'refused', 'later']), ['kept', '', 'later']);
  });

  test(`${fault}: nothing acknowledged is lost where the store is opened anew instead`, async () => {
    const directory = join(scratch, `${fault}-anew`);
    const disk = new FailingGate();
    {
      await using store = await Store.open(directory, { gate: disk.gate });
      for (let i = 0; i < 10; i++) await store.write([put(`kept/${i}`)]);
      disk.next.push(fault);
      await refused(store, [put('refused')]);
    }
    assert.equal(await damage(directory), []);
    await using again = await Store.open(directory);
    const keys = Array.from({ length: 10 }, (_, i) => `kept/${i}`);
    assert.equal(await textsOf(again, keys), keys);
    await again.write([put('later')]);
  });
}

test('writes that fail again and again are each refused, and none of them comes back', async () => {
  const disk = new FailingGate();
  const directory = join(scratch, 'again');
  {
    await using store = await Store.open(directory, { gate: disk.gate });
    await store.write([put('a', '0')]);
    for (const [i, fault] of [...DISK_FAULTS, ...DISK_FAULTS].entries()) {
      disk.next.push(fault);
      await refused(store, [put('a', `refused ${i}`), put(`refused/${i}`)]);
    }
    await store.write([put('b')]);
  }
  await using store = await Store.open(directory);
  assert.equal(await textsOf(store, ['a', 'b']), ['0', 'b']);
  assert.is(await store.first({ gte: 'refused/', lt: 'refused0' }), undefined);
});

test('where the disk has no room to open the database anew it stays open to reads, and is mended once there is room', async () => {
  const disk = new FailingGate();
  const directory = join(scratch, 'no-room');
  await using store = await Store.open(directory, { gate: disk.gate });
  await store.write([put('kept')]);
  disk.next.push('full');
  await refused(store, [put('refused')]);
  const large = join(directory, 'large.log');
  await writeFile(large, '');
  await truncate(large, NO_DISK_BYTES);
  for (let attempt = 0; attempt < 2; attempt++) {
    await refused(store, [put('refused')]);
    assert.is(await codeOf(store.recover()), 'write-failed');
    assert.equal([store.failing, await textsOf(store, ['kept', 'refused'])], [true, ['kept', '']]);
  }
  await rm(large);
  await store.write([put('later')]);
  assert.equal([store.failing, await textsOf(store, ['kept', 'refused', 'later'])], [false, ['kept', '', 'later']]);
});

test('where a failed write cannot be taken back no read sees it, and the store is mended once it can be', async () => {
  const directory = join(scratch, 'not-undone');
  const kept = 'kept'.repeat(LARGE_BYTES / 4);
  {
    await using store = await Store.open(directory);
    await store.write([put('kept', kept)]);
  }
  // Opened again, it has the large row in a table: its log is short, and what takes the failed write back is not.
  const disk = new FailingGate();
  await using store = await Store.open(directory, { gate: disk.gate });
  disk.next.push('unsynced');
  await refused(store, [put('kept', 'changed'), put('refused')]);
  limitFiles(String(LARGE_BYTES / 2));
  try {
    const attempt = { isOver: false };
    const recovering = codeOf(store.recover()).finally(() => {
      attempt.isOver = true;
    });
    const codes = new Set<string>();
    while (!attempt.isOver) {
      codes.add(await codeOf(store.get('refused').then((row) => assert.is(row, undefined))));
      await turn();
    }
    assert.is(await recovering, 'write-failed');
    const reads = [store.get('kept'), store.getMany(['refused']), store.first({ gte: 'kept' })];
    for (const read of reads) codes.add(await codeOf(read));
    assert.equal([...codes].toSorted(), ['none', 'unreadable']);
    assert.is(await codeOf(store.get('refused')), 'unreadable');
  } finally {
    limitFiles('unlimited');
  }
  await store.recover();
  assert.ok((await textsOf(store, ['kept', 'refused'])).every((text, i) => text === [kept, ''][i]));
});

test('a table that cannot be written refuses writes until it can; every acknowledged row is there then', async () => {
  const directory = join(scratch, 'table');
  const acknowledged = new Map<string, Buffer>();
  {
    await using store = await Store.open(directory);
    const obstacles = await obstructTables(directory);
    await writeUntilRefused(store, acknowledged);
    assert.is(await codeOf(store.recover()), 'write-failed', 'the table is needed to open the database anew');
    assert.is(await codeOf(store.get('row/0')), 'unreadable');
    assert.is(await codeOf(store.first({ gte: 'row/' })), 'unreadable');
    for (const obstacle of obstacles) await rm(obstacle, { recursive: true });
    await store.recover();
    await store.write([put('later')]);
    await requireRows(store, acknowledged);
  }
  assert.equal(await damage(directory), []);
  await using again = await Store.open(directory);
  await requireRows(again, acknowledged);
  assert.equal(await textsOf(again, ['later']), ['later']);
});

test.run();

/** Bytes that a file of this process may have from now on. */
function limitFiles(bytes: string): void {
  execFileSync('prlimit', ['--pid', String(process.pid), `--fsize=${bytes}:`]);
}

/** Folders in the places of the tables that LevelDB will write next: their creation fails. */
async function obstructTables(directory: string): Promise<string[]> {
  const numbers = (await readdir(directory)).map((name) => Number(/\d+/.exec(name)?.[0] ?? 0));
  const first = Math.max(...numbers) + 1;
  const paths = Array.from({ length: NEXT_FILES }, (_, i) =>
    join(directory, `${String(first + i).padStart(6, '0')}.ldb`),
  );
  for (const path of paths) await mkdir(path);
  return paths;
}

async function writeUntilRefused(store: Store, acknowledged: Map<string, Buffer>): Promise<void> {
  for (let i = 0; i < (3 * WRITE_BUFFER_BYTES) / ROW_BYTES; i++) {
    const value = randomBytes(ROW_BYTES);
    try {
      await store.write([put(`row/${i}`, value)]);
      acknowledged.set(`row/${i}`, value);
    } catch (error) {
      assert.instance(error, StoreError);
      return;
    }
  }
  assert.unreachable('no write was refused');
}

async function requireRows(store: Store, rows: ReadonlyMap<string, Buffer>): Promise<void> {
  for (const [key, value] of rows) assert.ok(value.equals((await store.get(key)) ?? Buffer.of()), `${key} is lost`);
}

async function refused(store: Store, operations: Parameters<Store['write']>[0]): Promise<void> {
  assert.is(await codeOf(store.write(operations)), 'write-failed');
}

async function codeOf(attempt: Promise<unknown>): Promise<string> {
  try {
    await attempt;
    return 'none';
  } catch (error) {
    return error instanceof StoreError ? error.code : String(error);
  }
}

async function textsOf(store: Store, keys: readonly string[]): Promise<string[]> {
  return (await store.getMany(keys)).map((value) => Buffer.from(value ?? []).toString());
}

async function damage(directory: string): Promise<string[]> {
  const found: string[] = [];
  for await (const { severity, code } of checkLevelDbFiles(directory)) if (severity === 'problem') found.push(code);
  return found;
}

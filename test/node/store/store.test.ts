import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Store, StoreError, type StoreErrorCode } from '../../../node/store/store.ts';

const STORE_MODULE = join(import.meta.dirname, '../../../node/store/store.ts');
const scratch = await mkdtemp(join(tmpdir(), 'meridian-store-'));
const value = (text: string): Uint8Array => Buffer.from(text);
const put = (key: string, text: string) => ({ type: 'put', key, value: value(text) }) as const;

test.after(() => rm(scratch, { recursive: true, force: true }));

async function codeOf(attempt: Promise<unknown>): Promise<StoreErrorCode | undefined> {
  try {
    await attempt;
    return undefined;
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    return error.code;
  }
}

/** A child process that opens the store, runs `then` with it, and says so. */
function otherProcess(directory: string, then: string) {
  const code = `
    const { Store } = await import(process.argv[1]);
    const store = await Store.open(process.argv[2]);
    ${then}
    console.log('done');
    process.stdin.resume();`;
  return spawn(process.execPath, ['--input-type=module', '-e', code, STORE_MODULE, directory]);
}

test('what was written is there after the store is opened again', async () => {
  const directory = join(scratch, 'again');
  {
    await using store = await Store.open(directory);
    await store.write([put('a', '1'), put('b', '2')]);
    await store.write([{ type: 'del', key: 'a' }, put('c', '')]);
    assert.is(store.writes, 2);
  }
  await using store = await Store.open(directory, { createIfMissing: false });
  assert.equal(await store.getMany(['a', 'b', 'c']), [undefined, value('2'), value('')]);
  assert.is(store.writes, 0);
});

test('a row is rewritten as it is when the write is applied, whatever is written with it', async () => {
  await using store = await Store.open(join(scratch, 'rewritten'));
  const append = (key: string, more: string) =>
    ({ type: 'rewrite', key, rewrite: (row: Uint8Array) => Buffer.concat([row, Buffer.from(more)]) }) as const;
  await store.write([put('a', '0'), put('b', '0')]);
  await Promise.all([
    ...Array.from({ length: 9 }, (_, i) => store.write([append('a', String(i + 1))])),
    store.write([append('b', '1'), put('b', '2'), append('b', '3'), append('none', 'x')]),
    store.write([{ type: 'del', key: 'c' }, append('c', '1'), put('c', '2'), append('c', '3')]),
  ]);
  const rows = await store.getMany(['a', 'b', 'c', 'none']);
  assert.equal(
    rows.map((row) => row && Buffer.from(row).toString()),
    ['0123456789', '23', '23', undefined],
  );
});

test('a write that resolved survives the death of its process', async () => {
  const directory = join(scratch, 'killed');
  const child = otherProcess(directory, `await store.write([{ type: 'put', key: 'k', value: Buffer.from('kept') }]);`);
  await once(child.stdout, 'data');
  child.kill('SIGKILL');
  await once(child, 'exit');
  await using store = await Store.open(directory);
  assert.equal(await store.get('k'), value('kept'));
});

test('two processes cannot open one store; once the first is gone, the second can', async () => {
  const directory = join(scratch, 'locked');
  const child = otherProcess(directory, '');
  await once(child.stdout, 'data');
  assert.is(await codeOf(Store.open(directory)), 'locked');
  child.kill();
  await once(child, 'exit');
  await using store = await Store.open(directory);
  assert.is(await store.get('k'), undefined);
});

test('one process cannot open it twice either', async () => {
  const directory = join(scratch, 'twice');
  await using store = await Store.open(directory);
  assert.is(await codeOf(Store.open(directory)), 'locked');
  await store.write([put('k', 'v')]);
});

test('a store that is not there is not made unless it may be', async () => {
  assert.is(await codeOf(Store.open(join(scratch, 'absent'), { createIfMissing: false })), 'unreadable');
});

test('a folder that holds no database is refused', async () => {
  const directory = join(scratch, 'odd');
  await mkdir(directory);
  await writeFile(join(directory, 'CURRENT'), 'nonsense\n');
  assert.is(await codeOf(Store.open(directory)), 'unreadable');
});

test('its folder is closed to other users', async () => {
  const directory = join(scratch, 'private');
  await using store = await Store.open(directory);
  assert.is((await stat(store.directory)).mode & 0o077, 0);
});

test('a write to a closed store is refused', async () => {
  const store = await Store.open(join(scratch, 'closed'));
  await store[Symbol.asyncDispose]();
  assert.is(await codeOf(store.write([put('k', 'v')])), 'write-failed');
});

test('a refused write leaves nothing of it, and is not counted', async () => {
  await using store = await Store.open(join(scratch, 'refused'));
  const bad = [put('whole', '1'), JSON.parse('{"type":"update","key":"part"}')];
  assert.is(await codeOf(store.write(bad)), 'write-failed');
  assert.is(await store.get('whole'), undefined);
  assert.is(store.writes, 0);
});

test('a range is a snapshot, in byte order, and first is its first row', async () => {
  await using store = await Store.open(join(scratch, 'range'));
  await store.write([put('b/2', '2'), put('a', '0'), put('b/1', '1'), put('b/é', 'e'), put('c', '9')]);
  const keys: string[] = [];
  for await (const [key] of store.range({ gte: 'b/', lt: 'b0' })) {
    if (keys.length === 0) await store.write([put('b/3', 'late'), { type: 'del', key: 'b/2' }]);
    keys.push(key);
  }
  assert.equal(keys, ['b/1', 'b/2', 'b/é']);
  assert.equal(await store.first({ gt: 'b/1' }), ['b/3', value('late')]);
  assert.equal(await store.first({ lte: 'b/9', reverse: true }), ['b/3', value('late')]);
  assert.is(await store.first({ gt: 'x' }), undefined);
});

test.run();

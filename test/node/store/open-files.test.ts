import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Level } from 'level';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { MAX_OPEN_FILES, Store } from '../../../node/store/store.ts';
import { testWhere } from '../../fixtures/test-where.ts';

const FILES = 2 * MAX_OPEN_FILES;

const home = await mkdtemp(join(tmpdir(), 'meridian-open-files-'));
const directory = join(home, 'store');
await writeFiles();
test.after(() => rm(home, { recursive: true, force: true }));

function keyOf(index: number): string {
  return `row!${String(index).padStart(6, '0')}`;
}

/** Each row in a table file of its own. */
async function writeFiles(): Promise<void> {
  const level = new Level<string, Uint8Array>(directory, { valueEncoding: 'view' });
  const compact: unknown = Reflect.get(level, 'compactRange');
  if (typeof compact !== 'function') throw new Error('this is no LevelDB');
  for (let i = 0; i < FILES; i++) {
    await level.put(keyOf(i), Buffer.from(keyOf(i)));
    await compact.call(level, keyOf(i), keyOf(i));
  }
  await level.close();
}

async function readAll(store: Store): Promise<void> {
  for (let i = 0; i < FILES; i++) assert.is(String(await store.get(keyOf(i))), keyOf(i));
  assert.is((await Array.fromAsync(store.range({ gte: keyOf(0) }))).length, FILES);
}

/** Table files of the store that this process has mapped (Linux). */
async function mappedFiles(): Promise<number> {
  const maps = await readFile('/proc/self/maps', 'utf8');
  const names = maps.split('\n').flatMap((line) => /\S+\.ldb$/.exec(line) ?? []);
  return new Set(names.filter((name) => name.startsWith(directory))).size;
}

test('a store of more files than are open at a time is read whole, again and again', async () => {
  const tables = (await readdir(directory)).filter((name) => name.endsWith('.ldb'));
  assert.ok(tables.length > MAX_OPEN_FILES, `${tables.length} files`);
  await using store = await Store.open(directory);
  await readAll(store);
  await readAll(store);
});

testWhere(process.platform === 'linux', 'mapped files are counted on Linux alone')(
  'a store keeps so many files mapped and no more',
  async () => {
    await using store = await Store.open(directory);
    await readAll(store);
    const mapped = await mappedFiles();
    assert.ok(mapped > 0 && mapped <= MAX_OPEN_FILES, `${mapped} files`);
  },
);

test.run();

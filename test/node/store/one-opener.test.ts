import { spawnSync } from 'node:child_process';
import { link, mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Store, StoreError } from '../../../node/store/store.ts';

const STORE = join(import.meta.dirname, '../../../node/store/store.ts');

async function codeHere(directory: string): Promise<string> {
  try {
    await using _store = await Store.open(directory);
    return 'opened';
  } catch (error) {
    return error instanceof StoreError ? error.code : String(error);
  }
}

/** The same in a process of its own. */
function codeElsewhere(directory: string): string {
  const script =
    `const { Store } = await import(${JSON.stringify(STORE)});\n` +
    `await Store.open(${JSON.stringify(directory)}).then(() => console.log('opened'), (error) => console.log(error.code));\n` +
    'process.exit();';
  return spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' }).stdout.trim();
}

test('a store has one opener, whatever path another one comes by, in this process or in another', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'meridian-opener-'));
  const [store, alias, linked] = [join(folder, 'store'), join(folder, 'alias'), join(folder, 'twin')];
  await symlink(folder, alias);
  {
    await using _first = await Store.open(store);
    const paths = [store, join(alias, 'store'), join(store, '..', 'store')];
    for (const path of paths) assert.equal([path, await codeHere(path)], [path, 'locked']);
    for (const path of paths) assert.equal([path, codeElsewhere(path)], [path, 'locked']);
    // Another name for the lock itself, as a second mount of the disk would give.
    await mkdir(linked);
    await link(join(store, 'LOCK'), join(linked, 'LOCK'));
    assert.is(codeElsewhere(linked), 'locked');
    assert.is(codeElsewhere(store), 'locked', 'what was refused did not take the lock away');
  }
  assert.is(codeElsewhere(join(alias, 'store')), 'opened');
  await rm(folder, { recursive: true });
});

test.run();

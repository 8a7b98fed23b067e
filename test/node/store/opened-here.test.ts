import { link, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { holdHere } from '../../../node/store/store.ts';

const scratch = await mkdtemp(join(tmpdir(), 'meridian-hold-'));
test.after(() => rm(scratch, { recursive: true, force: true }));

/** Whether nobody in this process has the folder; what it takes is given back at once. */
async function isFree(directory: string): Promise<boolean> {
  const hold = await holdHere(directory);
  hold?.release();
  return hold !== undefined;
}

test('a folder is claimed before there is a lock file in it, under whatever name', async () => {
  const [folder, alias] = [join(scratch, 'new'), join(scratch, 'alias')];
  await mkdir(folder);
  await symlink(folder, alias);
  const hold = await holdHere(folder);
  assert.ok(hold);
  assert.equal([await isFree(folder), await isFree(alias)], [false, false]);
  hold.release();
  assert.equal([await isFree(folder), await isFree(alias)], [true, true]);
  const both = await Promise.all([holdHere(folder), holdHere(alias)]);
  assert.is(both.filter((one) => one !== undefined).length, 1);
  for (const one of both) one?.release();
});

test('a lock file is claimed with its folder where it is there, and once it is where it comes later', async () => {
  for (const isThere of [true, false]) {
    const [folder, linked] = [join(scratch, `store-${isThere}`), join(scratch, `twin-${isThere}`)];
    for (const path of [folder, linked]) await mkdir(path);
    const create = async () => {
      await writeFile(join(folder, 'LOCK'), '');
      await link(join(folder, 'LOCK'), join(linked, 'LOCK'));
    };
    if (isThere) await create();
    const hold = await holdHere(folder);
    assert.ok(hold);
    if (!isThere) {
      await create();
      await hold.lock();
    }
    assert.is(await isFree(linked), false);
    hold.release();
    assert.is(await isFree(linked), true);
  }
});

test.run();

import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { anvilOn } from '../../../cluster/chain/anvil.ts';

const scratch = await mkdtemp(join(tmpdir(), 'meridian-anvil-'));

test.after(() => rm(scratch, { recursive: true, force: true }));

test('the first anvil on the PATH is taken, and npm’s launcher, which may have nothing to launch, is none', async () => {
  const [bare, launcher, unusable, first, second] = await Promise.all(
    ['bare', 'launcher', 'unusable', 'first', 'second'].map((name) => mkdir(join(scratch, name), { recursive: true })),
  );
  assert.ok(bare && launcher && unusable && first && second);
  const packaged = join(scratch, 'node_modules/@foundry-rs/anvil');
  await mkdir(packaged, { recursive: true });
  await program(join(packaged, 'bin.mjs'));
  await symlink(join(packaged, 'bin.mjs'), join(launcher, 'anvil'));
  await writeFile(join(unusable, 'anvil'), '');
  const without = [bare, launcher, unusable, join(scratch, 'nowhere'), ''];
  assert.is(anvilOn(without.join(delimiter)), null);
  for (const folder of [first, second]) await program(join(folder, 'anvil'));
  assert.is(anvilOn([...without, first, second].join(delimiter)), join(first, 'anvil'));
});

async function program(path: string): Promise<void> {
  await writeFile(path, '#!/bin/sh\n');
  await chmod(path, 0o755);
}

test.run();

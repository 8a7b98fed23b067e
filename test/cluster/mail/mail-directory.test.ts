import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { MailDirectory } from '../../../cluster/mail/mail-directory.ts';

const home = await mkdtemp(join(tmpdir(), 'meridian-mails-'));
const clock = Date.now;

test.after(() => rm(home, { recursive: true, force: true }));
test.after.each(() => {
  Date.now = clock;
});

test('makes the folder for its owner only, and takes away what a killed run left unfinished, nothing else', async () => {
  const path = join(home, 'a', 'mail');
  const first = await MailDirectory.open(path);
  assert.is((await stat(path)).mode & 0o777, 0o700);
  const kept = await first.keep(Buffer.from('kept'));
  await writeFile(join(path, '20260101T000000000Z-000009-abcdef.eml.new'), 'hal');
  await writeFile(join(path, 'mail.log'), 'log');
  await MailDirectory.open(path);
  assert.equal((await readdir(path)).sort(), [kept, 'mail.log'].sort());
  assert.is(await readFile(join(path, kept), 'utf8'), 'kept');
});

test('never gives a name twice, also when many are kept at once, the clock goes back, or the sink starts anew', async () => {
  const path = join(home, 'names');
  const names: string[] = [];
  for (const now of [1_800_000_000_000, 1_700_000_000_000, 1_800_000_000_000]) {
    Date.now = () => now;
    const directory = await MailDirectory.open(path);
    names.push(...(await Promise.all(Array.from({ length: 20 }, (_, i) => directory.keep(Buffer.from(String(i)))))));
  }
  assert.is(new Set(names).size, 60);
  assert.is((await readdir(path)).length, 60);
});

test('keeps the order of names within a run when the clock goes back', async () => {
  const directory = await MailDirectory.open(join(home, 'order'));
  const names: string[] = [];
  for (const now of [1_800_000_000_000, 1_700_000_000_000, 1_800_000_000_001]) {
    Date.now = () => now;
    names.push(await directory.keep(Buffer.from('')));
  }
  assert.equal([...names].sort(), names);
});

test.run();

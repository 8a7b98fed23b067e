import { existsSync } from 'node:fs';
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { KEY_FILE_PURPOSES } from '../../../node/keys/key-file.ts';
import { startTable } from '../../../node/log/start-tables.ts';
import { payloadTable } from '../../../node/records/payload/payload-tables.ts';
import { Store } from '../../../node/store/store.ts';
import { backupCommand } from '../../../scripts/backup/command.ts';
import { restoreCommand } from '../../../scripts/restore/command.ts';
import { writeHome } from '../../node/fsck/home.ts';

const NEVER = new AbortController().signal;
/** A row that nothing follows from: without it the store is as whole as before. */
const LOST = 'idempotency/lost';
const folder = await mkdtemp(join(tmpdir(), 'meridian-stopped-'));
const written = join(folder, 'eu');
test.after(() => rm(folder, { recursive: true }));

test.before(async () => {
  await writeHome(written, 1);
  await using store = await Store.open(join(written, 'store'));
  await store.write([{ type: 'put', key: LOST, value: Uint8Array.of(1) }]);
  await store.write([{ type: 'del', key: LOST }]);
});

async function backUp(home: string, ...more: string[]) {
  const to = join(home, '..', 'backup');
  const lines: string[] = [];
  const terminal = { out: (line: string) => void lines.push(line), err: (line: string) => void lines.push(line) };
  const exit = await backupCommand(['--home', home, '--to', to, ...more], terminal, NEVER);
  return { exit, text: lines.join('\n'), isThere: existsSync(to) };
}

/** A copy of the home that was written, in a folder of its own. */
async function homeOf(name: string): Promise<string> {
  const home = join(folder, name, 'eu');
  await cp(written, home, { recursive: true });
  return home;
}

/** Names and bytes of a store's files. */
async function filesOf(home: string): Promise<ReadonlyMap<string, string>> {
  const directory = join(home, 'store');
  const names = (await readdir(directory)).toSorted();
  return new Map(
    await Promise.all(names.map(async (name) => [name, await readFile(join(directory, name), 'hex')] as const)),
  );
}

/** Flips a bit of the last place where a file of the store holds these bytes, and returns the file's name. */
async function damage(home: string, bytes: Uint8Array, extension: string): Promise<string> {
  for (const name of (await readdir(join(home, 'store'))).filter((file) => file.endsWith(extension))) {
    const path = join(home, 'store', name);
    const content = await readFile(path);
    const at = content.lastIndexOf(bytes);
    if (at < 0) continue;
    content.writeUInt8(content.readUInt8(at) ^ 1, at);
    await writeFile(path, content);
    return name;
  }
  throw new Error('no file holds it');
}

/** Bytes of a payload as they stand in a table. Opening the store folds its log into one. */
async function payloadBytes(home: string): Promise<Uint8Array> {
  await using store = await Store.open(join(home, 'store'));
  const row = await store.first({ gte: `${payloadTable.name}/` });
  if (row === undefined) throw new Error('no payload');
  return row[1].subarray(-32);
}

test('a stopped node whose log or tables are damaged is not backed up, and its files stay as they are', async () => {
  for (const [extension, bytesOf] of [
    ['.log', async () => Buffer.from(LOST)],
    ['.ldb', payloadBytes],
  ] as const) {
    const home = await homeOf(extension.slice(1));
    const file = await damage(home, await bytesOf(home), extension);
    const before = await filesOf(home);
    const { exit, text, isThere } = await backUp(home);
    assert.equal([exit, isThere], [1, false]);
    assert.match(text, `the store is damaged, as npm run fsck tells: ${file}`);
    assert.equal(await filesOf(home), before);
  }
});

test('a stopped node whose rows do not read is not backed up, and what is wrong is told in words', async () => {
  for (const rows of ['group/eu/', 'envelope/eu/', 'given-rosters/', 'log-state/', 'log-roster/']) {
    const home = await homeOf(`unread-${rows.replaceAll('/', '-')}`);
    {
      await using store = await Store.open(join(home, 'store'));
      const row = await store.first({ gte: rows, lt: `${rows}\u{10ffff}`, reverse: true });
      if (row === undefined) throw new Error(`no row ${rows}`);
      await store.write([{ type: 'put', key: row[0], value: Buffer.from('text') }]);
    }
    const { exit, text, isThere } = await backUp(home);
    assert.equal([exit, isThere], [1, false], rows);
    assert.match(text, /^backup: (the store is damaged, as npm run fsck tells|fsck finds)/, rows);
  }
});

test('a stopped node is backed up without a byte of its store being changed', async () => {
  const home = await homeOf('whole');
  const before = await filesOf(home);
  const { exit, text, isThere } = await backUp(home);
  assert.equal([exit, isThere], [0, true], text);
  assert.equal(await filesOf(home), before);
});

test('the backup of a node that was stopped in order does not say so of the copy, which waits when it starts', async () => {
  const home = await homeOf('in-order');
  {
    await using store = await Store.open(join(home, 'store'));
    await store.write([startTable.put(['signed'], 1), startTable.put(['stopped'], 1)]);
  }
  const { exit, text } = await backUp(home);
  assert.is(exit, 0, text);
  await using copy = await Store.open(join(home, '..', 'backup', 'store'));
  const marks = await Array.fromAsync(startTable.under(copy, []), ([parts]) => parts.join());
  assert.equal(marks, ['signed']);
});

test('the backup says what of it could not be checked: payloads, where no key opens them', async () => {
  const { text } = await backUp(await homeOf('words'));
  assert.match(text, 'not checked: payloads: there is no payload key to open them with');
  const { notChecked } = JSON.parse((await backUp(await homeOf('json'), '--json')).text);
  assert.ok(notChecked.includes('payloads: there is no payload key to open them with'));
  const passphrase = join(folder, 'passphrase');
  await writeFile(passphrase, 'a passphrase of a test\n');
  const keyed = await backUp(await homeOf('keyed'), '--with-keys', '--passphrase-file', passphrase);
  assert.not.match(keyed.text, 'not checked');
});

test('a restore says what of the home could not be checked: its keys and payloads, where no passphrase opens them', async () => {
  const home = await homeOf('restored');
  const passphrase = join(folder, 'passphrase');
  await writeFile(passphrase, 'a passphrase of a test\n');
  await backUp(home, '--with-keys', '--passphrase-file', passphrase);
  const restore = async (to: string, ...more: string[]): Promise<string> => {
    const lines: string[] = [];
    const terminal = { out: (line: string) => void lines.push(line), err: (line: string) => void lines.push(line) };
    const args = [join(home, '..', 'backup'), '--home', join(home, '..', to), ...more];
    assert.is(await restoreCommand(args, terminal, NEVER), 0, lines.join('\n'));
    return lines.join('\n');
  };
  const text = await restore('unopened');
  for (const purpose of KEY_FILE_PURPOSES) assert.match(text, `not checked: ${purpose}.key: it is encrypted`);
  assert.match(text, 'not checked: payloads: there is no payload key to open them with');
  assert.not.match(await restore('opened', '--passphrase-file', passphrase), 'not checked');
});

test('a folder that is no home of a node is told in words', async () => {
  const { exit, text } = await backUp(join(folder, 'nowhere', 'eu'));
  assert.is(exit, 1);
  assert.match(text, 'is no home of a node: it has no store/');
});

test.run();

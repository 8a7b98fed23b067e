import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { filesBelow } from '../../../../node/fsck/backup/folder.ts';
import { describeFile, MANIFEST_FILE, manifestText } from '../../../../node/fsck/backup/manifest.ts';
import { fsckCommand } from '../../../../node/fsck/command.ts';
import { Store } from '../../../../node/store/store.ts';
import { nodeId } from '../../../../protocol/ids.ts';
import { timestampOf } from '../../../../protocol/time.ts';
import { backupCommand } from '../../../../scripts/backup/command.ts';
import { restoreCommand } from '../../../../scripts/restore/command.ts';

const REFUSAL = /^\w+: the store is of the 0\.1 release, and this one does not read it: start with an empty home.*$/;
const NEVER = new AbortController().signal;
const folder = await mkdtemp(join(tmpdir(), 'meridian-old-'));
const home = join(folder, 'eu');
test.after(() => rm(folder, { recursive: true }));

test.before(async () => {
  await using store = await Store.open(join(home, 'store'));
  await store.write([{ type: 'put', key: 'group/eu/0000000000000001', value: Buffer.from('{}') }]);
});

interface Told {
  readonly exit: number;
  readonly lines: readonly string[];
}

async function told(command: typeof restoreCommand | typeof backupCommand, ...args: string[]): Promise<Told> {
  const lines: string[] = [];
  const terminal = { out: (line: string) => void lines.push(line), err: (line: string) => void lines.push(line) };
  return { exit: await command(args, terminal, NEVER), lines };
}

test('fsck refuses a store of the 0.1 release in one line that says what to do', async () => {
  const texts: string[] = [];
  const screen = { write: (text: string) => void texts.push(text) };
  assert.is(await fsckCommand([home], screen, screen), 2);
  assert.is(texts.length, 1);
  assert.match(texts[0]?.trimEnd() ?? '', REFUSAL);
});

test('backup refuses to copy it, and restore to make a home of an old backup', async () => {
  const to = join(folder, 'backup');
  const backup = await told(backupCommand, '--home', home, '--to', to);
  assert.equal([backup.exit, backup.lines.length, existsSync(to)], [1, 1, false]);
  assert.match(backup.lines[0] ?? '', REFUSAL);

  const files = [];
  for (const path of await filesBelow(home)) files.push(await describeFile(home, path));
  const held = { batch: 0, next: 1 };
  const copy = { takenAt: timestampOf(Date.UTC(2026, 0, 1)), held, unsealed: 1, rows: 1, bytes: 1 };
  const manifest = {
    v: 1,
    type: 'backup',
    node: nodeId('eu'),
    federation: null,
    copy,
    withKeys: false,
    files,
  } as const;
  await writeFile(join(home, MANIFEST_FILE), manifestText(manifest));
  const restored = join(folder, 'restored');
  const restore = await told(restoreCommand, home, '--home', restored);
  assert.equal([restore.exit, restore.lines.length, existsSync(restored)], [1, 1, false]);
  assert.match(restore.lines[0] ?? '', REFUSAL);
});

test.run();

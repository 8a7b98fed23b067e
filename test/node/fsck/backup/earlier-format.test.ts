import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { fsck } from '../../../../node/fsck/fsck.ts';
import { openNodeStore } from '../../../../node/fsck/migration/migrate-store.ts';
import { type FormatState, requireFormat } from '../../../../node/store/format.ts';
import { Store } from '../../../../node/store/store.ts';
import { backupCommand } from '../../../../scripts/backup/command.ts';
import { restoreCommand } from '../../../../scripts/restore/command.ts';
import { makeEarlier } from '../../../fixtures/earlier-store.ts';
import { EU, writeHome } from '../home.ts';

const NEVER = new AbortController().signal;
const folder = await mkdtemp(join(tmpdir(), 'meridian-earlier-'));
const home = join(folder, 'eu');
test.after(() => rm(folder, { recursive: true }));

test.before(async () => {
  await writeHome(home, 1);
  await using store = await Store.open(join(home, 'store'));
  await makeEarlier(store);
});

async function run(command: typeof restoreCommand | typeof backupCommand, ...args: string[]): Promise<void> {
  const lines: string[] = [];
  const terminal = { out: (line: string) => void lines.push(line), err: (line: string) => void lines.push(line) };
  assert.is(await command(args, terminal, NEVER), 0, lines.join('\n'));
}

async function formatOf(place: string): Promise<FormatState> {
  await using store = await Store.open(join(place, 'store'), { createIfMissing: false });
  return await requireFormat(store);
}

test('a store of the format before is backed up and restored as it is, and migrated when a node starts on it', async () => {
  const [to, restored] = [join(folder, 'backup'), join(folder, 'restored')];
  const before = (await fsck(home)).report.counts;
  await run(backupCommand, '--home', home, '--to', to);
  await run(restoreCommand, to, '--home', restored);
  for (const place of [home, to, restored]) assert.is(await formatOf(place), 3, place);
  {
    await using store = await openNodeStore(restored, { node: EU });
    assert.is(await requireFormat(store), 'current');
  }
  const { report } = await fsck(restored);
  assert.equal(
    report.findings.filter(({ severity }) => severity !== 'note'),
    [],
  );
  const { restorations, keyFiles, ...counts } = report.counts;
  assert.equal([restorations, counts.payloadsErased], [before.restorations + 1, 1]);
  assert.is(keyFiles, 0);
  assert.is(counts.payloadsOpened, 0, 'the keys stayed behind');
  assert.equal([counts.records, counts.batches], [before.records, before.batches]);
});

test.run();

import { existsSync } from 'node:fs';
import { appendFile, cp, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { readRestorations, restorationTable } from '../../../../node/federation/start/restoration-table.ts';
import { copyStore } from '../../../../node/fsck/backup/copy-store.ts';
import { BackupError, type BackupErrorCode, filesBelow, leftovers } from '../../../../node/fsck/backup/folder.ts';
import {
  describeFile,
  type Manifest,
  MANIFEST_FILE,
  manifestText,
  readManifest,
} from '../../../../node/fsck/backup/manifest.ts';
import { restoreBackup } from '../../../../node/fsck/backup/restore-backup.ts';
import { type KeyTerms, takeBackup } from '../../../../node/fsck/backup/take-backup.ts';
import { fsck } from '../../../../node/fsck/fsck.ts';
import { payloadKeyTable, preparedKeyTable } from '../../../../node/records/payload/payload-keys.ts';
import { payloadTable } from '../../../../node/records/payload/payload-tables.ts';
import type { Operation } from '../../../../node/store/operation.ts';
import { Store } from '../../../../node/store/store.ts';
import { timestampOf } from '../../../../protocol/time.ts';
import { EU, writeHome } from '../home.ts';

const NEVER = new AbortController().signal;
const folder = await mkdtemp(join(tmpdir(), 'meridian-restore-'));
const home = join(folder, 'eu');
const backup = join(folder, 'backup');
const restored = join(folder, 'restored');
test.after(() => rm(folder, { recursive: true }));

test.before(async () => {
  await writeHome(home, 1);
  for (const name of ['list', '.unfinished']) {
    await mkdir(join(home, 'lists', name), { recursive: true });
    await writeFile(join(home, 'lists', name, 'names'), 'a name\n');
  }
  await take(backup);
});

async function take(to: string, keys: KeyTerms | null = null, from = home): Promise<Manifest> {
  const copy = async (directory: string) => {
    await using store = await Store.open(join(from, 'store'));
    return { node: EU, copy: await copyStore(store, directory, EU, Date.now, NEVER) };
  };
  return (await takeBackup({ home: from, to, copyStore: copy, keys, signal: NEVER })).manifest;
}

async function restore(from: string): Promise<Manifest> {
  return (await restoreBackup({ from, home: restored, passphrase: null, signal: NEVER })).manifest;
}

async function refused(doing: Promise<unknown>, code: BackupErrorCode, detail: RegExp, where: string): Promise<void> {
  const error: unknown = await doing.catch((thrown: unknown) => thrown);
  assert.ok(error instanceof BackupError, String(error));
  assert.is(error.code, code, error.message);
  assert.match(error.message, detail);
  assert.equal(await leftovers(where), [], 'nothing is left that could pass for one');
}

/** Makes the manifest tell of the files as they are now, and of what else a test changes. */
async function tell(place: string, change: (manifest: Manifest) => Manifest = (manifest) => manifest): Promise<void> {
  const files = [];
  for (const path of await filesBelow(place)) if (path !== MANIFEST_FILE) files.push(await describeFile(place, path));
  await writeFile(join(place, MANIFEST_FILE), manifestText(change({ ...(await readManifest(place)), files })));
}

/** Changes the store of a backup, which then holds no files but those of its rows. */
async function inStore(place: string, work: (store: Store) => Promise<void>): Promise<void> {
  {
    await using store = await Store.open(join(place, 'store'));
    await work(store);
  }
  await tell(place);
}

const ELSEWHERE = timestampOf(0);
const DAMAGES: readonly (readonly [
  what: string,
  code: BackupErrorCode,
  detail: RegExp,
  damage: (place: string) => Promise<void>,
])[] = [
  ['it has no manifest', 'no-backup', /no finished backup/, (place) => rm(join(place, MANIFEST_FILE))],
  [
    'its manifest is of another form',
    'no-backup',
    /another form/,
    (place) => writeFile(join(place, MANIFEST_FILE), '{}'),
  ],
  ['a file is missing', 'damaged', /rosters.json is missing/, (place) => rm(join(place, 'rosters.json'))],
  ['a file is no part of it', 'damaged', /stray is no part/, (place) => writeFile(join(place, 'stray'), '')],
  ['a file is longer', 'damaged', /not the file/, (place) => appendFile(join(place, 'rosters.json'), ' ')],
  [
    'a byte of a file is another',
    'damaged',
    /not the file/,
    async (place) => {
      const path = join(place, 'rosters.json');
      await writeFile(path, (await readFile(path, 'utf8')).replace('{', '['));
    },
  ],
  [
    'its manifest names a file outside',
    'damaged',
    /missing/,
    async (place) => {
      const outside = await describeFile(join(place, '..'), 'outside');
      await tell(place, (manifest) => ({
        ...manifest,
        files: [...manifest.files, { ...outside, path: '../outside' }],
      }));
    },
  ],
  [
    'its store does not say that it is a copy',
    'damaged',
    /does not say that it is a copy/,
    (place) =>
      inStore(place, async (store) => {
        const rows = await readRestorations(store, EU);
        await store.write(rows.map(({ takenAt }) => restorationTable.del(EU, takenAt)));
      }),
  ],
  [
    'its store is a copy that became the node',
    'damaged',
    /does not say that it is a copy/,
    (place) =>
      inStore(place, async (store) => {
        const rows = await readRestorations(store, EU);
        const settled = { at: ELSEWHERE, end: { batch: 1, next: 2 }, sealedAt: null, peers: [], sequence: '1' };
        await store.write(rows.map((row) => restorationTable.put([EU, row.takenAt], { ...row, settled })));
      }),
  ],
  [
    'its store is another copy',
    'damaged',
    /does not say that it is a copy/,
    (place) => tell(place, (manifest) => ({ ...manifest, copy: { ...manifest.copy, takenAt: ELSEWHERE } })),
  ],
  [
    'its store is not whole',
    'not-whole',
    /fsck finds/,
    (place) =>
      inStore(place, async (store) => {
        const row = await store.first({ gte: 'payload-keys/' });
        if (row === undefined) throw new Error('no row');
        await store.write([{ type: 'del', key: row[0] }]);
      }),
  ],
];

for (const [what, code, detail, damage] of DAMAGES) {
  test(`a backup is refused, and leaves no home: ${what}`, async () => {
    const place = join(folder, 'damaged');
    await writeFile(join(folder, 'outside'), 'outside');
    await cp(backup, place, { recursive: true });
    await damage(place);
    await refused(restore(place), code, detail, restored);
    assert.not(existsSync(restored));
    await rm(place, { recursive: true });
  });
}

test('a home is made of a backup where there is nothing, with all that was in it and no more', async () => {
  await mkdir(restored);
  const manifest = await restore(backup);
  const paths = manifest.files.map(({ path }) => path);
  assert.ok(paths.includes('lists/list/names'));
  assert.not(paths.some((path) => path.includes('unfinished') || path.startsWith('keys/')));
  const found = await filesBelow(restored);
  assert.equal(
    found.filter((path) => !path.startsWith('store/')),
    paths.filter((path) => !path.startsWith('store/')),
  );
  {
    await using store = await Store.open(join(restored, 'store'), { createIfMissing: false });
    assert.is((await readRestorations(store, EU)).at(-1)?.settled, null);
  }
  for (const [place, copies] of [
    [home, []],
    [restored, ['note']],
  ] as const) {
    const { findings } = (await fsck(place)).report;
    const told = findings.filter(
      ({ table, detail }) => table === restorationTable.name && detail.includes('signs nothing'),
    );
    assert.equal(
      told.map(({ severity }) => severity),
      copies,
      place,
    );
  }
  await refused(restore(backup), 'target', /something in/, restored);
  assert.ok(existsSync(join(restored, 'store')), 'what was there stays');
});

test('no backup is taken where something is, of what is not whole, or with keys in clear', async () => {
  await refused(take(backup), 'target', /something in/, backup);
  const to = join(folder, 'second');
  await refused(take(to, { passphrase: null }), 'keys', /not encrypted/, to);
  const broken = join(folder, 'broken');
  await cp(home, broken, { recursive: true });
  await rm(join(broken, 'store', 'LOCK'), { force: true });
  {
    await using store = await Store.open(join(broken, 'store'));
    const row = await store.first({ gte: 'payload-keys/' });
    if (row === undefined) throw new Error('no row');
    await store.write([{ type: 'del', key: row[0] }]);
  }
  await refused(take(to, null, broken), 'not-whole', /fsck finds/, to);
  assert.not(existsSync(to));
});

test('of a store without payloads, as one whose node took its chain back, a backup without keys is taken and restored', async () => {
  const place = join(folder, 'taken-back');
  await cp(home, place, { recursive: true });
  {
    await using store = await Store.open(join(place, 'store'));
    const lost: Operation[] = [];
    for (const { name } of [payloadTable, payloadKeyTable, preparedKeyTable]) {
      for await (const [key] of store.range({ gte: `${name}/`, lt: `${name}0` })) lost.push({ type: 'del', key });
    }
    await store.write(lost);
  }
  const [to, back] = [join(folder, 'keyless'), join(folder, 'keyless-home')];
  assert.is((await take(to, null, place)).node, EU);
  await restoreBackup({ from: to, home: back, passphrase: null, signal: NEVER });
  assert.is((await fsck(back)).node, EU);
});

test('a copy is made into a new store alone, and says what it is before it holds anything else', async () => {
  await using store = await Store.open(join(home, 'store'));
  const there = join(backup, '..', 'there');
  await rename(restored, there);
  await refused(copyStore(store, join(there, 'store'), EU, Date.now, NEVER), 'target', /a store/, there);
  const over = new AbortController();
  over.abort(new Error('called off'));
  const cut = join(folder, 'cut');
  const error: unknown = await copyStore(store, cut, EU, () => 0, over.signal).catch((thrown: unknown) => thrown);
  assert.match(String(error), 'called off');
  await using copy = await Store.open(cut);
  assert.equal(
    (await readRestorations(copy, EU))
      .map(({ takenAt, settled }) => [takenAt, settled])
      .filter(([at]) => at === ELSEWHERE),
    [[ELSEWHERE, null]],
  );
  assert.ok((await readdir(cut)).length > 0);
});

test('a copy that fails at once is told to who follows it, and nothing of it is left', async () => {
  const to = join(folder, 'failing');
  const failure = new Error('the node refuses');
  const copy = () => Promise.reject(failure);
  const followed = { home, to, copyStore: copy, keys: null, signal: NEVER, progress: { onCopied: () => {} } };
  assert.is(await takeBackup(followed).catch((error: unknown) => error), failure);
  assert.equal(await leftovers(to), []);
});

test.run();

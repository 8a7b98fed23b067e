import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Store } from '../../../node/store/store.ts';
import { filesHolding } from '../../fixtures/store-files.ts';

const scratch = await mkdtemp(join(tmpdir(), 'meridian-purge-'));
test.after(() => rm(scratch, { recursive: true, force: true }));

/** Random bytes: LevelDB stores them as they are, in one piece. */
const secret = (): Uint8Array => randomBytes(32);
const put = (key: string, value: Uint8Array) => ({ type: 'put', key, value }) as const;
const del = (key: string) => ({ type: 'del', key }) as const;

/** Rows all over the key space, so that the store has tables on more than one level. */
function filler(round: number, rows = 2_000) {
  return Array.from({ length: rows }, (_, i) => put(`row/${String(i).padStart(8, '0')}/${round}`, randomBytes(200)));
}

async function requireGone(store: Store, secrets: readonly Uint8Array[], what: string): Promise<void> {
  for (const bytes of secrets) assert.equal(await filesHolding(store.directory, bytes), [], what);
}

test('a value that only the log holds is in no file any more', async () => {
  await using store = await Store.open(join(scratch, 'log'));
  const [kept, gone] = [secret(), secret()];
  await store.write([put('key/a', kept), put('key/b', gone)]);
  assert.is((await filesHolding(store.directory, gone)).length, 1);
  await store.write([del('key/b')]);
  assert.is((await filesHolding(store.directory, gone)).length, 1, 'a deletion alone leaves the bytes where they are');
  await store.purge(['key/b']);
  await requireGone(store, [gone], 'purged');
  assert.is((await filesHolding(store.directory, kept)).length, 1);
  assert.equal(new Uint8Array((await store.get('key/a')) ?? []), new Uint8Array(kept));
  assert.is(await store.get('key/b'), undefined);
});

test('values deep in the tables of a grown store are in no file any more', async () => {
  const directory = join(scratch, 'tables');
  const secrets = Array.from({ length: 20 }, secret);
  const keys = secrets.map((_, i) => `row/${String(i * 97).padStart(8, '0')}/key`);
  for (let round = 0; round < 6; round++) {
    // Opening folds the log into a table; each time the secrets of this round end up somewhere else.
    await using store = await Store.open(directory);
    await store.write(filler(round));
    await store.write(secrets.flatMap((bytes, i) => (i % 6 === round ? [put(keys[i] ?? '', bytes)] : [])));
  }
  await using store = await Store.open(directory);
  for (const bytes of secrets) assert.ok((await filesHolding(directory, bytes)).length > 0);
  await store.write(keys.map(del));
  await store.purge(keys);
  await requireGone(store, secrets, 'purged');
  let rows = 0;
  for await (const _ of store.range({ gte: 'row/', lt: 'row0' })) rows++;
  assert.is(rows, 6 * 2_000, 'every other row is still there');
});

test('what a row held before it was rewritten is in no file any more, and the row is as it was', async () => {
  const directory = join(scratch, 'rewritten');
  const [kept, gone] = [secret(), secret()];
  const key = 'row/00001000/key';
  for (let round = 0; round < 4; round++) {
    await using store = await Store.open(directory);
    await store.write(filler(round));
    if (round === 0) await store.write([put(key, Buffer.concat([kept, gone]))]);
    // Each round leaves a whole copy of the row in another table.
    else await store.write([{ type: 'rewrite', key, rewrite: (row) => row }]);
  }
  await using store = await Store.open(directory);
  assert.ok((await filesHolding(directory, gone)).length > 1);
  const rewrite = (row: Uint8Array) => Uint8Array.from(row).fill(0, kept.length);
  await store.write([{ type: 'rewrite', key, rewrite }]);
  await store.purge([key]);
  await requireGone(store, [gone], 'purged');
  assert.equal(Buffer.from((await store.get(key)) ?? []), Buffer.concat([kept, Buffer.alloc(gone.length)]));
  assert.ok((await filesHolding(directory, kept)).length > 0);
});

test('purging while others write, and purging again, leaves nothing either', async () => {
  await using store = await Store.open(join(scratch, 'busy'));
  const secrets = Array.from({ length: 10 }, secret);
  const keys = secrets.map((_, i) => `row/${String(i * 150).padStart(8, '0')}/key`);
  await store.write([...filler(0), ...secrets.map((bytes, i) => put(keys[i] ?? '', bytes))]);
  let round = 1;
  const done = new AbortController();
  const writing = (async () => {
    while (!done.signal.aborted) await store.write(filler(round++, 300));
  })();
  await store.write(keys.map(del));
  await Promise.all([store.purge(keys), store.purge(keys.slice(0, 3))]);
  await store.purge(keys);
  done.abort();
  await writing;
  await requireGone(store, secrets, 'purged');
});

test('a purge waits for a reader from before the deletion, and for one that holds a replaced file', async () => {
  await using store = await Store.open(join(scratch, 'readers'));
  const gone = secret();
  await store.write([...filler(0), put('row/00001000/key', gone)]);
  const before = store.range({ gte: 'row/' });
  await before.next();
  await store.write([del('row/00001000/key')]);
  let isPurged = false;
  const purging = store.purge(['row/00001000/key']).then(() => (isPurged = true));
  const after = store.range({ gte: 'row/' });
  await after.next();
  await new Promise((resolve) => setTimeout(resolve, 200));
  assert.not(isPurged);
  let rows = 1;
  for await (const [key] of before) rows += Number(key !== '');
  assert.is(rows, 2_001, 'the reader saw the store as it was');
  await new Promise((resolve) => setTimeout(resolve, 200));
  assert.not(isPurged, 'a reader still holds a file that has the value');
  await after.return(undefined);
  await purging;
  await requireGone(store, [gone], 'purged');
});

test('what was purged is not there after the store is opened again', async () => {
  const directory = join(scratch, 'again');
  const gone = secret();
  {
    await using store = await Store.open(directory);
    await store.write([put('k/1', gone), put('k/2', secret())]);
    await store.write([del('k/1')]);
  }
  await using store = await Store.open(directory);
  assert.is((await filesHolding(directory, gone)).length, 1, 'a stop in between leaves the bytes in a table');
  await store.purge(['k/1']);
  await requireGone(store, [gone], 'purged');
});

test.run();

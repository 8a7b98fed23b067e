import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { openNodeStore } from '../../../node/fsck/migration/migrate-store.ts';
import { FORMAT_KEY, requireFormat, STORE_FORMAT } from '../../../node/store/format.ts';
import { Store, StoreError } from '../../../node/store/store.ts';

const folder = await mkdtemp(join(tmpdir(), 'meridian-format-'));
let stores = 0;
test.after(() => rm(folder, { recursive: true }));

/** A store with these rows, and the code and message that the node opens it with. */
async function refusalOf(rows: Readonly<Record<string, string>>): Promise<readonly [string, string]> {
  const home = join(folder, String(++stores));
  {
    await using store = await Store.open(join(home, 'store'));
    const put = ([key, value]: [string, string]) => ({ type: 'put' as const, key, value: Buffer.from(value) });
    await store.write(Object.entries(rows).map(put));
  }
  try {
    await using _store = await openNodeStore(home);
    return ['opened', ''];
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    return [error.code, error.message];
  }
}

test('a new store gets its format before anything else, and is opened again', async () => {
  const home = join(folder, 'new');
  for (let opening = 0; opening < 2; opening++) {
    await using store = await openNodeStore(home);
    const rows = await Array.fromAsync(store.range({}), ([key, value]) => [key, Buffer.from(value).toString()]);
    assert.equal(rows, [[FORMAT_KEY, String(STORE_FORMAT)]]);
  }
});

test('a store of the 0.1 release is refused in one line that says what to do', async () => {
  const [code, message] = await refusalOf({ 'group/eu/0000000000000001': '{}' });
  assert.is(code, 'format');
  assert.is(
    message,
    'the store is of the 0.1 release, and this one does not read it: start with an empty home, or use the 0.1 release',
  );
});

test('a store whose log entries lack the running hash before them is of format 1, and refused', async () => {
  const [code, message] = await refusalOf({ [FORMAT_KEY]: '1', 'log-entry/0000000000000000': '{"type":"decision"}' });
  assert.is(code, 'format');
  assert.is(
    message,
    `the store is of format 1, and this release reads format ${STORE_FORMAT}: start with an empty home, or use the release that wrote it`,
  );
});

test('a store of another format, or of one that cannot be read, is refused; one of this format is not', async () => {
  const [code, message] = await refusalOf({ [FORMAT_KEY]: String(STORE_FORMAT + 1), 'group/eu/1': '{}' });
  assert.is(code, 'format');
  assert.match(message, new RegExp(`^[^\\n]*format ${STORE_FORMAT + 1},[^\\n]*use the release that wrote it$`));
  assert.match((await refusalOf({ [FORMAT_KEY]: 'new' }))[1], 'format unknown');
  assert.is((await refusalOf({ [FORMAT_KEY]: String(STORE_FORMAT), 'group/eu/1': '{}' }))[0], 'opened');
});

test('a store that was refused can be opened by another release: it is let go, and nothing was written', async () => {
  const home = join(folder, 'kept');
  const row = { type: 'put' as const, key: 'group/eu/1', value: Buffer.from('{}') };
  {
    await using store = await Store.open(join(home, 'store'));
    await store.write([row]);
  }
  await openNodeStore(home).catch(() => undefined);
  await using store = await Store.open(join(home, 'store'));
  assert.equal(await Array.fromAsync(store.range({}), ([key]) => key), [row.key]);
  assert.is(await requireFormat(store).catch((error: unknown) => error instanceof StoreError && error.code), 'format');
});

test.run();

import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { purgeCheck } from '../../../node/fsck/check-start-state.ts';
import { Report } from '../../../node/fsck/report.ts';
import { DuePurges, purgeDueTable } from '../../../node/store/due-purges.ts';
import { Store } from '../../../node/store/store.ts';
import { filesHolding } from '../../fixtures/store-files.ts';
import { until } from '../../fixtures/until.ts';

const scratch = await mkdtemp(join(tmpdir(), 'meridian-due-purges-'));
test.after(() => rm(scratch, { recursive: true, force: true }));
const log = pino({ level: 'silent' });
const put = (key: string, value: Uint8Array) => ({ type: 'put', key, value }) as const;

async function due(store: Store): Promise<number> {
  let rows = 0;
  for await (const _ of purgeDueTable.under(store, [])) rows++;
  return rows;
}

async function findings(store: Store): Promise<number> {
  const report = new Report();
  await purgeCheck.run({
    store,
    report,
    keys: null,
    own: null,
    cipher: null,
    agentKeys: null,
    held: null,
    signal: undefined,
  });
  return report.found('problem');
}

test('rows that end are deleted in the same write, and purged when looked at', async () => {
  await using store = await Store.open(join(scratch, 'look'));
  await using purges = new DuePurges(store, log);
  const [kept, gone] = [randomBytes(32), randomBytes(32)];
  await store.write([put('key/a', kept), put('key/b', gone)]);
  await store.write(purges.end(['key/b']));
  assert.equal([await store.get('key/b'), await due(store)], [undefined, 1]);
  assert.is((await filesHolding(store.directory, gone)).length, 1);
  assert.is(await purges.look(), 1);
  assert.equal([await filesHolding(store.directory, gone), await due(store)], [[], 0]);
  assert.is((await filesHolding(store.directory, kept)).length, 1);
  assert.is(await purges.look(), 0);
});

test('what a run left is purged by the next one, by itself', async () => {
  const directory = join(scratch, 'crash');
  const gone = randomBytes(32);
  {
    await using store = await Store.open(directory);
    await store.write([put('key/b', gone)]);
    await store.write(new DuePurges(store, log).end(['key/b']));
  }
  assert.ok((await filesHolding(directory, gone)).length > 0);
  await using store = await Store.open(directory);
  await using purges = new DuePurges(store, log);
  purges.start();
  await until('the row is purged', async () => (await due(store)) === 0);
  assert.equal(await filesHolding(directory, gone), []);
});

test('a purge that cannot be completed stays due', async () => {
  await using store = await Store.open(join(scratch, 'fails'));
  await using purges = new DuePurges(store, log);
  await store.write([put('key/b', randomBytes(32))]);
  await store.write(purges.end(['key/b']));
  const { purge } = store;
  store.purge = () => Promise.reject(new Error('still being read'));
  await rejects(purges.look(), 'still being read');
  assert.is(await due(store), 1);
  store.purge = purge.bind(store);
  assert.is(await purges.look(), 1);
});

test('a purge that somebody waits for and that cannot be completed is tried again by itself', async () => {
  const gone = randomBytes(32);
  await using store = await Store.open(join(scratch, 'fails-once'));
  await using purges = new DuePurges(store, log);
  await store.write([put('key/b', gone)]);
  await store.write(purges.end(['key/b']));
  const { purge } = store;
  store.purge = () => Promise.reject(new Error('still being read'));
  await rejects(purges.look(), 'still being read');
  store.purge = purge.bind(store);
  purges.start();
  await until('the row is purged', async () => (await due(store)) === 0);
  assert.equal(await filesHolding(store.directory, gone), []);
});

test('the check of a store finds a row that is due and still there', async () => {
  await using store = await Store.open(join(scratch, 'check'));
  await using purges = new DuePurges(store, log);
  await store.write(purges.end(['key/b']));
  assert.is(await findings(store), 0);
  await store.write([put('key/b', randomBytes(32))]);
  assert.is(await findings(store), 1);
  await store.write([purgeDueTable.put(['00'], 'key/c')]);
  assert.is(await findings(store), 2);
});

/** Fails unless the promise rejects with this text. */
async function rejects(promise: Promise<unknown>, text: string): Promise<void> {
  const outcome = await promise.then(
    () => 'nothing',
    (error: unknown) => String(error),
  );
  assert.match(outcome, text);
}

test.run();

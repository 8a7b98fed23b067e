import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { hash } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { AccountError, Accounts, apiKeyTable, MIN_API_KEY_CHARACTERS } from '../../../node/accounts/accounts.ts';
import { Store } from '../../../node/store/store.ts';

const KEY = 'k'.repeat(MIN_API_KEY_CHARACTERS);

async function opened(): Promise<AsyncDisposable & { readonly store: Store; readonly directory: string }> {
  const directory = await mkdtemp(join(tmpdir(), 'accounts-'));
  const store = await Store.open(directory);
  return {
    store,
    directory,
    async [Symbol.asyncDispose]() {
      await store[Symbol.asyncDispose]();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

test('a granted key is its account, at once and after a restart; any other is unknown', async () => {
  await using room = await opened();
  const accounts = new Accounts(room.store);
  assert.is(await accounts.authenticate(KEY), 'unknown');
  const account = { id: 'acme', tier: 'standard' } as const;
  await accounts.grant(account, KEY);
  for (const known of [accounts, new Accounts(room.store)]) {
    assert.equal(await known.authenticate(KEY), { account });
    assert.equal(await known.authenticate(KEY), { account });
    assert.is(await known.authenticate(`${KEY} `), 'unknown');
    assert.is(await known.authenticate(''), 'unknown');
  }
});

test('a change of tier holds for every key of the account, at once', async () => {
  await using room = await opened();
  const accounts = new Accounts(room.store);
  await accounts.grant({ id: 'acme', tier: 'developer' }, KEY);
  await accounts.authenticate(KEY);
  await accounts.grant({ id: 'acme', tier: 'enterprise' }, `${KEY}2`);
  assert.equal(await accounts.authenticate(KEY), { account: { id: 'acme', tier: 'enterprise' } });
});

test('an answer read before a change is not remembered after it', async () => {
  await using room = await opened();
  const accounts = new Accounts(room.store);
  await accounts.grant({ id: 'acme', tier: 'developer' }, KEY);
  const get = room.store.get.bind(room.store);
  const gate = Promise.withResolvers<void>();
  room.store.get = async (key) => {
    const value = await get(key);
    await gate.promise;
    return value;
  };
  const before = accounts.authenticate(KEY);
  await new Promise((resolve) => setTimeout(resolve, 20));
  room.store.get = get;
  await accounts.grant({ id: 'acme', tier: 'enterprise' }, KEY);
  gate.resolve();
  await before;
  assert.equal(await accounts.authenticate(KEY), { account: { id: 'acme', tier: 'enterprise' } });
});

test('a revoked key says so', async () => {
  await using room = await opened();
  const accounts = new Accounts(room.store);
  await accounts.grant({ id: 'acme', tier: 'developer' }, KEY);
  await room.store.write([apiKeyTable.put([hash('sha256', KEY, 'hex')], { account: 'acme', revoked: true })]);
  assert.is(await accounts.authenticate(KEY), 'revoked');
  assert.is(await accounts.authenticate(KEY), 'revoked');
});

test('weak keys and malformed accounts are refused', async () => {
  await using room = await opened();
  const accounts = new Accounts(room.store);
  const refused = [
    accounts.grant({ id: 'acme', tier: 'developer' }, KEY.slice(1)),
    accounts.grant({ id: 'a/b', tier: 'developer' }, KEY),
    accounts.grant({ id: '', tier: 'developer' }, KEY),
    accounts.grant({ id: 'A', tier: 'developer' }, KEY),
    accounts.grant({ id: 'a'.repeat(65), tier: 'developer' }, KEY),
  ];
  for (const outcome of await Promise.allSettled(refused)) {
    assert.ok(outcome.status === 'rejected' && outcome.reason instanceof AccountError);
  }
  assert.is(await accounts.authenticate(KEY), 'unknown');
});

test('no key is on the disk', async () => {
  await using room = await opened();
  await new Accounts(room.store).grant({ id: 'acme', tier: 'developer' }, KEY);
  const files = await readdir(room.directory);
  const bytes = Buffer.concat(await Promise.all(files.map((name) => readFile(join(room.directory, name)))));
  assert.ok(bytes.includes('acme'));
  assert.not.ok(bytes.includes(KEY));
});

test.run();

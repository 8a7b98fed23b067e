import { Level } from 'level';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Ledger } from '../../../cluster/ledger/ledger.ts';
import { temporaryDirectory, waitUntil } from './running-ledger.ts';
import { StoppedClock, messageTo, newPayer, signedTransaction, topicCreation } from './signed-transaction.ts';

const payer = newPayer();
const clock = new StoppedClock();
const NODE = 3n;

test('opens its own store', async () => {
  await using store = await storeWithHistory();
  await (await open(store.path))[Symbol.asyncDispose]();
});

test('refuses a store from which any one row is missing', async () => {
  await using store = await storeWithHistory();
  for (const [key, value] of await rowsOf(store.path)) {
    await change(store.path, (database) => database.del(key));
    await assertRefused(store.path, key);
    await change(store.path, (database) => database.put(key, value));
  }
  await (await open(store.path))[Symbol.asyncDispose]();
});

test('refuses a store in which a digit of any row is changed', async () => {
  await using store = await storeWithHistory();
  for (const [key, value] of await rowsOf(store.path)) {
    for (const changed of changedRows(value)) {
      await change(store.path, (database) => database.put(key, changed));
      await assertRefused(store.path, `${key} = ${changed}`);
    }
    await change(store.path, (database) => database.put(key, value));
  }
});

test('refuses changed balances, sequence numbers, running hashes and heads', async () => {
  await using store = await storeWithHistory();
  const edits: [string, RegExp, string][] = [
    ['account!00000000000000001001', /"balance":\{"\$n":"\d/, '"balance":{"$n":"7'],
    ['topic!00000000000000005001', /"sequence":\{"\$n":"\d+/, '"sequence":{"$n":"2'],
    ['topic!00000000000000005001', /"runningHash":\{"\$b":"..../, '"runningHash":{"$b":"AAAA'],
    ['head!head', /"transactions":\d+/, '"transactions":3'],
    ['head!head', /"blockHash":\{"\$b":"..../, '"blockHash":{"$b":"AAAA'],
    ['head!head', /"lastConsensus":\{"\$n":"\d/, '"lastConsensus":{"$n":"7'],
    ['head!head', /meridian-local\/1/, 'meridian-local/2'],
  ];
  const rows = new Map(await rowsOf(store.path));
  for (const [key, pattern, replacement] of edits) {
    const value = rows.get(key) ?? '';
    assert.match(value, pattern);
    await change(store.path, (database) => database.put(key, value.replace(pattern, replacement)));
    await assertRefused(store.path, `${key} ${replacement}`);
    await change(store.path, (database) => database.put(key, value));
  }
});

async function storeWithHistory(): Promise<AsyncDisposable & { readonly path: string }> {
  const directory = await temporaryDirectory();
  const ledger = await open(directory.path);
  for (let i = 1n; i <= 5n; i++) {
    const body = i === 1n ? topicCreation() : messageTo(5_001n, Buffer.from(`message ${i}`));
    ledger.submit(signedTransaction(payer, clock.time - i, body), NODE);
    if (i !== 3n) await waitUntil(() => ledger.accepted.unsettled === 0);
  }
  await ledger[Symbol.asyncDispose]();
  return directory;
}

async function open(directory: string): Promise<Ledger> {
  const accounts = [{ num: payer.num, key: { ed25519: payer.publicKey }, tinybars: 10n ** 15n }];
  return Ledger.open({ directory, nodes: [NODE], accounts, roundMs: 1, clock: clock.now });
}

async function rowsOf(directory: string): Promise<[string, string][]> {
  const database = new Level<string, string>(directory);
  const rows = await database.iterator().all();
  await database.close();
  return rows;
}

async function change(directory: string, edit: (database: Level<string, string>) => Promise<void>): Promise<void> {
  const database = new Level<string, string>(directory);
  await edit(database);
  await database.close();
}

/** The row with one digit changed, for a digit at its start, in its middle and at its end. */
function changedRows(value: string): string[] {
  const digits = [...value.matchAll(/\d/g)].map(({ index }) => index);
  const picked = new Set([digits[0], digits[Math.floor(digits.length / 2)], digits.at(-1)]);
  return [...picked].map((at = 0) => value.slice(0, at) + ((Number(value[at]) + 1) % 10) + value.slice(at + 1));
}

async function assertRefused(directory: string, what: string): Promise<void> {
  let ledger: Ledger;
  try {
    ledger = await open(directory);
  } catch {
    return;
  }
  await ledger[Symbol.asyncDispose]();
  assert.unreachable(`a store was opened with ${what}`);
}

test.run();

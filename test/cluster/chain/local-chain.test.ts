import { mkdtemp, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { encodeFunctionData, type Hash, type Hex, parseAbi } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { receiptOf } from '../../../cluster/chain/receipt.ts';
import { MULTICALL3_ADDRESS } from '../../../cluster/chain/chain-client.ts';
import { addressOfKey, newChainWallets } from '../../../cluster/chain/chain-wallets.ts';
import { type LocalChain, type LocalChainOptions, startLocalChain } from '../../../cluster/chain/local-chain.ts';
import { usdcAbi } from '../../../node/payments/facilitator/usdc-abi.ts';
import { USDC } from '../../../protocol/payments/usdc.ts';
import { TestChain } from '../../fixtures/chain.ts';
import { freePort } from '../../fixtures/ports.ts';
import { isAlive } from '../../fixtures/local-cluster.ts';
import { until } from '../../fixtures/until.ts';

const abi = parseAbi([
  'function transfer(address,uint256) returns (bool)',
  'function DOMAIN_SEPARATOR() view returns (bytes32)',
]);
/** Of USDC on Base: it binds name, version, chain and address, and every signed payment holds it. */
const BASE_USDC_DOMAIN = '0x02fa7265e7c5d81118673727957699e4d68f74cd74b7db77da710fe8a2c7834f';
const DEMO_USDC = 10_000_000_000n;
/** A block is archived this soon, even on a busy machine, where nothing tells it: a snapshot empties the journal. */
const ARCHIVED_MS = 2_000;

const wallets = newChainWallets(['eu']);
const demo = privateKeyToAccount(wallets.demo);
const payTo = addressOfKey(wallets.payTo);
const directory = await mkdtemp(join(tmpdir(), 'meridian-chain-'));
const port = await freePort();

test.after(() => rm(directory, { recursive: true, force: true }));

test("has Circle's USDC where Base has it, under the same domain, and gives out money once", async () => {
  await using chain = await start();
  const token = { address: USDC.asset, abi: usdcAbi } as const;
  assert.is(await chain.client.getChainId(), 8453);
  assert.is(await chain.client.readContract({ ...token, functionName: 'name' }), 'USD Coin');
  assert.is(await chain.client.readContract({ ...token, functionName: 'version' }), '2');
  assert.is(
    await chain.client.readContract({ address: USDC.asset, abi, functionName: 'DOMAIN_SEPARATOR' }),
    BASE_USDC_DOMAIN,
  );
  assert.not.equal(await chain.client.getCode({ address: MULTICALL3_ADDRESS }), undefined);
  assert.equal(await chain.client.request({ method: 'eth_accounts' }), [], 'no accounts that everybody knows');
  assert.is(await balanceOf(chain, demo.address), DEMO_USDC);
  assert.is(await balanceOf(chain, payTo), 0n);
});

test('resumes what was there, with its transactions, whether it ended in order or was killed', async () => {
  const hashes: Hash[] = [];
  for (const end of ['in order', 'killed', 'killed again'] as const) {
    const chain = await start();
    assert.is(await balanceOf(chain, payTo), BigInt(hashes.length), end);
    for (let i = 0; i < 3; i++) hashes.push(await transfer(chain, 1n));
    if (end !== 'in order') {
      await archived(chain);
      process.kill(chain.pid, 'SIGKILL');
      await chain.failed.catch((error: Error) => assert.is(error.message, 'the chain has died'));
    }
    await chain[Symbol.asyncDispose]();
    assert.is(isAlive(chain.pid), false);
  }
  await using chain = await start();
  assert.is(await balanceOf(chain, payTo), 9n);
  assert.is(await balanceOf(chain, demo.address), DEMO_USDC - 9n);
  for (const hash of hashes) assert.is((await chain.client.getTransactionReceipt({ hash })).status, 'success');
});

test('brings blocks back at their own times, and goes on at the present one', async () => {
  const first = await start();
  const hash = await transfer(first, 1n);
  const { blockNumber } = await first.client.getTransactionReceipt({ hash });
  const { timestamp } = await first.client.getBlock({ blockNumber });
  await archived(first);
  process.kill(first.pid, 'SIGKILL');
  await first.failed.catch(() => {});
  await first[Symbol.asyncDispose]();
  await sleep(1_100);
  await using chain = await start();
  assert.is((await chain.client.getBlock({ blockNumber })).timestamp, timestamp);
  await transfer(chain, 1n);
  const now = Number((await chain.client.getBlock()).timestamp);
  assert.ok(Math.abs(now - Date.now() / 1_000) < 10);
});

test('makes snapshots as it goes, without losing a transaction that comes meanwhile', async () => {
  const before = await start();
  const had = await balanceOf(before, payTo);
  await before[Symbol.asyncDispose]();
  const chain = await start({ journalBlocks: 10 });
  const last = await transferMany(chain, 60);
  await receiptOf(chain.client, last);
  await sleep(ARCHIVED_MS);
  process.kill(chain.pid, 'SIGKILL');
  await chain.failed.catch(() => {});
  await chain[Symbol.asyncDispose]();
  const journal = (await readFile(join(directory, 'journal.jsonl'), 'utf8')).split('\n').length;
  assert.ok(journal < 60, `${journal} blocks in the journal`);
  await using after = await start();
  assert.is(await balanceOf(after, payTo), had + 60n);
});

test('cuts off what a killed process left half written, and refuses what was changed', async () => {
  const journal = join(directory, 'journal.jsonl');
  const chain = await start();
  await transfer(chain, 1n);
  const had = await balanceOf(chain, payTo);
  await archived(chain);
  process.kill(chain.pid, 'SIGKILL');
  await chain.failed.catch(() => {});
  await chain[Symbol.asyncDispose]();
  const whole = await readFile(journal, 'utf8');
  await writeFile(journal, `${whole}{"number":99,"timest`);
  const again = await start();
  assert.is(await balanceOf(again, payTo), had);
  await transfer(again, 1n);
  await again[Symbol.asyncDispose]();
  const { size } = await stat(journal);
  await truncate(journal, size - 40);
  await writeFile(journal, `${await readFile(journal, 'utf8')}\n`);
  await start().then(
    () => assert.unreachable(),
    (error: Error) => assert.match(error.message, 'is no block'),
  );
});

test('mines at an interval where it is told to', async () => {
  const started = performance.now();
  await using chain = await TestChain.start({ blockSeconds: 1 });
  console.log(`a chain was up after ${((performance.now() - started) / 1_000).toFixed(2)} s`);
  const [first, second] = [await chain.wallet('1'), await chain.wallet('1')];
  assert.is(await chain.balanceOf(first.address), 1_000_000n);
  const blocks = await chain.client.getBlockNumber();
  await Promise.all([chain.mint(first.address, '1'), chain.mint(second.address, '1')]);
  assert.ok((await chain.client.getBlockNumber()) >= blocks + 2n);
});

test('leaves nothing running where the port is taken', async () => {
  await using chain = await TestChain.start();
  const taken = Number(new URL(chain.rpcUrl).port);
  await startLocalChain({ port: taken, directory: null, wallets }).then(
    () => assert.unreachable(),
    (error: Error) => assert.match(error.message, `port ${taken} is taken`),
  );
  await until('the first one still answers', async () => (await chain.client.getChainId()) === 8453);
});

function start(options: Partial<LocalChainOptions> = {}): Promise<LocalChain> {
  return startLocalChain({ port, directory, wallets, ...options });
}

/** The journal holds every block that the chain has now. */
async function archived({ client }: LocalChain): Promise<void> {
  const head = Number(await client.getBlockNumber());
  await until(`block ${head} archived`, async () => {
    const lines = (await readFile(join(directory, 'journal.jsonl'), 'utf8')).split('\n');
    return (lines.at(-2) ?? '').startsWith(`{"number":${head},`);
  });
}

function balanceOf({ client }: LocalChain, account: Hex): Promise<bigint> {
  return client.readContract({ address: USDC.asset, abi: usdcAbi, functionName: 'balanceOf', args: [account] });
}

async function transfer(chain: LocalChain, amount: bigint): Promise<Hash> {
  const hash = await send(chain, amount, await chain.client.getTransactionCount({ address: demo.address }));
  assert.is((await receiptOf(chain.client, hash)).status, 'success');
  return hash;
}

/** One unit each, without waiting for blocks. */
async function transferMany(chain: LocalChain, count: number): Promise<Hash> {
  const first = await chain.client.getTransactionCount({ address: demo.address });
  let last: Hash = '0x';
  for (let i = 0; i < count; i++) last = await send(chain, 1n, first + i);
  return last;
}

async function send({ client }: LocalChain, amount: bigint, nonce: number): Promise<Hash> {
  const serializedTransaction = await demo.signTransaction({
    type: 'eip1559',
    chainId: client.chain.id,
    nonce,
    gas: 100_000n,
    maxFeePerGas: 10n ** 10n,
    to: USDC.asset,
    data: encodeFunctionData({ abi, functionName: 'transfer', args: [payTo, amount] }),
  });
  return client.sendRawTransaction({ serializedTransaction });
}

test.run();

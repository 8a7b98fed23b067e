import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { LeftBehind } from '../../../cluster/chain/left-behind.ts';
import { TestChain } from '../../fixtures/chain.ts';
import { until } from '../../fixtures/until.ts';

const LOOK_MS = 20;

test('a transaction that the chain left in its pool is mined; one that waits because mining is paused is not', async () => {
  await using chain = await TestChain.start();
  await using _looking = new LeftBehind(chain.client, LOOK_MS);
  const { address } = await chain.wallet('1');
  await chain.pauseMining();
  const minted = chain.mint(address, '1');
  await until('the transaction in the pool', async () => (await chain.client.getTxpoolStatus()).pending === 1);
  await sleep(10 * LOOK_MS);
  assert.is((await chain.client.getTxpoolStatus()).pending, 1);
  // Anvil mines by itself again, but not what came before.
  await chain.client.setAutomine(true);
  await minted;
  assert.is(await chain.balanceOf(address), 2_000_000n);
});

test('it ends quietly when the chain does', async () => {
  const chain = await TestChain.start();
  await using _looking = new LeftBehind(chain.client, LOOK_MS);
  await chain[Symbol.asyncDispose]();
  await sleep(5 * LOOK_MS);
});

test.run();

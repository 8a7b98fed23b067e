import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { encodeFunctionData, erc20Abi } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { receiptOf } from '../../cluster/chain/receipt.ts';
import { createMailer } from '../../node/accounts/mail/mailer.ts';
import { hexOf } from '../../node/payments/facilitator/chain-answers.ts';
import { openChainClient } from '../../node/payments/facilitator/chain-client.ts';
import { EvmChainReader } from '../../node/payments/facilitator/evm-chain-reader.ts';
import { walletAddress } from '../../protocol/payments/payment.ts';
import { USDC } from '../../protocol/payments/usdc.ts';
import { hasAnvil, NO_ANVIL } from '../fixtures/anvil.ts';
import { attest, verify } from '../fixtures/load.ts';
import { isAlive, LocalCluster } from '../fixtures/local-cluster.ts';
import { freePortBase } from '../fixtures/ports.ts';
import { testWhere } from '../fixtures/test-where.ts';
import { until } from '../fixtures/until.ts';

/** Every process is gone this soon after the supervisor ended, whichever way. In milliseconds. */
const GONE_MS = 5_000;
const BACK_MS = 20_000;
/** A block survives the chain's process this soon. In milliseconds. */
const ARCHIVED_MS = 500;
const DEMO_USDC = 10_000_000_000n;

const supervised = suite('local cluster');
const home = await mkdtemp(join(tmpdir(), 'meridian-supervisor-'));
const portBase = await freePortBase();
let cluster = await LocalCluster.start(home, portBase);
const id = await attestOne();

supervised.after(async () => {
  await cluster.end();
  await rm(home, { recursive: true, force: true });
});

supervised('prints a table of its parts and writes where they are', async () => {
  const file = await cluster.file();
  assert.equal(
    file.nodes.map((node) => node.id),
    ['us', 'eu', 'ca', 'sg', 'jp'],
  );
  for (const [i, node] of file.nodes.entries()) {
    assert.is(node.baseUrl, `http://127.0.0.1:${portBase + 101 + i}`);
    assert.is(node.nodeUrl, `${node.baseUrl}/verify`);
    assert.ok(cluster.printed.some((line) => line.includes(node.baseUrl)));
    assert.is((await fetch(`${node.nodeUrl}/v1/health`)).status, 200);
  }
  assert.is(file.ledger.network, 'meridian-local');
  assert.equal(Object.keys(file.demo.apiKeys), ['developer', 'standard', 'professional', 'enterprise', 'bench']);
  assert.equal(Object.keys(file.mail), ['smtpPort', 'directory', 'pid']);
  assert.is(file.mail.smtpPort, portBase + 330);
  assert.is(file.mail.directory, join(home, 'mail'));
  assert.ok(cluster.printed.some((line) => line.includes(`${relative(process.cwd(), file.mail.directory)}/`)));
  if (hasAnvil) assert.is(file.chain?.rpcUrl, `http://127.0.0.1:${portBase + 320}`);
  assert.is(new Set(await cluster.pids()).size, hasAnvil ? 8 : 7);
});

supervised('has demo accounts that live at us and name all five nodes, each of which takes their keys', async () => {
  const { nodes, demo } = await cluster.file();
  for (const [name, apiKey] of Object.entries(demo.apiKeys)) {
    for (const { nodeUrl } of nodes) {
      const answer = await fetch(`${nodeUrl}/v1/account`, { headers: { 'x-api-key': apiKey } });
      const { account }: { account?: { home: string; nodes: string[] } } = JSON.parse(await answer.text());
      assert.equal([account?.home, account?.nodes], ['us', ['ca', 'eu', 'jp', 'sg', 'us']], `${name} at ${nodeUrl}`);
    }
  }
});

supervised('takes mails, also after the mail sink died', async () => {
  const { smtpPort: port, directory, pid } = (await cluster.file()).mail;
  await using mailer = createMailer({ host: '127.0.0.1', port, tls: 'none', login: null, from: 'f@meridian.test' });
  const mail = { to: 'a@example.test', subject: 'subject', text: 'text' };
  await mailer.send(mail);
  process.kill(pid ?? 0, 'SIGKILL');
  await until('another mail sink', async () => ((await cluster.file()).mail.pid ?? pid) !== pid, BACK_MS);
  await mailer.send(mail);
  assert.is((await readdir(directory)).filter((name) => name.endsWith('.eml')).length, 2);
});

testWhere(
  hasAnvil,
  NO_ANVIL,
  supervised,
)('has a chain with money on it, also after the chain died', async () => {
  const { chain, demo } = await cluster.file();
  assert.ok(chain);
  assert.equal(Object.keys(chain), ['rpcUrl', 'chainId', 'usdc', 'payTo', 'pid']);
  const client = openChainClient(chain.rpcUrl);
  const balanceOf = async (account: string): Promise<bigint> =>
    (await new EvmChainReader({ client, settlers: null }).account(walletAddress(account))).usdcBalance;
  assert.is(await balanceOf(demo.wallet.address), DEMO_USDC);
  const payer = privateKeyToAccount(`0x${demo.wallet.privateKey.slice(2)}`);
  const data = encodeFunctionData({
    abi: erc20Abi,
    functionName: 'transfer',
    args: [hexOf(walletAddress(chain.payTo)), 5n],
  });
  const fees = { gas: 100_000n, maxFeePerGas: 10n ** 10n };
  const transaction = { type: 'eip1559', chainId: chain.chainId, nonce: 0, to: USDC.asset, data, ...fees } as const;
  const hash = await client.sendRawTransaction({ serializedTransaction: await payer.signTransaction(transaction) });
  await receiptOf(client, hash);
  await sleep(ARCHIVED_MS);
  process.kill(chain.pid ?? 0, 'SIGKILL');
  await until('another chain', async () => ((await cluster.file()).chain?.pid ?? chain.pid) !== chain.pid, BACK_MS);
  assert.is(await balanceOf(demo.wallet.address), DEMO_USDC - 5n);
  assert.is(await balanceOf(chain.payTo), 5n);
});

supervised('refuses a second supervisor in the same home', async () => {
  let refusal = '';
  await LocalCluster.start(home, portBase, ['--fresh']).catch((error: Error) => (refusal = error.message));
  assert.match(refusal, 'is in use by the cluster of process');
  assert.is((await verify(baseUrl(1), id))?.found, true);
});

supervised('starts a node that died again, under another pid, with all that it held', async () => {
  const before = (await cluster.file()).nodes[1]?.pid ?? 0;
  const started = performance.now();
  process.kill(before, 'SIGKILL');
  await until('another node', async () => ((await cluster.file()).nodes[1]?.pid ?? before) !== before, BACK_MS);
  console.log(`a killed node was back after ${((performance.now() - started) / 1000).toFixed(1)} s`);
  assert.is((await verify(baseUrl(1), id))?.found, true);
});

supervised('ends every process within five seconds of SIGTERM, and resumes what is there', async () => {
  const pids = await cluster.pids();
  const fingerprint = await fingerprintOf(0);
  const started = performance.now();
  assert.is(await cluster.end('SIGTERM'), 0);
  await allGone(pids);
  const seconds = (performance.now() - started) / 1000;
  console.log(`all processes ended in ${seconds.toFixed(1)} s`);
  assert.ok(seconds < GONE_MS / 1000);
  cluster = await LocalCluster.start(home, portBase);
  assert.is(await fingerprintOf(0), fingerprint);
  await until('the record verified', async () => (await verify(baseUrl(1), id))?.verified === true, BACK_MS);
});

supervised('leaves no orphan when the supervisor itself is killed', async () => {
  const pids = await cluster.pids();
  await cluster.end('SIGKILL');
  await allGone(pids);
});

supervised('starts anew with --fresh', async () => {
  cluster = await LocalCluster.start(home, portBase, ['--fresh']);
  assert.is((await verify(baseUrl(1), id))?.found, false);
  assert.equal(await readdir((await cluster.file()).mail.directory), ['mail.log']);
});

supervised.run();

function baseUrl(node: number): string {
  return `http://127.0.0.1:${portBase + 101 + node}`;
}

async function attestOne(): Promise<string> {
  const { demo } = await cluster.file();
  const target = { nodeUrl: `${baseUrl(1)}/verify`, apiKey: demo.apiKeys.developer };
  const outcome = await attest(target, { sourceId: 'supervisor', data: { input: 1 } });
  return /"attestationId":"([^"]+)"/.exec(outcome?.text ?? '')?.[1] ?? '';
}

async function fingerprintOf(node: number): Promise<string> {
  return /"fingerprint":"([^"]+)"/.exec(await (await fetch(`${baseUrl(node)}/v1/federation`)).text())?.[1] ?? '';
}

async function allGone(pids: readonly number[]): Promise<void> {
  await until('all processes gone', async () => !pids.some(isAlive), GONE_MS);
}

import type { ChildProcess } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ensureChainWallets } from '../../../cluster/chain/chain-wallets.ts';
import { requireAnvil } from '../../fixtures/anvil.ts';
import { ended, type ForkedMain, forkMain } from '../../fixtures/forked-main.ts';
import { freePort } from '../../fixtures/ports.ts';
import { until } from '../../fixtures/until.ts';

requireAnvil();

/** In milliseconds. */
const GONE_MS = 20_000;
const MAIN = join(import.meta.dirname, '../../../cluster/chain/main.ts');
const directory = await mkdtemp(join(tmpdir(), 'meridian-chain-main-'));
await ensureChainWallets(directory, ['eu', 'us']);
const port = await freePort();

test.after(() => rm(directory, { recursive: true, force: true }));

test('makes keys of its own for each home, for their owner only, and keeps them', async () => {
  const file = join(directory, 'wallets.json');
  assert.is((await stat(file)).mode & 0o777, 0o600);
  const wallets = await ensureChainWallets(directory, ['eu', 'us']);
  assert.equal(JSON.parse(await readFile(file, 'utf8')), wallets);
  const { facilitators, ...others } = wallets;
  const keys = [...Object.values(facilitators), ...Object.values(others)];
  assert.is(new Set(keys).size, 5);
});

test('says where it is, in its log too, which holds no key', async () => {
  const { child, ready, output } = await start();
  assert.equal(ready, {
    ready: true,
    description: 'local development chain',
    pid: child.pid,
    rpcUrl: `http://127.0.0.1:${port}`,
    chainId: 8453,
    usdc: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  });
  await endsWithAnvil(child, () => child.kill('SIGTERM'));
  assert.is(child.exitCode, 0);
  assert.not.match(output(), /[0-9a-f]{64}/);
  for (const name of await readdir(directory)) assert.is((await stat(join(directory, name))).mode & 0o077, 0, name);
});

test('ends with its parent, and takes its anvil along even when it is killed', async () => {
  const orphan = await start();
  await endsWithAnvil(orphan.child, () => orphan.child.disconnect());
  assert.is(orphan.child.exitCode, 0);
  const victim = await start();
  await endsWithAnvil(victim.child, () => victim.child.kill('SIGKILL'));
});

test('ends with an error when its anvil dies, so that whoever watches it starts it again', async () => {
  const { child, output } = await start();
  const anvil = /^(\d+) \(anvil\)/m.exec(await childrenOf(child.pid ?? 0))?.[1] ?? '';
  await ended(child, () => process.kill(Number(anvil), 'SIGKILL'));
  assert.is(child.exitCode, 1);
  assert.match(output(), 'the chain has died');
});

test('refuses production, a folder without keys, and a port that is none', async () => {
  for (const [env, flags, reason] of [
    [{ NODE_ENV: 'production' }, [], 'refused in production'],
    [{}, ['--port=http'], 'http is not from 1 to 65535'],
    [{}, [`--directory=${tmpdir()}/nothing-there`], 'wallets.json'],
  ] as const) {
    await start(env, flags).then(
      () => assert.unreachable(),
      (error: Error) => assert.match(error.message, reason),
    );
  }
});

function start(env: Record<string, string> = {}, flags: readonly string[] = []): Promise<ForkedMain> {
  return forkMain(MAIN, [`--directory=${directory}`, `--port=${port}`, ...flags], env);
}

async function endsWithAnvil(child: ChildProcess, how: () => void): Promise<void> {
  await ended(child, how);
  await until('nobody answers', async () => !(await answers()), GONE_MS);
}

async function answers(): Promise<boolean> {
  return fetch(`http://127.0.0.1:${port}`, { method: 'POST', body: '{}' }).then(
    () => true,
    () => false,
  );
}

/** The first columns of `/proc/PID/stat` of all processes whose parent is this one. */
async function childrenOf(pid: number): Promise<string> {
  const all = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const stats = await Promise.all(all.map((name) => readFile(`/proc/${name}/stat`, 'utf8').catch(() => '')));
  return stats.filter((line) => Number(/\) \S (\d+)/.exec(line)?.[1]) === pid).join('\n');
}

test.run();

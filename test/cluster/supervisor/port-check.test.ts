import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { planCluster } from '../../../cluster/plan.ts';
import { wantedPorts } from '../../../cluster/supervisor/port-check.ts';
import { CHILD_ENVIRONMENT } from '../../fixtures/child-environment.ts';
import { freePortBase } from '../../fixtures/ports.ts';

const MAIN = join(import.meta.dirname, '../../../cluster/main.ts');
const home = await mkdtemp(join(tmpdir(), 'meridian-ports-'));
const portBase = await freePortBase();

test.after(() => rm(home, { recursive: true, force: true }));

test('every port of the plan is wanted by one part', () => {
  const wanted = wantedPorts(planCluster(4_000));
  assert.is(new Set(wanted.map(({ port }) => port)).size, 22);
  assert.equal(
    wanted.filter(({ part }) => part === 'sg').map(({ port }) => port),
    [4104, 4204, 4404],
  );
});

test('taken ports are one line that names each and its part; nothing is started or made, and nothing forgotten', async () => {
  const taken = [portBase + 310, portBase + 203];
  const servers = await Promise.all(taken.map(listening));
  const before = await readdir(home);
  const supervisor = spawn(process.execPath, [MAIN, `--port-base=${portBase}`, '--fresh'], {
    env: { ...CHILD_ENVIRONMENT, MERIDIAN_HOME: home },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [said, told] = await Promise.all([text(supervisor.stderr), text(supervisor.stdout), once(supervisor, 'close')]);
  for (const server of servers) server.close();
  const ports = `port ${taken[1]} (ca), port ${taken[0]} (ledger)`;
  const line = `meridian: something else listens on ${ports}; end it, or choose other ports with --port-base\n`;
  assert.equal([supervisor.exitCode, told, said], [1, '', line]);
  assert.equal(await readdir(home), before);
});

test('a home that is a file or lies under one, and production, are one line each', () => {
  const file = join(import.meta.dirname, 'port-check.test.ts');
  for (const [variables, expected] of [
    [{ MERIDIAN_HOME: file }, /^meridian: MERIDIAN_HOME: .*EEXIST.*\n$/],
    [{ MERIDIAN_HOME: join(file, 'home') }, /^meridian: MERIDIAN_HOME: .*ENOTDIR.*\n$/],
    [{ MERIDIAN_HOME: home, NODE_ENV: 'production' }, /^meridian: .*NODE_ENV=production.*\n$/],
  ] as const) {
    const env = { ...CHILD_ENVIRONMENT, ...variables };
    const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN], { env, encoding: 'utf8' });
    assert.equal([status, stdout], [1, ''], stderr);
    assert.match(stderr, expected);
  }
});

async function listening(port: number) {
  const server = createServer().listen(port, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

test.run();

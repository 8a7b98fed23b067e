import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { lockHome } from '../../../cluster/supervisor/home-lock.ts';
import { StartError } from '../../../cluster/supervisor/start-error.ts';
import { until } from '../../fixtures/until.ts';

const MAIL = join(import.meta.dirname, '../../../cluster/mail/main.ts');
const LOCK = join(import.meta.dirname, '../../../cluster/supervisor/home-lock.ts');
const PIDS = 'supervisor.pid';
const home = await mkdtemp(join(tmpdir(), 'meridian-lock-'));
const said: string[] = [];
const lock = () => lockHome(home, (line) => said.push(line));

test.after(() => rm(home, { recursive: true, force: true }));

test('a home has one supervisor, and another one once it is let go', async () => {
  for (let turn = 0; turn < 2; turn++) {
    await using _held = await lock();
    const refused: unknown = await lock().catch((error: unknown) => error);
    assert.instance(refused, StartError);
    assert.match(String(refused), `${home} is in use by the cluster of process ${process.pid}`);
  }
  assert.equal(await readdir(home), []);
});

test('what a killed supervisor left holds nothing, also where its process id is another process’s by now', async () => {
  const hold = `
    const { lockHome } = await import(process.argv[1]);
    await lockHome(process.argv[2], () => {});
    console.log('held');
    setInterval(() => {}, 1000);
  `;
  const holder = spawn(process.execPath, ['--input-type=module', '-e', hold, LOCK, home], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(holder.stdout, 'data');
  const killed = once(holder, 'exit');
  holder.kill('SIGKILL');
  await killed;
  assert.equal((await readdir(home)).toSorted(), [PIDS, 'supervisor.sock'].toSorted());
  await writeFile(join(home, PIDS), `${process.ppid}\n`);
  await using _held = await lock();
  assert.equal(said, []);
});

test('the parts that a killed supervisor left are waited for', async () => {
  await using held = await lock();
  const part = fork(MAIL, [`--directory=${home}`, '--port=0'], { silent: true });
  await once(part, 'message');
  await writeFile(join(home, PIDS), `0\n${part.pid}\n`);
  await held[Symbol.asyncDispose]();
  await writeFile(join(home, PIDS), `0\n${part.pid}\n`);
  let isHeld = false;
  const next = lock().then((taken) => {
    isHeld = true;
    return taken;
  });
  await until('it says so', () => said.length > 0);
  assert.match(said[0] ?? '', `processes ${part.pid}`);
  await sleep(200);
  assert.not(isHeld);
  part.disconnect();
  await using _taken = await next;
  assert.ok(part.exitCode !== null || part.signalCode !== null);
});

test.run();

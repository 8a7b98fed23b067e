import { spawn, spawnSync } from 'node:child_process';
import { appendFileSync, existsSync, readdirSync, writeFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Load, notVerified, verify } from '../fixtures/load.ts';
import { ClusterProcesses } from '../fixtures/processes.ts';
import { until } from '../fixtures/test-node.ts';

const SCRIPTS = join(import.meta.dirname, '../../scripts');
const NODES = ['us', 'eu', 'ca', 'sg'];
const CALLERS = 2;
const PEER_WAIT = '5';

function run(
  script: string,
  ...args: readonly string[]
): Promise<{ readonly status: number | null; readonly text: string }> {
  const child = spawn(process.execPath, [join(SCRIPTS, script), ...args]);
  const parts: string[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (part: Buffer) => parts.push(part.toString()));
  return new Promise((resolve) => child.once('close', (status) => resolve({ status, text: parts.join('') })));
}

test('a node is backed up under load, dies, and goes on from the backup on another home', async () => {
  await using cluster = await ClusterProcesses.create();
  await Promise.all(NODES.map((id) => cluster.startNode(id)));
  await cluster.grantKeys(NODES);
  const { bench } = cluster.demoKeys;
  const { baseUrl } = cluster.node('us');
  const load = new Load({ nodeUrl: `${baseUrl}/verify`, apiKey: bench }, CALLERS);
  const home = cluster.nodeHome('us');
  const [to, again] = [join(cluster.home, 'backups', 'us'), join(cluster.home, 'us-again')];
  const passphraseFile = join(cluster.home, 'passphrase');
  writeFileSync(passphraseFile, 'twelve bytes at the least\n');
  const keys = ['--with-keys', '--passphrase-file', passphraseFile];

  const stop = new AbortController();
  const running = load.run(stop.signal);
  await sleep(1_500);

  // Killed on its way, it leaves nothing that passes for a backup.
  const cut = spawn(process.execPath, [join(SCRIPTS, 'backup.ts'), '--home', home, '--to', to, ...keys]);
  const beside = () => (existsSync(join(to, '..')) ? readdirSync(join(to, '..')) : []);
  await until('the attempt', () => beside().length > 0);
  cut.kill('SIGKILL');
  assert.not.ok(existsSync(to));
  const [partial = ''] = beside();
  const none = await run('restore.ts', join(to, '..', partial), '--home', again);
  assert.equal([none.status, existsSync(again)], [1, false], none.text);

  const pauses = longestPause(load);
  const begun = performance.now();
  const taken = await run('backup.ts', '--home', home, '--to', to, ...keys);
  const seconds = (performance.now() - begun) / 1000;
  const pause = pauses.end();
  assert.is(taken.status, 0, taken.text);
  assert.match(taken.text, 'left by an attempt cut short');
  assert.match(taken.text, 'whole backup of us');
  await sleep(1_000);
  stop.abort();
  await running;
  const { acknowledged } = load;
  await until(
    'all to be sealed and held by peers',
    async () => (await notVerified(cluster.node('eu').baseUrl, acknowledged.slice(-50), bench)).length === 0,
    30_000,
  );
  await cluster.end('us', 'SIGKILL');
  assert.ok(pause < 1_000, `nothing was accepted for ${pause} ms`);

  assert.is((await run('backup.ts', '--home', home, '--to', to)).status, 1, 'what is there is not overwritten');
  const restored = await run('restore.ts', to, '--home', again, '--passphrase-file', passphraseFile);
  assert.is(restored.status, 0, restored.text);
  for (const name of await readdir(join(again, 'keys'))) {
    assert.match(await readFile(join(again, 'keys', name), 'utf8'), '"scrypt"');
  }
  const healing = performance.now();
  await cluster.startNode('us', { NODE_HOME: again, NODE_KEY_PASSPHRASE_FILE: passphraseFile, PEER_WAIT });
  const healed = (performance.now() - healing) / 1000;
  const missing = await countMissing(baseUrl, acknowledged, bench);
  const status = await run('restore.ts', '--status', '--home', again);
  assert.equal([status.status, missing], [0, 0], status.text);
  assert.match(status.text, 'us signs');
  console.log(
    `backup of a node under load in ${seconds.toFixed(1)} s, longest pause ${pause.toFixed(0)} ms; ` +
      `restored, signing again after ${healed.toFixed(1)} s, ${acknowledged.length} records acknowledged, lost = ${missing}`,
  );
  await cluster.end('us');
  const fsck = spawnSync(process.execPath, [join(SCRIPTS, 'fsck.ts'), again, '--passphrase-file', passphraseFile]);
  assert.is(fsck.status, 0, fsck.stdout.toString());

  // A backup that changed is refused, and leaves no home.
  appendFileSync(join(to, 'rosters.json'), ' ');
  const changed = await run('restore.ts', to, '--home', join(cluster.home, 'third'));
  assert.equal([changed.status, existsSync(join(cluster.home, 'third'))], [1, false], changed.text);
  assert.match(changed.text, 'rosters.json is not the file that was backed up');
});

test.run();

async function countMissing(baseUrl: string, ids: readonly string[], apiKey: string): Promise<number> {
  const waiting = [...ids];
  let missing = 0;
  const worker = async () => {
    for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
      if ((await verify(baseUrl, id, apiKey))?.found !== true) missing++;
    }
  };
  await Promise.all(Array.from({ length: 8 }, worker));
  return missing;
}

/** Longest time between two acknowledged records, in milliseconds, until `end`. */
function longestPause(load: Load): { end(): number } {
  let [count, last, longest] = [load.acknowledged.length, performance.now(), 0];
  const look = () => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    if (load.acknowledged.length > count) [count, last] = [load.acknowledged.length, now];
  };
  const timer = setInterval(look, 5);
  return {
    end() {
      clearInterval(timer);
      look();
      return longest;
    },
  };
}

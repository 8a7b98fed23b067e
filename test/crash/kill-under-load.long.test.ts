import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Load, notVerified } from '../fixtures/load.ts';
import { ClusterProcesses } from '../fixtures/processes.ts';

/** `npm run soak` does it a thousand times. */
const KILLS = 50;
const CALLERS = 8;
/** Longest run between two kills, in milliseconds. */
const MAX_RUN_MS = 350;
const CONVERGE_MS = 120_000;
const FSCK = join(import.meta.dirname, '../../scripts/fsck.ts');

test('a node killed again and again at random moments under load loses no acknowledged record, and its peer converges', async () => {
  await using cluster = await ClusterProcesses.create();
  // A start asks every other member, and a verdict needs the word of a quorum of them.
  await Promise.all(['us', 'eu', 'ca', 'sg', 'jp'].map((id) => cluster.startNode(id)));
  await cluster.grantKeys(['us', 'eu']);
  const { baseUrl } = cluster.node('us');
  const load = new Load({ nodeUrl: `${baseUrl}/verify`, apiKey: cluster.demoKeys.bench }, CALLERS);

  const started = performance.now();
  for (let kill = 0; kill < KILLS; kill++) {
    const stop = new AbortController();
    const running = load.run(stop.signal);
    await sleep(20 + Math.random() * MAX_RUN_MS);
    await cluster.end('us', 'SIGKILL');
    stop.abort();
    await running;
    await cluster.startNode('us');
  }
  const seconds = (performance.now() - started) / 1000;
  assert.ok(load.acknowledged.length > KILLS, `only ${load.acknowledged.length} records were acknowledged`);
  assert.is(new Set(load.acknowledged).size, load.acknowledged.length, 'an id was given twice');

  const healing = performance.now();
  const { bench } = cluster.demoKeys;
  const lost = await becomeVerified(baseUrl, load.acknowledged, bench);
  const behind = await becomeVerified(cluster.node('eu').baseUrl, load.acknowledged, bench);
  const healed = (performance.now() - healing) / 1000;
  console.log(
    `${KILLS} kills in ${seconds.toFixed(0)} s, ${load.acknowledged.length} records acknowledged, ` +
      `lost = ${lost.length}, missing at the peer = ${behind.length}, healed in ${healed.toFixed(1)} s`,
  );
  assert.equal(lost, []);
  assert.equal(behind, []);

  for (const id of ['us', 'eu']) {
    await cluster.end(id);
    const fsck = spawnSync(process.execPath, [FSCK, cluster.nodeHome(id)], { encoding: 'utf8' });
    assert.is(fsck.status, 0, fsck.stdout + fsck.stderr);
  }
});

test.run();

async function becomeVerified(baseUrl: string, ids: readonly string[], apiKey: string): Promise<string[]> {
  let missing = [...ids];
  for (const end = performance.now() + CONVERGE_MS; missing.length > 0 && performance.now() < end;) {
    missing = await notVerified(baseUrl, missing, apiKey);
    if (missing.length > 0) await sleep(250);
  }
  return missing;
}

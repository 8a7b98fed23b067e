import { spawnSync } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { attest } from '../../fixtures/load.ts';
import { ClusterProcesses } from '../../fixtures/processes.ts';
import { until } from '../../fixtures/until.ts';
import { parseJson } from '../../../protocol/json/parse.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../protocol/json/value.ts';

const NODES = ['us', 'eu', 'ca', 'sg', 'jp'];
/** Records of a node's life before it lost its store, beside those that it makes for itself after midnight. */
const JP_RECORDS = 40;
const CALLERS = 20;
/** Records verified at each node. */
const SAMPLE = 30;
const PATIENCE_MS = 60_000;
const FSCK = join(import.meta.dirname, '../../../scripts/fsck.ts');

const cluster = await ClusterProcesses.create();
/** Ids of the first 300 records of `eu`. */
const ids: string[] = [];

async function get(node: string, path: string): Promise<JsonObject> {
  const response = await fetch(cluster.node(node).baseUrl + path, { headers: { 'x-api-key': cluster.demoKeys.bench } });
  const body = parseJson(await response.text(), { maxDepth: 64 });
  if (!isJsonObject(body)) throw new Error(`${node}${path} answered no object`);
  return body;
}

/** Records decisions at a node, with a few callers at once. */
async function record(node: string, count: number): Promise<string[]> {
  const target = { nodeUrl: `${cluster.node(node).baseUrl}/verify`, apiKey: cluster.demoKeys.bench };
  const made: string[] = [];
  let sent = 0;
  const call = async () => {
    for (let number = sent++; number < count; number = sent++) {
      const outcome = await attest(target, { sourceId: `${node}/loans`, data: { input: { number }, output: 'yes' } });
      const id = /"attestationId":"([^"]+)"/.exec(outcome?.text ?? '')?.[1];
      if (id === undefined) throw new Error(`${node} answered ${outcome?.status}: ${outcome?.text}`);
      made.push(id);
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, call));
  return made;
}

function sampleOf(all: readonly string[]): string[] {
  return all.filter((_, i) => i % Math.ceil(all.length / SAMPLE) === 0);
}

function checksOf(verdict: JsonObject): JsonValue[] {
  const { cryptoVerification } = verdict;
  const checks = isJsonObject(cryptoVerification) ? cryptoVerification.checks : null;
  return isJsonObject(checks) ? Object.values(checks) : [];
}

interface MemberView {
  readonly batch: number;
  readonly records: number;
  readonly trusted: boolean;
}

/** What a node shows of a member. */
async function memberAt(node: string, member: string): Promise<MemberView> {
  const { members } = await get(node, '/v1/federation');
  const found = Array.isArray(members) ? members.find((one) => isJsonObject(one) && one.node === member) : null;
  if (!isJsonObject(found) || !isJsonObject(found.head)) throw new Error(`${node} does not show ${member}`);
  return { batch: Number(found.head.batch), records: Number(found.head.records), trusted: found.trusted === true };
}

async function recordsAt(node: string, member: string): Promise<number> {
  return (await memberAt(node, member)).records;
}

test.before(async () => {
  await Promise.all(NODES.map((id) => cluster.startNode(id)));
  await cluster.grantKeys(NODES);
});

test.after(() => cluster[Symbol.asyncDispose]());

test('300 decisions into one node are verified on all five, with all five checks true and a quorum of witnesses', async () => {
  ids.push(...(await record('eu', 300)));
  for (const node of NODES) {
    for (const id of sampleOf(ids)) {
      await until(
        `${node} to verify ${id}`,
        async () => {
          const verdict = await get(node, `/v1/verify/${id}`);
          return verdict.verified === true && verdict.witnessed === true;
        },
        PATIENCE_MS,
      );
      const verdict = await get(node, `/v1/verify/${id}`);
      assert.equal([checksOf(verdict), verdict.payloadState], [[true, true, true, true, true], 'available']);
      assert.is(verdict.status, 'confirmed');
    }
  }
});

test('with their origin killed the same records are verified on the other four', async () => {
  await cluster.end('eu', 'SIGKILL');
  for (const node of NODES.filter((id) => id !== 'eu')) {
    for (const id of sampleOf(ids)) {
      const verdict = await get(node, `/v1/verify/${id}`);
      assert.equal([verdict.verified, verdict.witnessed, verdict.payloadState], [true, true, 'unreachable']);
      assert.is(checksOf(verdict).filter((check) => check === true).length, 4);
    }
  }
});

test('killed, it comes back and is as before', async () => {
  await cluster.startNode('eu');
  await until('the payload', async () => {
    return (await get('jp', `/v1/verify/${ids[0]}`)).payloadState === 'available';
  });
});

test('a node that was away for 2,000 records has them soon after its return', async () => {
  await record('jp', JP_RECORDS);
  await until('sg to hold them', async () => (await recordsAt('sg', 'jp')) >= JP_RECORDS);
  await cluster.end('jp');
  const before = await recordsAt('us', 'eu');
  const began = performance.now();
  await record('eu', 2_000);
  const made = performance.now();
  await until('us to hold them', async () => (await recordsAt('us', 'eu')) >= before + 2_000);
  await cluster.startNode('jp');
  const back = performance.now();
  await until('jp to hold them', async () => (await recordsAt('jp', 'eu')) >= before + 2_000, PATIENCE_MS);
  const caughtUp = performance.now();
  console.log(
    `2,000 records made in ${((made - began) / 1000).toFixed(1)} s, ` +
      `had ${((caughtUp - back) / 1000).toFixed(2)} s after the return`,
  );
});

test('a node whose store was emptied rebuilds every chain from its peers, its own among them, and signs one history', async () => {
  await cluster.end('jp');
  const heads = new Map<string, number>();
  for (const member of NODES) heads.set(member, await recordsAt('us', member));
  const lost = await memberAt('us', 'jp');
  assert.ok(lost.trusted && lost.records >= JP_RECORDS);
  await rm(join(cluster.nodeHome('jp'), 'store'), { recursive: true });
  const started = performance.now();
  await cluster.startNode('jp', { START_ALONE: '0' });
  const ready = performance.now();
  assert.equal(await memberAt('jp', 'jp'), lost, 'before it accepts anything');
  for (const [member, records] of heads) {
    await until(`jp to hold ${member}`, async () => (await recordsAt('jp', member)) >= records, PATIENCE_MS);
  }
  console.log(
    `store emptied: ready after ${((ready - started) / 1000).toFixed(1)} s, ` +
      `all chains back after ${((performance.now() - started) / 1000).toFixed(1)} s`,
  );
  await cluster.grantKeys(['jp']);
  const [next = ''] = await record('jp', 1);
  for (const node of NODES) {
    await until(
      `${node} to verify the next`,
      async () => (await get(node, `/v1/verify/${next}`)).verified === true,
      PATIENCE_MS,
    );
    // A node may verify what it has asked another one for, and hold it a moment later.
    await until(`${node} to hold it`, async () => (await recordsAt(node, 'jp')) > lost.records, PATIENCE_MS);
    assert.equal((await get(node, '/v1/federation')).equivocations, []);
  }
  for (const id of sampleOf(ids)) assert.is((await get('jp', `/v1/verify/${id}`)).verified, true);
});

test('the rebuilt store is whole', async () => {
  await cluster.end('jp');
  const fsck = spawnSync(process.execPath, [FSCK, cluster.nodeHome('jp')], { encoding: 'utf8' });
  assert.is(fsck.status, 0, fsck.stdout + fsck.stderr);
});

test.run();

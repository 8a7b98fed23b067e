import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../protocol/json/value.ts';
import { RosterChain } from '../../../protocol/keys/roster-chain.ts';
import { parseRosterFile } from '../../../protocol/keys/roster-file.ts';
import { nobleSuite } from '../../../protocol/suite/noble.ts';
import { parseBundleText } from '../../../protocol/verdict/parse.ts';
import { verifyBundle } from '../../../protocol/verdict/verify.ts';
import { CHILD_ENVIRONMENT } from '../../fixtures/child-environment.ts';
import { attest } from '../../fixtures/load.ts';
import { TestNetwork } from '../../fixtures/test-network.ts';
import { API_KEYS } from '../../fixtures/test-node.ts';
import { until } from '../../fixtures/until.ts';

const NODES = ['us', 'eu', 'ca', 'sg', 'jp'];
/** Records of a node's life before it lost its store, beside those that it makes for itself after midnight. */
const JP_RECORDS = 40;
const CALLERS = 20;
/** Records verified at each node. */
const SAMPLE = 30;
/** Those of them whose bundles are judged as a browser does. */
const BUNDLES = 8;
/** Records that a node misses while it is down. */
const MISSED = 400;
const SCRIPTS = join(import.meta.dirname, '../../../scripts');

const network = await TestNetwork.start({ nodes: NODES, ledger: 'local', config: { batchIntervalMs: 500 } });
/** Ids of the first 300 records of `eu`. */
const ids: string[] = [];

async function get(node: string, path: string): Promise<JsonObject> {
  return (await network.node(node).get(path)).body;
}

/** Records decisions at a node, with a few callers at once. */
async function record(node: string, count: number): Promise<string[]> {
  const target = { nodeUrl: `${network.node(node).baseUrl}/verify`, apiKey: API_KEYS.unmetered };
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

async function bundleText(node: string, id: string): Promise<string> {
  return (await network.node(node).get(`/verify/v1/bundles/${id}?disclosure=1`)).text;
}

/** A script in a process of its own, while the nodes run in this one. */
async function script(
  name: string,
  ...args: readonly string[]
): Promise<{ readonly status: number; readonly out: string }> {
  const child = spawn(process.execPath, [join(SCRIPTS, name), ...args], {
    env: { ...CHILD_ENVIRONMENT, MERIDIAN_HOME: join(network.rosterFile, 'nowhere') },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const out = text(child.stdout);
  const [status] = await once(child, 'exit');
  return { status, out: await out };
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

test.after(() => network[Symbol.asyncDispose]());

test('300 decisions into one node are verified on all five, with all five checks true and a quorum of witnesses', async () => {
  ids.push(...(await record('eu', 300)));
  for (const node of NODES) {
    for (const id of sampleOf(ids)) {
      await until(`${node} to verify ${id}`, async () => {
        const verdict = await get(node, `/v1/verify/${id}`);
        return verdict.verified === true && verdict.witnessed === true;
      });
      const verdict = await get(node, `/v1/verify/${id}`);
      assert.equal([checksOf(verdict), verdict.payloadState], [[true, true, true, true, true], 'available']);
      assert.is(verdict.status, 'confirmed');
    }
  }
});

test('bundles of them verify offline, pinned and witnessed', async () => {
  const pin = RosterChain.open(nobleSuite, parseRosterFile(await readFile(network.rosterFile, 'utf8')));
  for (const id of sampleOf(ids).slice(0, BUNDLES)) {
    const verdict = verifyBundle(nobleSuite, parseBundleText(await bundleText('eu', id)), { pin: pin.genesis });
    assert.equal(verdict.problems, []);
    assert.ok(verdict.verified && verdict.pinned && verdict.facts.witnessed && verdict.checks.payloadHashMatch);
  }
});

test('the verify command tells a good bundle from a changed one and from one that nothing pins', async () => {
  const file = join(dirname(network.rosterFile), 'bundle.json');
  const bundle = await bundleText('eu', ids[0] ?? '');
  await writeFile(file, bundle);
  assert.is((await script('verify.ts', file, '--roster', network.rosterFile)).status, 0);
  assert.is((await script('verify.ts', file)).status, 3);
  await writeFile(file, bundle.replace(/sourceSeq\\":\d+/, 'sourceSeq\\":7777777'));
  const changed = await script('verify.ts', file, '--roster', network.rosterFile);
  assert.is(changed.status, 1);
  assert.match(changed.out, 'NOT VERIFIED (not-signed)');
  await writeFile(file, bundle.slice(0, -2));
  assert.is((await script('verify.ts', file)).status, 2);
});

test('with their origin gone the same records are verified on the other four', async () => {
  await network.node('eu').stop();
  for (const node of NODES.filter((id) => id !== 'eu')) {
    for (const id of sampleOf(ids)) {
      const verdict = await get(node, `/v1/verify/${id}`);
      assert.equal([verdict.verified, verdict.witnessed, verdict.payloadState], [true, true, 'unreachable']);
      assert.is(checksOf(verdict).filter((check) => check === true).length, 4);
    }
  }
});

test('it comes back and is as before', async () => {
  await network.node('eu').start();
  await until('the payload', async () => {
    return (await get('jp', `/v1/verify/${ids[0]}`)).payloadState === 'available';
  });
});

test(`a node that was away for ${MISSED} records has them soon after its return`, async () => {
  await record('jp', JP_RECORDS);
  await until('sg to hold them', async () => (await recordsAt('sg', 'jp')) >= JP_RECORDS);
  await network.node('jp').stop();
  const before = await recordsAt('us', 'eu');
  const began = performance.now();
  await record('eu', MISSED);
  const made = performance.now();
  await until('us to hold them', async () => (await recordsAt('us', 'eu')) >= before + MISSED);
  await network.node('jp').start();
  const back = performance.now();
  await until('jp to hold them', async () => (await recordsAt('jp', 'eu')) >= before + MISSED);
  const caughtUp = performance.now();
  console.log(
    `${MISSED} records made in ${((made - began) / 1000).toFixed(1)} s, ` +
      `had ${((caughtUp - back) / 1000).toFixed(2)} s after the return`,
  );
});

test('a node whose store was emptied rebuilds every chain from its peers, its own among them, and signs one history', async () => {
  await network.node('jp').stop();
  const heads = new Map<string, number>();
  for (const member of NODES) heads.set(member, await recordsAt('us', member));
  const lost = await memberAt('us', 'jp');
  assert.ok(lost.trusted && lost.records >= JP_RECORDS);
  await rm(join(network.node('jp').config.home, 'store'), { recursive: true });
  const started = performance.now();
  await network.node('jp').start();
  const ready = performance.now();
  assert.equal(await memberAt('jp', 'jp'), lost, 'before it accepts anything');
  for (const [member, records] of heads) {
    await until(`jp to hold ${member}`, async () => (await recordsAt('jp', member)) >= records);
  }
  console.log(
    `store emptied: ready after ${((ready - started) / 1000).toFixed(1)} s, ` +
      `all chains back after ${((performance.now() - started) / 1000).toFixed(1)} s`,
  );
  const [next = ''] = await record('jp', 1);
  for (const node of NODES) {
    await until(`${node} to verify the next`, async () => (await get(node, `/v1/verify/${next}`)).verified === true);
    // A node may verify what it has asked another one for, and hold it a moment later.
    await until(`${node} to hold it`, async () => (await recordsAt(node, 'jp')) > lost.records);
    assert.equal((await get(node, '/v1/federation')).equivocations, []);
  }
  for (const id of sampleOf(ids)) assert.is((await get('jp', `/v1/verify/${id}`)).verified, true);
});

test('the rebuilt store is whole', async () => {
  await network.node('jp').stop();
  const fsck = await script('fsck.ts', network.node('jp').config.home);
  assert.is(fsck.status, 0, fsck.out);
});

test.run();

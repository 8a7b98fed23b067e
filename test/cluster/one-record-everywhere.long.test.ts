import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { parseBundleText } from '../../protocol/verdict/parse.ts';
import { verifyBundle } from '../../protocol/verdict/verify.ts';
import { RosterChain } from '../../protocol/keys/roster-chain.ts';
import { parseRosterFile } from '../../protocol/keys/roster-file.ts';
import { nobleSuite } from '../../protocol/suite/noble.ts';
import { CHILD_ENVIRONMENT } from '../fixtures/child-environment.ts';
import { ClusterProcesses } from '../fixtures/processes.ts';

const ROOT = join(import.meta.dirname, '../..');
/** 4,023 real answers of language models where they are at hand; else 120 decisions of our own making. */
const REAL_DECISIONS = join(ROOT, '../shared/data/decisions/llm-decisions.jsonl');
const DECISIONS = existsSync(REAL_DECISIONS) ? REAL_DECISIONS : join(ROOT, 'test/fixtures/decisions.jsonl');
const NODES: readonly string[] = ['us', 'eu', 'ca', 'sg', 'jp'];
const SAMPLE = 200;
const BUNDLES = 50;
/** Records of a sending that is killed half-way. */
const KILLED = 600;
/** Records that a node misses while it is down. */
const MISSED = 2_000;
const SETTLE_MS = 60_000;

const travels = suite('one record travels the whole federation');
const cluster = await ClusterProcesses.create();
await Promise.all(NODES.map((id) => cluster.startNode(id)));
await cluster.grantKeys(NODES);
let sample: readonly string[] = [];

travels.after(() => cluster[Symbol.asyncDispose]());

travels('every decision of a file is accepted and confirmed, and none is sent twice', async () => {
  const lines = (await readFile(DECISIONS, 'utf8')).trim().split('\n').length;
  const first = attestFile('eu', DECISIONS);
  assert.is(first.status, 0, first.output);
  assert.match(first.output, `${lines} records: ${lines} accepted now, 0 before, 0 refused`);
  assert.match(first.output, `${lines} of ${lines} confirmed on the ledger`);
  const second = attestFile('eu', DECISIONS);
  assert.match(second.output, `${lines} records: 0 accepted now, ${lines} before, 0 refused`);
  sample = pick(await acceptedIds('eu'), SAMPLE);
  console.log(first.output.trim());
});

travels('a sending that was killed half-way goes on, and the node holds each record once', async () => {
  const file = join(cluster.home, 'killed.jsonl');
  const bodies = Array.from({ length: KILLED }, (_, i) => JSON.stringify({ sourceId: 'killed', data: { input: i } }));
  await writeFile(file, `${bodies.join('\n')}\n`);
  const sending = spawn(process.execPath, attestArguments('ca', file), { stdio: 'ignore' });
  while ((await recordsOf('ca', 'killed')) < KILLED / 4) await sleep(20);
  sending.kill('SIGKILL');
  const resumed = attestFile('ca', file);
  assert.is(resumed.status, 0, resumed.output);
  assert.match(resumed.output, /, [1-9]\d* before, 0 refused/);
  assert.is(await recordsOf('ca', 'killed'), KILLED);
});

travels('a random sample holds all five checks on each of the five nodes', async () => {
  for (const id of NODES) {
    const failing = await settle(() => failingAt(id, (body) => allChecks(body) && body.verified === true));
    assert.equal(failing, [], `at ${id}`);
  }
});

travels('bundles of the sample verify offline, pinned and witnessed', async () => {
  const pin = RosterChain.open(nobleSuite, parseRosterFile(await readFile(join(cluster.home, 'roster.json'), 'utf8')));
  for (const id of sample.slice(0, BUNDLES)) {
    const verdict = verifyBundle(nobleSuite, parseBundleText(await bundleText('eu', id)), { pin: pin.genesis });
    assert.equal(verdict.problems, []);
    assert.ok(verdict.verified && verdict.pinned && verdict.facts.witnessed && verdict.checks.payloadHashMatch);
  }
});

travels('the verify command tells a good bundle from a changed one and from one that nothing pins', async () => {
  const file = join(cluster.home, 'bundle.json');
  const text = await bundleText('eu', sample[0] ?? '');
  await writeFile(file, text);
  assert.is(verifyCommand(file, '--roster', join(cluster.home, 'roster.json')).status, 0);
  assert.is(verifyCommand(file).status, 3);
  await writeFile(file, text.replace(/sourceSeq\\":\d+/, 'sourceSeq\\":7777777'));
  const changed = verifyCommand(file, '--roster', join(cluster.home, 'roster.json'));
  assert.is(changed.status, 1);
  assert.match(changed.stdout, 'NOT VERIFIED (not-signed)');
  await writeFile(file, text.slice(0, -2));
  assert.is(verifyCommand(file).status, 2);
});

travels('with the origin dead, the other four still verify every record of the sample', async () => {
  await cluster.end('eu', 'SIGKILL');
  for (const id of NODES.filter((node) => node !== 'eu')) {
    const failing = await failingAt(id, (body) => body.verified === true && body.payloadState === 'unreachable');
    assert.equal(failing, [], `at ${id}`);
  }
  await cluster.startNode('eu');
});

travels(`a node that was down for ${MISSED} records catches up within seconds of its return`, async () => {
  await cluster.end('jp', 'SIGKILL');
  const file = join(cluster.home, 'missed.jsonl');
  const bodies = Array.from({ length: MISSED }, (_, i) => JSON.stringify({ sourceId: 'missed', data: { input: i } }));
  await writeFile(file, `${bodies.join('\n')}\n`);
  assert.is(attestFile('us', file).status, 0);
  const target = await recordsHeld('us', 'us');
  await cluster.startNode('jp');
  const started = performance.now();
  await settle(async () => ((await recordsHeld('jp', 'us')) >= target ? [] : ['behind']));
  const seconds = (performance.now() - started) / 1000;
  console.log(`${MISSED} missed records were caught up ${seconds.toFixed(1)} s after the node was ready again`);
  assert.ok((await recordsHeld('jp', 'us')) <= (await recordsHeld('us', 'us')), 'more than there are');
});

travels(
  'a node whose store was emptied rebuilds every chain from its peers, its own among them, and signs one history',
  async () => {
    await cluster.end('jp', 'SIGKILL');
    const heads = new Map<string, number>();
    for (const member of NODES) heads.set(member, await recordsHeld('us', member));
    await rm(join(cluster.nodeHome('jp'), 'store'), { recursive: true });
    const started = performance.now();
    await cluster.startNode('jp', { START_ALONE: '0' });
    for (const [member, records] of heads) {
      assert.equal(
        await settle(async () => ((await recordsHeld('jp', member)) >= records ? [] : ['behind'])),
        [],
        member,
      );
    }
    console.log(`an emptied store is whole again after ${((performance.now() - started) / 1000).toFixed(1)} s`);
    await cluster.grantKeys(['jp']);
    const file = join(cluster.home, 'next.jsonl');
    await writeFile(file, JSON.stringify({ sourceId: 'next', data: { input: 1 } }));
    const sent = attestFile('jp', file);
    assert.is(sent.status, 0, sent.output);
    assert.match(sent.output, '1 of 1 confirmed on the ledger');
    for (const node of NODES) {
      const { equivocations } = await federationAt(node);
      assert.equal(equivocations, [], node);
    }
  },
);

travels('the rebuilt store is whole', async () => {
  await cluster.end('jp');
  const fsck = spawnSync(process.execPath, [join(ROOT, 'scripts/fsck.ts'), cluster.nodeHome('jp')], {
    encoding: 'utf8',
  });
  assert.is(fsck.status, 0, fsck.stdout + fsck.stderr);
});

travels.run();

interface FederationBody {
  readonly members: readonly { readonly node: string; readonly head: { readonly records: number } }[];
  readonly equivocations: readonly unknown[];
}

interface VerifyBody {
  readonly verified?: boolean;
  readonly payloadState?: string;
  readonly cryptoVerification?: { readonly checks?: Readonly<Record<string, boolean>> };
}

function attestFile(node: string, file: string) {
  const run = spawnSync(process.execPath, attestArguments(node, file), { encoding: 'utf8' });
  return { status: run.status, output: run.stdout + run.stderr };
}

function attestArguments(node: string, file: string): string[] {
  const flags = [`--url=${cluster.node(node).baseUrl}/verify`, `--api-key=${cluster.demoKeys.bench}`];
  return [join(ROOT, 'scripts/attest.ts'), file, ...flags, `--state=${stateFile(node, file)}`];
}

function stateFile(node: string, file: string): string {
  return join(cluster.home, `${basename(file)}-${node}.state`);
}

/** Records that a node has made of a source; beside them it makes some for itself after midnight. */
async function recordsOf(node: string, source: string): Promise<number> {
  const headers = { 'x-api-key': cluster.demoKeys.bench };
  const response = await fetch(`${cluster.node(node).baseUrl}/v1/sources/${source}/continuity`, { headers });
  const body: { lastSeq?: number } = await response.json();
  return body.lastSeq ?? 0;
}

async function acceptedIds(node: string): Promise<string[]> {
  const text = await readFile(stateFile(node, DECISIONS), 'utf8');
  return [...text.matchAll(/att_[a-z0-9]+_[0-9A-Z]{26}/g)].map(([id]) => id);
}

function pick(ids: readonly string[], count: number): string[] {
  return ids
    .map((id) => ({ id, order: Math.random() }))
    .toSorted((a, b) => a.order - b.order)
    .slice(0, count)
    .map(({ id }) => id);
}

function allChecks({ cryptoVerification }: VerifyBody): boolean {
  const checks = Object.values(cryptoVerification?.checks ?? {});
  return checks.length === 5 && checks.every(Boolean);
}

async function failingAt(node: string, holds: (body: VerifyBody) => boolean): Promise<string[]> {
  const failing: string[] = [];
  const waiting = [...sample];
  const worker = async () => {
    for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
      const headers = { 'x-api-key': cluster.demoKeys.bench };
      const response = await fetch(`${cluster.node(node).baseUrl}/v1/verify/${id}`, { headers });
      const body: VerifyBody = await response.json();
      if (!holds(body)) failing.push(`${id} ${JSON.stringify(body)}`);
    }
  };
  await Promise.all(Array.from({ length: 8 }, worker));
  return failing;
}

/** Looks again until nothing fails, or the time is up: regions read the ledger at their own pace. */
async function settle(look: () => Promise<string[]>): Promise<string[]> {
  for (const end = performance.now() + SETTLE_MS; ; await sleep(100)) {
    const failing = await look();
    if (failing.length === 0 || performance.now() > end) return failing;
  }
}

async function bundleText(node: string, id: string): Promise<string> {
  const url = `${cluster.node(node).baseUrl}/verify/v1/bundles/${id}?disclosure=1`;
  return (await fetch(url, { headers: { 'x-api-key': cluster.demoKeys.bench } })).text();
}

function verifyCommand(file: string, ...flags: readonly string[]) {
  const env = { ...CHILD_ENVIRONMENT, MERIDIAN_HOME: join(cluster.home, 'nowhere') };
  return spawnSync(process.execPath, [join(ROOT, 'scripts/verify.ts'), file, ...flags], { encoding: 'utf8', env });
}

async function federationAt(node: string): Promise<FederationBody> {
  const headers = { 'x-api-key': cluster.demoKeys.bench };
  const response = await fetch(`${cluster.node(node).baseUrl}/v1/federation`, { headers });
  const body: FederationBody = await response.json();
  return body;
}

async function recordsHeld(at: string, of: string): Promise<number> {
  return (await federationAt(at)).members.find(({ node }) => node === of)?.head.records ?? 0;
}

import { spawnSync } from 'node:child_process';
import { copyFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { attest } from '../../fixtures/load.ts';
import { ClusterProcesses } from '../../fixtures/processes.ts';
import { until } from '../../fixtures/until.ts';
import { rosterCommand } from '../../../scripts/roster/command.ts';
import { parseJson } from '../../../protocol/json/parse.ts';
import { isJsonObject, type JsonObject } from '../../../protocol/json/value.ts';

const FOUNDERS = ['us', 'eu', 'ca', 'sg', 'jp'];
const RECORDS = 10;
const PATIENCE_MS = 90_000;
/** Within this time a removed node must be alone. */
const REMOVAL_MS = 60_000;
const SCRIPTS = join(import.meta.dirname, '../../../scripts');

const cluster = await ClusterProcesses.create();
/** Records by the node that made them. */
const made = new Map<string, string[]>();

async function get(node: string, path: string): Promise<JsonObject> {
  const response = await fetch(`http://127.0.0.1:${cluster.node(node).httpPort}${path}`, {
    headers: { 'x-api-key': cluster.demoKeys.bench },
  });
  const body = parseJson(await response.text(), { maxDepth: 64 });
  if (!isJsonObject(body)) throw new Error(`${node}${path} answered no object`);
  return body;
}

async function post(node: string): Promise<{ readonly status: number; readonly body: JsonObject }> {
  const target = { nodeUrl: `http://127.0.0.1:${cluster.node(node).httpPort}/verify`, apiKey: cluster.demoKeys.bench };
  const outcome = await attest(target, { sourceId: 'loans', data: { input: { made: made.size }, output: 'yes' } });
  const body = parseJson(outcome?.text ?? '{}', { maxDepth: 64 });
  return { status: outcome?.status ?? 0, body: isJsonObject(body) ? body : {} };
}

async function record(node: string, count: number): Promise<string> {
  let last = '';
  for (let i = 0; i < count; i++) {
    const { status, body } = await post(node);
    if (typeof body.attestationId !== 'string') throw new Error(`${node} answered ${status}`);
    last = body.attestationId;
    made.set(node, [...(made.get(node) ?? []), last]);
  }
  return last;
}

interface View {
  readonly version: unknown;
  readonly members: ReadonlyMap<string, JsonObject>;
}

async function viewOf(node: string): Promise<View> {
  const { roster: current, members } = await get(node, '/v1/federation');
  const list = Array.isArray(members) ? members.filter(isJsonObject) : [];
  return {
    version: isJsonObject(current) ? current.version : null,
    members: new Map(list.map((member) => [String(member.node), member])),
  };
}

/** Waits until these nodes have a roster of this version in force; returns the seconds. */
async function inForce(version: number, nodes: readonly string[]): Promise<string> {
  const began = performance.now();
  for (const node of nodes) {
    await until(`${node} to have roster ${version}`, async () => (await viewOf(node)).version === version, PATIENCE_MS);
  }
  return ((performance.now() - began) / 1000).toFixed(2);
}

async function verified(nodes: readonly string[], id: string): Promise<void> {
  for (const node of nodes) {
    await until(
      `${node} to verify ${id}`,
      async () => {
        const verdict = await get(node, `/v1/verify/${id}`);
        return verdict.verified === true && verdict.witnessed === true;
      },
      PATIENCE_MS,
    );
  }
}

/** Runs `npm run roster` in this process. */
async function roster(...args: readonly string[]): Promise<{ readonly code: number; readonly text: string }> {
  const lines: string[] = [];
  const code = await rosterCommand(args, { out: (line) => lines.push(line), err: (line) => lines.push(line) });
  return { code, text: lines.join('\n') };
}

async function mustRun(...args: readonly string[]): Promise<string> {
  const { code, text } = await roster(...args);
  assert.is(code, 0, text);
  return text;
}

function file(name: string): string {
  return join(cluster.home, name);
}

function home(node: string): string {
  return cluster.nodeHome(node);
}

/** What a node brings to a roster, as its operator makes it. */
async function memberFile(id: string, others: Readonly<Record<string, string>> = {}): Promise<string> {
  const { region, baseUrl, peerAddress, operatorId: account } = cluster.node(id);
  const out = file(`member-${id}.json`);
  const place = { region, 'base-url': baseUrl, peer: peerAddress, account };
  const flags = { home: home(id), node: id, ...place, out, ...others };
  await mustRun('member', ...Object.entries(flags).map(([flag, value]) => `--${flag}=${value}`));
  return out;
}

/** Drafts the next roster, and has these nodes name it. */
async function change(name: string, namers: readonly string[], ...flags: readonly string[]): Promise<void> {
  const [first = ''] = namers;
  const proposal = file(name);
  await mustRun('propose', ...flags, '--home', home(first), '--out', proposal);
  for (const node of namers) await mustRun('name', proposal, '--home', home(node));
}

function verifyOffline(bundle: string): number | null {
  const args = [join(SCRIPTS, 'verify.ts'), bundle, '--roster', cluster.rosterFile];
  return spawnSync(process.execPath, args, { encoding: 'utf8' }).status;
}

test.before(async () => {
  await Promise.all(FOUNDERS.map((id) => cluster.startNode(id)));
  await cluster.grantKeys(FOUNDERS);
  for (const node of ['eu', 'jp']) await record(node, RECORDS);
});

test.after(() => cluster[Symbol.asyncDispose]());

test('a sixth node, and a second one in a region, join the running federation and serve', async () => {
  cluster.planNode('za', 'ZA/Johannesburg');
  cluster.planNode('eu2', 'EU/Dublin');
  const [za, eu2] = [await memberFile('za'), await memberFile('eu2')];
  const proposal = file('join.json');
  await mustRun('propose', '--add', za, '--add', eu2, '--home', home('us'), '--out', proposal);
  // Each operator is sent a copy of the file, and has their own node name it; nobody sends a key.
  const copy = file('join-copy.json');
  await copyFile(proposal, copy);
  assert.match(await mustRun('name', proposal, '--home', home('us')), 'us names roster 2');
  await mustRun('name', copy, '--home', home('eu'));
  await until('the names to be seen', async () => {
    return (await mustRun('show', '--home', home('jp'))).includes('2 of 3');
  });
  assert.is((await viewOf('jp')).version, 1, 'two of five are no majority');
  await mustRun('name', copy, '--home', home('ca'));
  const applied = await inForce(2, FOUNDERS);
  const rosters = file('roster-2.json');
  await mustRun('show', '--home', home('us'), '--out', rosters);
  const began = performance.now();
  await Promise.all(['za', 'eu2'].map((id) => cluster.startNode(id, { ROSTER: rosters })));
  await cluster.grantKeys(['za', 'eu2']);
  const old = made.get('eu')?.at(-1) ?? '';
  await verified(['za', 'eu2'], old);
  const caughtUp = ((performance.now() - began) / 1000).toFixed(1);
  const all = [...FOUNDERS, 'za', 'eu2'];
  for (const node of ['za', 'eu2']) {
    const id = await record(node, 5);
    await verified(all, id);
  }
  await verified(['za', 'eu2'], await record('eu', 1));
  console.log(`roster in force on all five ${applied} s after its publication; newcomers serve after ${caughtUp} s`);
});

test('old and new bundles verify offline by the genesis roster', async () => {
  for (const node of ['eu', 'za', 'eu2']) {
    const [id = ''] = made.get(node) ?? [];
    const bundle = file(`bundle-${node}.json`);
    await writeFile(bundle, JSON.stringify(await get(node, `/v1/bundles/${id}`)));
    assert.is(verifyOffline(bundle), 0, node);
  }
});

test('a member that moves is answered for, and dialled, under its new addresses without any restart but its own', async () => {
  const { httpPort, peerAddress } = cluster.node('sg');
  const moved = `http://localhost:${httpPort}`;
  const listen = peerAddress.replace(/\d+$/, (port) => String(Number(port) + 20));
  const card = await memberFile('sg', { 'base-url': moved, peer: listen });
  await change('move.json', ['us', 'ca', 'jp', 'za'], '--move', card);
  await inForce(3, [...FOUNDERS, 'za', 'eu2']);
  await until('sg to answer under its new address', async () => {
    return String((await post('sg')).body.verifyUrl).startsWith(`${moved}/v1/verify/`);
  });
  assert.match(JSON.stringify(await get('sg', '/openapi.json')), `"url":"${moved}"`);
  assert.match(String((await get('sg', '/v1/nowhere')).type), `${moved}/problems/`);
  await cluster.end('sg');
  await cluster.startNode('sg', { PEER_LISTEN: listen });
  for (const node of ['us', 'jp', 'za']) {
    await until(`${node} to reach sg`, async () => {
      const { members } = await viewOf(node);
      return members.get('sg')?.connected === true && members.get('sg')?.baseUrl === moved;
    });
  }
  await verified(['us', 'eu2'], await record('sg', 1));
});

test('a tie of two rosters is left by a change of mind, and an old roster is named by no node', async () => {
  const nodes = [...FOUNDERS, 'za', 'eu2'];
  const old = await roster('name', file('join.json'), '--home', home('jp'));
  assert.equal([old.code, /does not follow the one in force/.test(old.text)], [1, true], old.text);
  await change('three.json', ['us', 'ca', 'sg'], '--quorum', '2');
  await change('reach.json', ['eu', 'za', 'eu2'], '--reach', '86400');
  await until('the tie', async () => (await mustRun('show', '--home', home('jp'))).match(/3 of 4/g)?.length === 2);
  for (const node of nodes) assert.is((await viewOf(node)).version, 3);
  await mustRun('name', file('reach.json'), '--home', home('us'));
  await inForce(4, nodes);
  await verified(['za', 'jp'], await record('ca', 1));
});

test('a removed node is disconnected everywhere within a minute, signs nothing more, and its records stay', async () => {
  await cluster.end('jp');
  await verified(['us'], made.get('za')?.at(-1) ?? '');
  const rest = ['us', 'eu', 'ca', 'sg', 'eu2'];
  const began = performance.now();
  await change('remove.json', ['us', 'eu', 'eu2', 'ca'], '--remove', 'za');
  await inForce(5, rest);
  await until(
    'za to be alone',
    async () => [...(await viewOf('za')).members.values()].every(({ node, connected }) => node === 'za' || !connected),
    REMOVAL_MS,
  );
  const gone = performance.now();
  for (const node of rest) assert.not.ok((await viewOf(node)).members.has('za'));
  await until('za to accept nothing', async () => (await post('za')).status === 503);
  console.log(`removed and alone after ${((gone - began) / 1000).toFixed(1)} s`);
  for (const node of rest) {
    const verdict = await get(node, `/v1/verify/${made.get('za')?.at(-1)}`);
    assert.equal([verdict.verified, verdict.witnessed], [true, true], node);
  }
  await until('za to be released', async () => Object((await get('za', '/v1/health')).removed).released === true);
  await cluster.end('za');
  await cluster.startNode('za', { ROSTER: file('roster-2.json') });
  assert.equal((await get('za', '/v1/health')).removed, { released: true });
  assert.is((await post('za')).status, 503);
});

test('a node that was away during two roster changes comes back to the third', async () => {
  await change('quorum.json', ['us', 'eu', 'ca', 'sg'], '--quorum', '4');
  await inForce(6, ['us', 'eu', 'ca', 'sg', 'eu2']);
  const id = await record('eu2', 1);
  const began = performance.now();
  await cluster.startNode('jp');
  const started = performance.now();
  await inForce(6, ['jp']);
  const seconds = ((performance.now() - started) / 1000).toFixed(2);
  await verified(['jp'], id);
  await verified(['us', 'eu2'], await record('jp', 1));
  console.log(`jp is back under roster 6 ${seconds} s after its start (${((started - began) / 1000).toFixed(1)} s)`);
});

test('a node that was removed while it was off hears of it when it starts, though nobody talks to it', async () => {
  await cluster.end('eu2');
  await change('remove-eu2.json', ['us', 'ca', 'sg', 'jp'], '--remove', 'eu2');
  await inForce(7, ['us', 'jp']);
  const began = performance.now();
  await cluster.startNode('eu2', { ROSTER: file('roster-2.json') });
  await until('eu2 to accept nothing', async () => (await post('eu2')).status === 503, REMOVAL_MS);
  console.log(
    `removed while off: signs nothing ${((performance.now() - began) / 1000).toFixed(1)} s after its start began`,
  );
});

test('every store is whole', async () => {
  for (const node of ['jp', 'eu2']) {
    await cluster.end(node);
    const fsck = spawnSync(process.execPath, [join(SCRIPTS, 'fsck.ts'), home(node)], { encoding: 'utf8' });
    assert.is(fsck.status, 0, fsck.stdout + fsck.stderr);
  }
});

test.run();

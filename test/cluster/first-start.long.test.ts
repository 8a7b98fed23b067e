import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { CHILD_ENVIRONMENT } from '../fixtures/child-environment.ts';
import { attest, verify } from '../fixtures/load.ts';
import { isAlive, LocalCluster } from '../fixtures/local-cluster.ts';
import { freePortBase } from '../fixtures/ports.ts';
import { until } from '../fixtures/until.ts';

const MAIN = join(import.meta.dirname, '../../cluster/main.ts');
/** Between two looks for the file that a step makes. In milliseconds. */
const LOOK_MS = 5;
/** What the steps of a first start make before a node starts, in order. */
const STEPS = [
  'first-start',
  'jp/keys/signing.key',
  'ledger/operators.json',
  'ledger/store',
  'chain/journal.jsonl',
  'roster.json',
];
/** How long the nodes have been starting when they are killed. In milliseconds. */
const MOMENTS = [300, 2_000];

const first = suite('a first start');
const home = await mkdtemp(join(tmpdir(), 'meridian-first-'));
const portBase = await freePortBase();
let cluster: LocalCluster | undefined;

first.after(async () => {
  await cluster?.end();
  await rm(home, { recursive: true, force: true });
});

first('that is killed at each of its steps leaves nothing that stops the next', async () => {
  for (const step of STEPS) {
    const { supervisor } = begin();
    await madeBy(supervisor, step);
    await kill(supervisor);
  }
  for (const moment of MOMENTS) {
    const { supervisor } = begin();
    await madeBy(supervisor, 'us/node.log');
    await sleep(moment);
    await kill(supervisor);
  }
  await worksAndEnds();
});

first('anew, killed while the home is forgotten, leaves no store of the old federation', async () => {
  const before = await readFile(join(home, 'roster.json'), 'utf8');
  const { supervisor } = begin(['--fresh']);
  await until('the roster is gone', () => !existsSync(join(home, 'roster.json')));
  await kill(supervisor);
  await worksAndEnds();
  assert.is.not(await readFile(join(home, 'roster.json'), 'utf8'), before);
});

first('whose port is taken while it starts says which in one line, and ends all that it started', async () => {
  const { supervisor, output } = begin(['--fresh']);
  await until('the old roster is gone', () => !existsSync(join(home, 'roster.json')));
  await madeBy(supervisor, 'roster.json');
  const server = createServer().listen(portBase + 102, '127.0.0.1');
  const pids = (await readFile(join(home, 'supervisor.pid'), 'utf8')).trim().split('\n').map(Number);
  await once(supervisor, 'close');
  server.close();
  assert.is(supervisor.exitCode, 1);
  const line = `meridian: something else listens on port ${portBase + 102} \\(eu\\); .*\n`;
  assert.match(output(), new RegExp(`^(?:waiting .*\n)?${line}$`));
  assert.ok(pids.length > 3, 'the supervisor and the parts beside the nodes');
  assert.not(pids.some(isAlive), 'a part is left');
});

first.run();

/** Starts it whole, has a record confirmed, and ends it. */
async function worksAndEnds(): Promise<void> {
  cluster = await LocalCluster.start(home, portBase);
  const { nodes, demo } = await cluster.file();
  const [{ nodeUrl, baseUrl } = { nodeUrl: '', baseUrl: '' }] = nodes;
  const outcome = await attest({ nodeUrl, apiKey: demo.apiKeys.developer }, { sourceId: 'first', data: { input: 1 } });
  const id = /"attestationId":"([^"]+)"/.exec(outcome?.text ?? '')?.[1] ?? '';
  await until('the record is verified', async () => (await verify(baseUrl, id))?.verified === true);
  assert.not(existsSync(join(home, 'first-start')));
  assert.is(await cluster.end(), 0);
}

function begin(flags: readonly string[] = []): { readonly supervisor: ChildProcess; output(): string } {
  const supervisor = spawn(process.execPath, [MAIN, `--port-base=${portBase}`, ...flags], {
    env: { ...CHILD_ENVIRONMENT, MERIDIAN_HOME: home },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [supervisor.stdout, supervisor.stderr]) {
    stream.on('data', (data: Buffer) => (output += data.toString()));
  }
  supervisor.once('close', (code) => code && console.log(`ended with ${code}: ${output}`));
  return { supervisor, output: () => output };
}

async function kill(supervisor: ChildProcess): Promise<void> {
  const closed = once(supervisor, 'close');
  supervisor.kill('SIGKILL');
  await closed;
}

/** Waits for a file, and throws where the start ends before it. */
async function madeBy(supervisor: ChildProcess, file: string): Promise<void> {
  // What an earlier start left is there still until this one has the home.
  const pids = () => readFile(join(home, 'supervisor.pid'), 'utf8').catch(() => '');
  const isOwn = async () => (await pids()).startsWith(`${supervisor.pid}\n`);
  while (!(await isOwn()) || !existsSync(join(home, file))) {
    if (supervisor.exitCode !== null) throw new Error(`the start ended before ${file}`);
    await sleep(LOOK_MS);
  }
}

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { CHILD_ENVIRONMENT } from '../fixtures/child-environment.ts';
import { API_KEYS } from '../fixtures/test-node.ts';
import { TestNetwork } from '../fixtures/test-network.ts';
import { until } from '../fixtures/until.ts';

const SCRIPT = join(import.meta.dirname, '../../scripts/attest.ts');
const DECISIONS = join(import.meta.dirname, '../fixtures/decisions.jsonl');
/** Records of a sending that is killed half-way. */
const KILLED = 400;

const network = await TestNetwork.start({ ledger: 'local', config: { batchIntervalMs: 100 } });
const node = network.node();
const folder = await mkdtemp(join(tmpdir(), 'meridian-attest-'));

test.after(async () => {
  await network[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

test('every decision of a file is accepted and confirmed, and none is sent twice', async () => {
  const lines = (await readFile(DECISIONS, 'utf8')).trim().split('\n').length;
  const first = await attested(DECISIONS);
  assert.is(first.exit, 0, first.output);
  assert.match(first.output, `${lines} records: ${lines} accepted now, 0 before, 0 refused`);
  assert.match(first.output, `${lines} of ${lines} confirmed on the ledger`);
  for (const id of (await readFile(stateOf(DECISIONS), 'utf8')).match(/att_[a-z0-9]+_[0-9A-Z]{26}/g) ?? []) {
    assert.is((await node.get(`/v1/verify/${id}`)).body.status, 'confirmed');
  }
  const second = await attested(DECISIONS);
  assert.match(second.output, `${lines} records: 0 accepted now, ${lines} before, 0 refused`);
});

test('a sending that was killed half-way goes on, and the node holds each record once', async () => {
  const file = join(folder, 'killed.jsonl');
  const bodies = Array.from({ length: KILLED }, (_, i) => JSON.stringify({ sourceId: 'killed', data: { input: i } }));
  await writeFile(file, `${bodies.join('\n')}\n`);
  const sending = start(file);
  await until('some to be sent', async () => (await recordsOf('killed')) >= KILLED / 8);
  sending.kill('SIGKILL');
  await once(sending, 'exit');
  const resumed = await attested(file);
  assert.is(resumed.exit, 0, resumed.output);
  assert.match(resumed.output, /, [1-9]\d* before, 0 refused/);
  assert.is(await recordsOf('killed'), KILLED);
});

test.run();

function start(file: string): ChildProcess {
  const flags = [`--url=${node.baseUrl}/verify`, `--api-key=${API_KEYS.unmetered}`, `--state=${stateOf(file)}`];
  return spawn(process.execPath, [SCRIPT, file, ...flags], {
    env: { ...CHILD_ENVIRONMENT, MERIDIAN_HOME: folder },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

async function attested(file: string): Promise<{ readonly exit: number | null; readonly output: string }> {
  const child = start(file);
  const written = [child.stdout, child.stderr].map((stream) => (stream === null ? '' : text(stream)));
  const [exit] = await once(child, 'exit');
  return { exit, output: (await Promise.all(written)).join('') };
}

function stateOf(file: string): string {
  return join(folder, `${basename(file)}.state`);
}

/** Records that the node has made of a source; beside them it makes some for itself after midnight. */
async function recordsOf(source: string): Promise<number> {
  return Number((await node.get(`/v1/sources/${source}/continuity`)).body.lastSeq ?? 0);
}

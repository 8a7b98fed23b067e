import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { link, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { openState } from '../../scripts/attest/state-file.ts';
import { CHILD_ENVIRONMENT } from '../fixtures/child-environment.ts';
import { API_KEYS } from '../fixtures/test-node.ts';
import { TestNetwork } from '../fixtures/test-network.ts';

const SCRIPT = join(import.meta.dirname, '../../scripts/attest.ts');

const network = await TestNetwork.start();
const node = network.node();
const folder = await mkdtemp(join(tmpdir(), 'meridian-attest-once-'));

test.after(async () => {
  await network[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

test('of two runs with one state the second sends nothing, by whatever path it names it', async () => {
  const file = await written('two', 20);
  {
    await using _held = await openState(stateOf(file));
    await link(stateOf(file), join(folder, 'two.link'));
    for (const path of [stateOf(file), join(folder, 'two.link')]) {
      const { exit, output } = await attested(file, `--state=${path}`);
      assert.equal([exit, output], [2, `another run is sending by ${path}; --help says more\n`]);
    }
  }
  const both = await Promise.all([attested(file), attested(file)]);
  assert.ok(both.every(({ exit }) => exit === 0 || exit === 2) && both.some(({ exit }) => exit === 0));
  assert.is(await recordsOf('two'), 20);
});

test.run();

/** A file of so many decisions of a source, which has its name. */
async function written(source: string, lines: number): Promise<string> {
  const file = join(folder, `${source}.jsonl`);
  const bodies = Array.from({ length: lines }, (_, i) => JSON.stringify({ sourceId: source, data: { input: i } }));
  await writeFile(file, `${bodies.join('\n')}\n`);
  return file;
}

function start(file: string, ...more: readonly string[]): ChildProcess {
  const flags = [`--url=${node.baseUrl}/verify`, `--api-key=${API_KEYS.unmetered}`, `--state=${stateOf(file)}`];
  return spawn(process.execPath, [SCRIPT, file, '--no-wait', ...flags, ...more], {
    env: { ...CHILD_ENVIRONMENT, MERIDIAN_HOME: folder },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

async function attested(
  file: string,
  ...more: readonly string[]
): Promise<{ readonly exit: number | null; readonly output: string }> {
  const child = start(file, ...more);
  const outputs = [child.stdout, child.stderr].map((stream) => (stream === null ? '' : text(stream)));
  const [exit] = await once(child, 'exit');
  return { exit, output: (await Promise.all(outputs)).join('') };
}

function stateOf(file: string): string {
  return `${file}.state`;
}

async function recordsOf(source: string): Promise<number> {
  return Number((await node.get(`/v1/sources/${source}/continuity`)).body.lastSeq ?? 0);
}

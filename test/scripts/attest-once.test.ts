import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, link, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer, text } from 'node:stream/consumers';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { digestOf } from '../../scripts/attest/digest.ts';
import { openState } from '../../scripts/attest/state-file.ts';
import { CHILD_ENVIRONMENT } from '../fixtures/child-environment.ts';
import { API_KEYS } from '../fixtures/test-node.ts';
import { TestNetwork } from '../fixtures/test-network.ts';

const SCRIPT = join(import.meta.dirname, '../../scripts/attest.ts');

const HOUR_MS = 3_600_000;

const network = await TestNetwork.start();
const node = network.node();
const folder = await mkdtemp(join(tmpdir(), 'meridian-attest-once-'));

/** What becomes of the next call that the client makes by the way: it arrives, and its answer is lost. */
let onAnswer: (() => void) | null = null;
const way = createServer((asked, answered) => {
  const { method = 'GET', headers, url = '' } = asked;
  const onward = request(`${node.baseUrl}${url}`, { method, headers }, async (answer) => {
    const body = await buffer(answer);
    const lost = onAnswer;
    onAnswer = null;
    lost?.();
    if (lost !== null) answered.destroy();
    else answered.writeHead(answer.statusCode ?? 0, { 'content-type': answer.headers['content-type'] }).end(body);
  });
  asked.pipe(onward);
}).listen(0, '127.0.0.1');
await once(way, 'listening');
const address = way.address();
const wayUrl = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/verify`;

test.after(async () => {
  way.close();
  way.closeAllConnections();
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

test('a single line whose answer was lost is sent again as it was, also where lines follow it by then', async () => {
  const file = await written('single', 1);
  await killedBeforeTheAnswer(file);
  assert.is(await recordsOf('single'), 1);
  await written('single', 5);
  const { exit, output } = await attested(file);
  assert.equal([exit, await recordsOf('single')], [0, 5], output);
  assert.match(output, '5 records: 5 accepted now, 0 before, 0 refused');
});

test('what has no answer for longer than a node knows it is sent by the word of the caller alone', async () => {
  const recorded = await written('recorded', 20);
  await killedBeforeTheAnswer(recorded);
  await ageState(recorded);
  const refused = await attested(recorded);
  assert.is(refused.exit, 2);
  assert.match(refused.output, /^lines 1 to 20 were sent at .* say --recorded 1 if they are there, or --lost 1 if /);
  assert.is((await attested(recorded, '--recorded=1', '--lost=1')).exit, 2);
  await appendFile(recorded, JSON.stringify({ sourceId: 'recorded', data: {} }));
  const settled = await attested(recorded, '--recorded=1');
  assert.match(settled.output, '21 records: 1 accepted now, 20 before, 0 refused');
  assert.equal([settled.exit, await recordsOf('recorded')], [0, 21]);

  const lost = await written('lost', 1);
  await openedLongAgo(lost);
  assert.match((await attested(lost)).output, /^line 1 was sent at /);
  const again = await attested(lost, '--lost=1');
  assert.match(again.output, '1 records: 1 accepted now, 0 before, 0 refused');
  assert.equal([again.exit, await recordsOf('lost'), (await attested(lost)).exit], [0, 1, 0]);
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
  const flags = [`--url=${wayUrl}`, `--api-key=${API_KEYS.unmetered}`, `--state=${stateOf(file)}`];
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

/** The node records and answers the first call; the client is gone before the answer comes. */
async function killedBeforeTheAnswer(file: string): Promise<void> {
  const sending = start(file);
  onAnswer = () => void sending.kill('SIGKILL');
  await once(sending, 'exit');
}

/** As if what a state tells of had been sent a day and an hour ago. */
async function ageState(file: string): Promise<void> {
  const notes = await readFile(stateOf(file), 'utf8');
  await writeFile(
    stateOf(file),
    notes.replace(/^(sent \d+ \d+) (\d+)/gm, (_, sent, at) => `${sent} ${at - 25 * HOUR_MS}`),
  );
}

/** As if the one line of a file had been noted a day and an hour ago, and never arrived. */
async function openedLongAgo(file: string): Promise<void> {
  {
    await using state = await openState(stateOf(file));
    await state.begin(1, { last: 1, digest: digestOf((await readFile(file, 'utf8')).trim()) });
  }
  await ageState(file);
}

function stateOf(file: string): string {
  return `${file}.state`;
}

async function recordsOf(source: string): Promise<number> {
  return Number((await node.get(`/v1/sources/${source}/continuity`)).body.lastSeq ?? 0);
}

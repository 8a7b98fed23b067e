import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, link, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, request, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { PROBLEM_CONTENT_TYPE } from '../../node/http/problem.ts';
import { PROBLEM_KINDS } from '../../node/http/problem-codes.ts';
import { digestOf } from '../../scripts/attest/digest.ts';
import { sendUntilAnswered } from '../../scripts/attest/post.ts';
import { openState } from '../../scripts/attest/state-file.ts';
import { outcomeOf, startAttest } from '../fixtures/attest-command.ts';
import { API_KEYS } from '../fixtures/test-node.ts';
import { TestNetwork } from '../fixtures/test-network.ts';

const HOUR_MS = 3_600_000;

const network = await TestNetwork.start();
const node = network.node();
const folder = await mkdtemp(join(tmpdir(), 'meridian-attest-once-'));

/** What becomes of the next call that the client makes by the way: it arrives, and its answer is lost. */
let onAnswer: (() => void) | null = null;
/** What the way itself answers the call after that with, which arrives nowhere. */
let ownAnswer: { readonly status: number; readonly headers?: Record<string, string> } | null = null;
const way = createServer((asked, answered) => {
  if (onAnswer === null && ownAnswer !== null) {
    answered.writeHead(ownAnswer.status, ownAnswer.headers).end('maintenance');
    ownAnswer = null;
    return;
  }
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
const wayUrl = `${urlOf(way)}/verify`;

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

  const ahead = await written('ahead', 1);
  await killedBeforeTheAnswer(ahead);
  await ageState(ahead, -25);
  assert.match((await attested(ahead)).output, /^line 1 was sent at /);
  assert.is(await recordsOf('ahead'), 1);

  const lost = await written('lost', 1);
  await openedLongAgo(lost);
  assert.match((await attested(lost)).output, /^line 1 was sent at /);
  const again = await attested(lost, '--lost=1');
  assert.match(again.output, '1 records: 1 accepted now, 0 before, 0 refused');
  assert.equal([again.exit, await recordsOf('lost'), (await attested(lost)).exit], [0, 1, 0]);
});

test('a word on lines that do not wait for one is refused, and nothing is sent', async () => {
  const file = await written('unasked', 2);
  for (const word of ['--recorded=x', '--recorded=2', '--lost=3']) {
    const { exit, output } = await attested(file, word);
    const why = `${word.replace('=', ' ')}: nothing that begins at such a line waits for your word`;
    assert.equal([exit, output], [2, `${why}; --help says more\n`]);
  }
  await killedBeforeTheAnswer(file);
  // The node knows it again for hours yet.
  assert.is((await attested(file, '--lost=1')).exit, 2);
  assert.is((await attested(file)).exit, 0);
  assert.is(await recordsOf('unasked'), 2);
});

for (const [answer, told] of [
  [{ status: 404 }, '404 maintenance'],
  [{ status: 403, headers: { 'content-type': 'application/problem+json' } }, '403 maintenance'],
  [{ status: 413 }, '413 maintenance'],
  [{ status: 200 }, 'maintenance'],
  [{ status: 302, headers: { location: 'https://status.example' } }, 'leads to another address'],
] as const) {
  test(`where an answer was lost and a proxy answers ${answer.status}, nothing more is sent until the next run`, async () => {
    const file = await written(`proxy-${answer.status}`, 20);
    onAnswer = () => {};
    ownAnswer = answer;
    const { exit, output } = await attested(file);
    assert.is(exit, 1);
    assert.match(
      output,
      `lines 1 to 20 were sent, and no answer tells what came of that: ${told}\nNothing more is sent.`,
    );
    assert.match(output, '20 records: 0 accepted now, 0 before, 0 refused');
    const again = await attested(file);
    assert.match(again.output, '20 records: 20 accepted now, 0 before, 0 refused');
    assert.equal([again.exit, await recordsOf(`proxy-${answer.status}`)], [0, 20]);
  });
}

test('what was sent with a key that has ended since goes on with another of the account, and nothing is sent twice', async () => {
  const file = await written('ended', 20);
  const { body } = await node.post('/v1/keys', { name: 'job', preset: 'ingest' });
  const ended = `--api-key=${String(body.apiKey)}`;
  await killedBeforeTheAnswer(file, ended);
  assert.is((await node.post(`/v1/keys/${idOf(body.key)}/revoke`, {})).status, 200);
  const refused = await attested(file, ended);
  assert.is(refused.exit, 1);
  assert.match(refused.output, /no answer tells what came of that: 401 .*api-key-revoked/);
  const again = await attested(file);
  assert.match(again.output, '20 records: 20 accepted now, 0 before, 0 refused');
  assert.is(await recordsOf('ended'), 20);
});

test('a line of a source that the key is not for is refused, unless it may have been recorded with another key', async () => {
  const { body } = await node.post('/v1/keys', { name: 'bound', preset: 'ingest', sources: ['within'] });
  const bound = `--api-key=${String(body.apiKey)}`;
  const file = await written('beyond', 1);
  await killedBeforeTheAnswer(file);
  await appendFile(file, `${JSON.stringify({ sourceId: 'within', data: {} })}\n`.repeat(2));
  const stopped = await attested(file, bound);
  assert.match(stopped.output, /line 1 was sent, and no answer tells what came of that: 403 .*scope-forbidden/);
  assert.match((await attested(file)).output, /, 0 refused/);
  assert.equal([await recordsOf('beyond'), await recordsOf('within')], [1, 2]);
  await appendFile(file, `${JSON.stringify({ sourceId: 'other', data: {} })}\n`);
  for (const _ of ['in its first call', 'and again']) {
    const { output } = await attested(file, bound);
    assert.match(output, '4 records: 0 accepted now, 3 before, 1 refused');
    assert.match(output, /line 4 was refused: .*scope-forbidden/);
  }
});

test('a node that refuses before it looks has not recorded what it refuses for good next', async () => {
  const answers = ['rate-limited', 'scope-forbidden'] as const;
  const told = answers.values();
  const limited = createServer((_asked, answered) => {
    const code = told.next().value ?? 'rate-limited';
    const { status } = PROBLEM_KINDS[code];
    const errors = code === 'scope-forbidden' ? [{ field: 'sourceId' }] : [];
    answered.writeHead(status, { 'content-type': PROBLEM_CONTENT_TYPE });
    answered.end(JSON.stringify({ success: false, status, code, errors }));
  }).listen(0, '127.0.0.1');
  try {
    await once(limited, 'listening');
    const post = { url: `${urlOf(limited)}/`, headers: {}, body: '{}', isFirst: true, at: Date.now() };
    assert.is((await sendUntilAnswered(post, new AbortController().signal)).kind, 'refused');
    const ending = new AbortController();
    limited.once('request', () => ending.abort());
    assert.is((await sendUntilAnswered(post, ending.signal)).kind, 'not-taken');
    const later = { ...post, isFirst: false };
    assert.is((await sendUntilAnswered(later, AbortSignal.timeout(1))).kind, 'unknown');
  } finally {
    limited.close();
    limited.closeAllConnections();
  }
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
  return startAttest(folder, [file, '--no-wait', ...flags, ...more]);
}

function attested(file: string, ...more: readonly string[]): ReturnType<typeof outcomeOf> {
  return outcomeOf(start(file, ...more));
}

/** The node records and answers the first call; the client is gone before the answer comes. */
async function killedBeforeTheAnswer(file: string, ...more: readonly string[]): Promise<void> {
  const sending = start(file, ...more);
  onAnswer = () => void sending.kill('SIGKILL');
  await once(sending, 'exit');
}

/** As if what a state tells of had been sent so many hours earlier: a day and one. */
async function ageState(file: string, hours = 25): Promise<void> {
  const notes = await readFile(stateOf(file), 'utf8');
  await writeFile(
    stateOf(file),
    notes.replace(/^(sent \d+ \d+) (\d+)/gm, (_, sent, at) => `${sent} ${at - hours * HOUR_MS}`),
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

function urlOf(server: Server): string {
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
}

function idOf(key: unknown): string {
  return typeof key === 'object' && key !== null && 'id' in key ? String(key.id) : '';
}

function stateOf(file: string): string {
  return `${file}.state`;
}

async function recordsOf(source: string): Promise<number> {
  return Number((await node.get(`/v1/sources/${source}/continuity`)).body.lastSeq ?? 0);
}

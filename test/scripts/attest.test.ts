import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { batchesOf } from '../../scripts/attest/batches.ts';
import { readDecisions } from '../../scripts/attest/decision-file.ts';
import { defaultStateFile } from '../../scripts/attest/state-file.ts';
import { outcomeOf, startAttest } from '../fixtures/attest-command.ts';
import { ClusterHome } from '../fixtures/cluster-home.ts';
import { API_KEYS } from '../fixtures/test-node.ts';
import { TestNetwork } from '../fixtures/test-network.ts';
import { until } from '../fixtures/until.ts';

const DECISIONS = join(import.meta.dirname, '../fixtures/decisions.jsonl');
/** Records of a sending that is killed half-way, several batches of them. */
const KILLED = 6_000;

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
  for (const id of await idsOf(DECISIONS)) {
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
  const resumed = await attested(file, '--no-wait');
  assert.is(resumed.exit, 0, resumed.output);
  assert.match(resumed.output, / before, 0 refused/);
  assert.is(await recordsOf('killed'), KILLED);
  assert.is((await idsOf(file)).size, KILLED);
});

test('a batch that was noted and not answered is sent again as it was, and is recorded once', async () => {
  const file = join(folder, 'noted.jsonl');
  const bodies = Array.from({ length: 20 }, (_, i) => JSON.stringify({ sourceId: 'noted', data: { input: i } }));
  await writeFile(file, bodies.join('\n'));
  assert.is((await attested(file, '--no-wait')).exit, 0);
  // As if it had been killed when a few lines of the answer were noted.
  const notes = (await readFile(stateOf(file), 'utf8')).split('\n');
  assert.ok(notes[1]?.startsWith('sent 1 20 ') && notes.includes('1 answered'), notes.join('; '));
  await writeFile(stateOf(file), `${notes.slice(0, 6).join('\n')}\n1`);
  const resumed = await attested(file, '--no-wait');
  assert.match(resumed.output, '20 records: 16 accepted now, 4 before, 0 refused');
  assert.equal([await recordsOf('noted'), (await idsOf(file)).size], [20, 20]);
});

test('a line that is refused is told, and sent by itself the next time; the others are accepted', async () => {
  const file = join(folder, 'refused.jsonl');
  const good = JSON.stringify({ sourceId: 'refused', data: {} });
  await writeFile(file, [good, JSON.stringify({ sourceId: 'refused' }), good].join('\n'));
  for (const [now, before] of [
    [2, 0],
    [0, 2],
  ]) {
    const { exit, output } = await attested(file, '--no-wait');
    assert.is(exit, 1);
    assert.match(output, 'line 2 was refused');
    assert.match(output, /missing-field/);
    assert.match(output, `3 records: ${now} accepted now, ${before} before, 1 refused`);
  }
  assert.is(await recordsOf('refused'), 2);
});

test('another file under the name of one that was sent is refused, and nothing of it is sent', async () => {
  const file = join(folder, 'daily.jsonl');
  const day = (name: string, lines = 5) =>
    Array.from({ length: lines }, (_, i) => JSON.stringify({ sourceId: 'daily', data: { input: `${name} ${i}` } }));
  const monday = day('monday');
  await writeFile(file, monday.join('\n'));
  assert.is((await attested(file, '--no-wait')).exit, 0);
  const others = {
    anew: day('tuesday'),
    longer: day('tuesday', 9),
    shorter: monday.slice(0, 4),
    empty: [],
    'one line': monday.with(4, JSON.stringify({ sourceId: 'daily', data: { input: 'tuesday' } })),
    shifted: ['', ...monday],
  };
  for (const [name, lines] of Object.entries(others)) {
    await writeFile(file, lines.join('\n'));
    const { exit, output } = await attested(file, '--no-wait');
    assert.equal([exit, output.trim().split('\n').length], [2, 1], `${name}: ${output}`);
    assert.match(output, `the file is another than the one that was sent by ${stateOf(file)}: name another --state`);
    assert.is(await recordsOf('daily'), 5, name);
  }
  await writeFile(file, [...monday, ...day('tuesday', 3)].join('\n'));
  assert.match((await attested(file, '--no-wait')).output, '8 records: 3 accepted now, 5 before, 0 refused');
  assert.is(await recordsOf('daily'), 8);
});

test('of a batch that has no answer yet every line is compared, and of one that has those that were accepted', async () => {
  const file = join(folder, 'open.jsonl');
  const body = (input: string) => JSON.stringify({ sourceId: 'open', data: { input } });
  await writeFile(file, [body('a'), '{}', body('c')].join('\n'));
  assert.is((await attested(file, '--no-wait')).exit, 1);
  const notes = await readFile(stateOf(file), 'utf8');
  await writeFile(file, [body('a'), body('b'), body('c')].join('\n'));
  // As if it had been killed before the answer.
  await writeFile(stateOf(file), `${notes.split('\n').slice(0, 2).join('\n')}\n`);
  assert.is((await attested(file, '--no-wait')).exit, 2);
  assert.is(await recordsOf('open'), 2);
  await writeFile(stateOf(file), notes);
  assert.match((await attested(file, '--no-wait')).output, '3 records: 1 accepted now, 2 before, 0 refused');
  assert.is(await recordsOf('open'), 3);
});

test('a state of an earlier release, which does not tell what was sent, is refused, also under its old name', async () => {
  const file = join(folder, 'earlier.jsonl');
  await writeFile(file, JSON.stringify({ sourceId: 'earlier', data: {} }));
  const run = 'run 3f0e4a52-6a4b-4b7e-9a57-0c1d8f6f2f10\n';
  const former = `${run}1 att_eu_01KCV8Z0000000000000000000\n`;
  await writeFile(stateOf(file), former);
  const given = await attested(file, '--no-wait');
  assert.equal([given.exit, await recordsOf('earlier')], [2, 0], given.output);
  assert.match(given.output, /is of an earlier release and does not tell what was sent/);
  assert.is(await readFile(stateOf(file), 'utf8'), former);
  const sending = { file, node: 'eu', nodeUrl: 'http://127.0.0.1:1', apiKey: 'key' };
  const now = defaultStateFile(folder, sending);
  await mkdir(dirname(now), { recursive: true });
  await symlink(file, join(folder, 'earlier-link.jsonl'));
  for (const name of ['-eu.state', '-eu-$1.state'].map((end) =>
    now.replace(/-[0-9a-f]{12}-([0-9a-f]{12})\.state$/, end),
  )) {
    await writeFile(name, former);
    for (const path of [file, join(folder, 'earlier-link.jsonl')]) {
      assert.throws(
        () => defaultStateFile(folder, { ...sending, file: path }),
        ({ message }: Error) => message.startsWith(`${name} is of an earlier release`),
      );
    }
    await rm(name);
  }
  // Nothing was sent by it yet.
  await writeFile(stateOf(file), run);
  assert.is((await attested(file, '--no-wait')).exit, 0);
  assert.is(await recordsOf('earlier'), 1);
});

test('what one key sent does not count as sent by another, and no key is told by the name of a state', () => {
  const sending = { file: import.meta.filename, node: 'eu', nodeUrl: 'http://127.0.0.1:1' };
  const [one, other] = ['sk_one', 'sk_other'].map((apiKey) => defaultStateFile(folder, { ...sending, apiKey }));
  assert.is.not(one, other);
  assert.is(one, defaultStateFile(folder, { ...sending, apiKey: 'sk_one' }));
  assert.not.match(`${one}`, 'sk_one');
});

test('a file and a node have one state, whatever they are named by', async () => {
  const file = join(folder, 'named.jsonl');
  await writeFile(file, '');
  await symlink(file, join(folder, 'linked.jsonl'));
  const names = ['http://127.0.0.1:1/verify', 'http://127.0.0.1:1/verify/', 'HTTP://127.0.0.1:1/verify//'].flatMap(
    (url) =>
      [file, join(folder, 'linked.jsonl')].map((path) =>
        defaultStateFile(folder, { file: path, node: url, nodeUrl: url, apiKey: 'key' }),
      ),
  );
  assert.is(new Set(names).size, 1);
});

test('a file, a state, a node and an address that are none are each said in one line', async () => {
  const missing = join(folder, 'missing.jsonl');
  const file = join(folder, 'addressed.jsonl');
  await writeFile(file, '{}');
  const within = ['--url=http://127.0.0.1:1', '--api-key=key'];
  const noCluster = `there is no local cluster in ${folder}; --url and --api-key name another node`;
  const refusals: readonly [args: string[], why: string][] = [
    [[missing], `${missing} does not exist`],
    [
      [folder, ...within, `--state=${join(folder, 'folder.state')}`],
      `${folder}: EISDIR: illegal operation on a directory, read`,
    ],
    [[file, ...within, `--state=${folder}`], `${folder}: EISDIR: illegal operation on a directory, open '${folder}'`],
    [[file, '--url=127.0.0.1:4102', '--api-key=key'], '127.0.0.1:4102 is no http(s) address'],
    [[file, '--url=localhost:4102', '--api-key=key'], 'localhost:4102 is no http(s) address'],
    [[file, '--url=http://127.0.0.1:1'], '--url and --api-key go together'],
    [[file, '--node=zz'], noCluster],
  ];
  for (const [args, why] of refusals) {
    assert.equal(await outcomeOf(startAttest(folder, args)), { exit: 2, output: `${why}; --help says more\n` });
  }
  using home = await ClusterHome.of([node]);
  const output = 'the local cluster has no node zz; --help says more\n';
  assert.equal(await outcomeOf(startAttest(home.path, [file, '--node=zz'])), { exit: 2, output });
});

test('a line that is no JSON, or longer than a batch takes, keeps no other from being accepted', async () => {
  const file = join(folder, 'odd.jsonl');
  const body = (input: string) => JSON.stringify({ sourceId: 'odd', data: { input } });
  await writeFile(file, [body('a'), '{', body('b'), body('x'.repeat(100_000)), body('c'), body('d')].join('\n'));
  const { output } = await attested(file, '--no-wait');
  assert.match(output, '6 records: 5 accepted now, 0 before, 1 refused');
  assert.match(output, 'line 2 was refused');
  assert.is(await recordsOf('odd'), 5);
});

test('a line ends at a line end alone, whatever its strings hold, and a longer one than any body is not read', async () => {
  const file = join(folder, 'separators.jsonl');
  const bodies = ['one\u2028two', 'one\u2029two', 'one\u0085two', 'x'.repeat(200_000)].map((input) =>
    JSON.stringify({ sourceId: 'separators', data: { input } }),
  );
  await writeFile(file, `${bodies.join('\r\n')}\n\r\n${bodies.join('\r')}`);
  const lines = bodies.map((body, i) => ({ number: i + 1, text: body }));
  assert.equal(await Array.fromAsync(readDecisions(file)), [...lines, { number: 6, text: bodies.join('\r') }]);
  await writeFile(file, bodies.join('\n'));
  assert.match((await attested(file, '--no-wait')).output, '4 records: 4 accepted now, 0 before, 0 refused');
  assert.is(await recordsOf('separators'), 4);
  await writeFile(file, `{}\n${'x'.repeat((16 << 20) + 1)}`);
  const { exit, output } = await attested(file, '--no-wait', `--state=${join(folder, 'long.state')}`);
  assert.equal([exit, output], [2, 'line 2 is longer than 16777216 bytes; --help says more\n']);
});

test('a file with a line that is not UTF-8 is refused by its number, and nothing of it is sent', async () => {
  const file = join(folder, 'latin1.jsonl');
  const bodies = ['Weber', 'M\u00fcller'].map((name) => JSON.stringify({ sourceId: 'latin1', data: { input: name } }));
  await writeFile(file, bodies.join('\n'), 'latin1');
  const { exit, output } = await attested(file, '--no-wait');
  assert.equal([exit, output], [2, 'line 2 is not UTF-8, so nothing is sent; --help says more\n']);
  assert.is(await recordsOf('latin1'), 0);
  await writeFile(file, bodies.join('\n'));
  assert.is((await attested(file, '--no-wait')).exit, 0);
  assert.is(await recordsOf('latin1'), 2);
});

test('a redirect is not followed, and stops the sending', async () => {
  const paths: string[] = [];
  const moved = createServer(({ url: path = '' }, response) => {
    paths.push(path);
    response.writeHead(307, { location: `${node.baseUrl}${path}` }).end();
  }).listen(0, '127.0.0.1');
  await once(moved, 'listening');
  const address = moved.address();
  const file = join(folder, 'moved.jsonl');
  await writeFile(file, JSON.stringify({ sourceId: 'moved', data: {} }));
  const at = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
  const { exit, output } = await attested(file, '--no-wait', `--url=${at}`);
  moved.close();
  moved.closeAllConnections();
  assert.is(exit, 1);
  assert.match(output, 'line 1 was sent, and no answer tells what came of that: leads to another address');
  assert.equal([await recordsOf('moved'), paths], [0, ['/v1/tiered-attest']]);
});

test('a file is cut into batches the same way however often it is read, and as it was cut before', async () => {
  const lines = Array.from({ length: 2_500 }, (_, i) => ({
    number: i + 1,
    text: i === 1_200 ? 'x'.repeat(70_000) : '{}',
  }));
  const cut = async (sent = new Map<number, number>()): Promise<(number | undefined)[][]> => {
    const before = new Map([...sent].map(([first, last]) => [first, { last }]));
    const batches = await Array.fromAsync(batchesOf(Readable.from(lines), before));
    return batches.map((batch) => [batch[0]?.number, batch.at(-1)?.number]);
  };
  const fresh = [
    [1, 1_000],
    [1_001, 1_200],
    [1_201, 1_201],
    [1_202, 2_201],
    [2_202, 2_500],
  ];
  assert.equal(await cut(), fresh);
  assert.equal(
    await cut(
      new Map([
        [1, 1_000],
        [2_202, 2_500],
      ]),
    ),
    fresh,
  );
  const other = [
    [1, 300],
    [301, 499],
    [500, 1_100],
    [1_101, 1_200],
    [1_201, 1_201],
    [1_202, 2_201],
    [2_202, 2_500],
  ];
  assert.equal(
    await cut(
      new Map([
        [1, 300],
        [500, 1_100],
      ]),
    ),
    other,
  );
});

test.run();

function start(file: string, ...more: readonly string[]): ChildProcess {
  const flags = [`--url=${node.baseUrl}/verify`, `--api-key=${API_KEYS.unmetered}`, `--state=${stateOf(file)}`];
  return startAttest(folder, [file, ...flags, ...more]);
}

function attested(file: string, ...more: readonly string[]): ReturnType<typeof outcomeOf> {
  return outcomeOf(start(file, ...more));
}

/** What the records are that a state file tells of. */
async function idsOf(file: string): Promise<ReadonlySet<string>> {
  return new Set((await readFile(stateOf(file), 'utf8')).match(/att_[a-z0-9]+_[0-9A-Z]{26}/g));
}

function stateOf(file: string): string {
  return join(folder, `${basename(file)}.state`);
}

/** Records that the node has made of a source; beside them it makes some for itself after midnight. */
async function recordsOf(source: string): Promise<number> {
  return Number((await node.get(`/v1/sources/${source}/continuity`)).body.lastSeq ?? 0);
}

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { giveSamples } from '../../cluster/supervisor/sample-lists.ts';
import { listsCommand } from '../../scripts/lists/command.ts';
import { ClusterHome } from '../fixtures/cluster-home.ts';
import { type FileContents, ofacEdition } from '../fixtures/lists/list-files.ts';
import { TestNetwork } from '../fixtures/test-network.ts';

const SCRIPT = join(import.meta.dirname, '../../scripts/lists.ts');
const SAMPLES = join(import.meta.dirname, '../../cluster/samples/lists');
const DAY_MS = 86_400_000;

const network = await TestNetwork.start({ nodes: ['eu', 'us'] });
const eu = network.node('eu');
const us = network.node('us');
const folder = await mkdtemp(join(tmpdir(), 'meridian-lists-'));
const home = await ClusterHome.of([eu, us]);
test.after(async () => {
  home[Symbol.dispose]();
  await network[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

async function lists(line: string) {
  const [out, err]: [string[], string[]] = [[], []];
  const terminal = {
    out: (printed: string) => void out.push(printed),
    err: (printed: string) => void err.push(printed),
  };
  const exit = await listsCommand(line.split(' ').filter(Boolean), terminal);
  return { exit, out: out.join('\n'), err: err.join('\n') };
}

/** Words of the row of a list. */
function row(table: string, listId: string): string {
  return table.split('\n').find((line) => line.startsWith(listId)) ?? '';
}

async function writeEdition(entries: number, more: FileContents = {}): Promise<void> {
  await cp(join(SAMPLES, 'us-ofac-sdn'), join(folder, 'us-ofac-sdn'), { recursive: true });
  await rm(join(folder, 'us-ofac-sdn', 'SAMPLE'));
  for (const [name, content] of Object.entries({ ...ofacEdition(entries), ...more })) {
    await writeFile(join(folder, 'us-ofac-sdn', name), content);
  }
}

test('a node without lists is told by status and its exit', async () => {
  const { exit, out } = await lists('status');
  assert.is(exit, 1);
  assert.match(row(out, 'eu-consolidated'), /missing .* none: imported by hand +eu us$/);
});

test('the cluster gives its nodes samples, anew when they have grown a day old', async () => {
  for (const node of [eu, us]) await giveSamples(join(node.config.home, 'operator.sock'), Date.now());
  const { exit, out } = await lists('status');
  assert.is(exit, 0);
  // A row each where a minute began between them.
  const rows = out.split('\n').filter((line) => line.startsWith('us-bis-entity-list'));
  assert.ok(
    rows.every((line) => line.includes('fresh, SAMPLE')),
    out,
  );
  assert.equal(rows.flatMap((line) => /(?: (?:eu|us))+$/.exec(line)?.[0].trim().split(' ') ?? []).sort(), ['eu', 'us']);
  const first = eu.context.lists.current().get('us-ofac-sdn')?.attestationId;
  await giveSamples(join(eu.config.home, 'operator.sock'), Date.now() + DAY_MS / 2);
  assert.is(eu.context.lists.current().get('us-ofac-sdn')?.attestationId, first);
  await giveSamples(join(eu.config.home, 'operator.sock'), Date.now() + DAY_MS);
  assert.is.not(eu.context.lists.current().get('us-ofac-sdn')?.attestationId, first);
});

test('an import reaches every node, or the ones that are named; what the folder lacks stays', async () => {
  await writeEdition(100);
  const one = await lists(`import ${folder} --node us`);
  assert.is(one.exit, 0, one.err);
  assert.match(row(one.out, 'us-ofac-sdn'), /taken .* us$/);
  assert.is(eu.context.lists.current().get('us-ofac-sdn')?.sample, true);
  const all = await lists(`import ${folder}`);
  assert.match(all.out, /us-ofac-sdn +taken .* eu\n/);
  assert.match(all.out, /us-ofac-sdn +unchanged .* us\n/);
  assert.match(row(all.out, 'eu-consolidated'), /not in the folder: stays .* eu us$/);
  assert.is(eu.context.lists.current().get('us-ofac-sdn')?.entryCount, 100);
});

test('a refused edition is told on every node, with a way to accept it', async () => {
  await writeEdition(10);
  const refused = await lists(`import ${folder} --list us-ofac-sdn`);
  assert.is(refused.exit, 1);
  assert.match(row(refused.out, 'us-ofac-sdn'), /REFUSED: stays .* 100 .*--accept-shrink.* eu us$/);
  assert.is((await lists(`import ${folder} --list us-ofac-sdn --accept-shrink`)).exit, 0);
  const { exit, out } = await lists('update --list us-ofac-sdn --json');
  assert.is(exit, 1);
  assert.match(out, '"code":"no-source"');
});

test('how many rows of companion files have no entry is told by an import and by status', async () => {
  await writeEdition(10, { 'alt.csv': '11,1,"aka","LISTED SINCE",-0- \r\n\u001a' });
  const accepted = await lists(`import ${folder} --list us-ofac-sdn --accept-shrink`);
  const { out } = await lists('status --list us-ofac-sdn');
  for (const table of [accepted.out, out]) {
    const [header = ''] = table.split('\n');
    const at = header.indexOf('rows without entry');
    assert.match(row(table, 'us-ofac-sdn').slice(at), /^1 /);
  }
});

test('wrong usage is told apart', async () => {
  const wrong = [
    '',
    'load',
    'import',
    'update now',
    'status --accept-shrink',
    'status --list x',
    'status --node zz',
    'repeat /nowhere',
  ];
  for (const line of [...wrong, `import ${home.path}`, 'import /nowhere', 'status --home a --node eu']) {
    assert.is((await lists(line)).exit, 2, line);
  }
  assert.match((await lists('--help')).out, /Exit: 0 done on every node/);
});

test('as a process, with a node that does not run', async () => {
  await us.stop();
  const child = spawn(process.execPath, [SCRIPT, 'status'], { stdio: ['ignore', 'pipe', 'pipe'] });
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  assert.is(code, 1);
  assert.match(row(out, 'us-ofac-sdn'), /fresh .* eu$/);
  assert.is(err.trim(), 'lists: us: the node does not run');
});

test.run();

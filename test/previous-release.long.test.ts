import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { CHILD_ENVIRONMENT } from './fixtures/child-environment.ts';
import { NodeClient } from './fixtures/node-client.ts';
import { freePort } from './fixtures/ports.ts';
import { type Contents, type ExpectedFile, PACK, readContents } from './fixtures/previous-release/contents.ts';
import { unpackFolder } from './fixtures/previous-release/packed-files.ts';

const ROOT = join(import.meta.dirname, '..');
const NODE = 'node/main.ts';
const LEDGER = 'cluster/ledger/main.ts';
const CLOCK = join(import.meta.dirname, 'fixtures/previous-release/later-clock.ts');
/** Account of the ledger's first consensus node. */
const FIRST_LEDGER_NODE = '0.0.3';
const READY_MS = 120_000;
/** Records that the started node is asked for, by what they show. */
const CONFIRMED = [
  'decision',
  'decision-of-us',
  'override-at-us',
  'erased',
  'legal-hold',
  'account-statement',
  'audit-head',
  'paid-fact',
];

/** Before the second digit of the year, within the text that the record's node signed. */
const SIGNED_TIME = 'submittedAt\\":\\"2';

const contents = await readContents();
const scratch = await mkdtemp(join(tmpdir(), 'meridian-previous-'));
const recorded = join(scratch, 'recorded');
const [home, backup, roster] = [join(recorded, 'home'), join(recorded, 'backup'), join(recorded, 'roster.json')];
const PASSPHRASE = ['--passphrase-file', join(recorded, 'test-passphrase.txt')];
await unpackFolder(await readFile(PACK), recorded);
/** A ledger takes no message before its last one: where the system's clock is behind that, the servers' is set there. */
const behindMs = Date.parse(contents.recordedAt) - Date.now();
const clock = behindMs > 0 ? [`--import=${pathToFileURL(CLOCK).href}?ms=${behindMs}`] : [];

test.after(() => rm(scratch, { recursive: true, force: true }));

interface Ran {
  readonly exit: number | null;
  readonly out: string;
  /** Both outputs, for who reads of a failure. */
  readonly told: string;
}

/** A command as a process of its own, with no cluster to be found anywhere. */
function command(script: string, ...args: readonly string[]): Ran {
  const env = { ...CHILD_ENVIRONMENT, MERIDIAN_HOME: join(scratch, 'no-cluster') };
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(ROOT, 'scripts', script), ...args], {
    cwd: ROOT,
    env,
    encoding: 'utf8',
  });
  return { exit: status, out: stdout, told: stdout + stderr };
}

function pathOf({ file }: ExpectedFile): string {
  return join(recorded, file);
}

function pinOf({ pin }: ExpectedFile): string {
  return pin.startsWith('sha256:') ? pin : join(recorded, pin);
}

/** Writes a copy of which one bit is another, in the signed text of its record. */
async function writeFlipped(file: ExpectedFile, folder: string): Promise<void> {
  const bytes = await readFile(pathOf(file));
  const found = bytes.indexOf(SIGNED_TIME);
  assert.is.not(found, -1, `${file.file} shows no signed time`);
  const at = found + SIGNED_TIME.length;
  bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
  await writeFile(join(folder, file.file.replace('/', '-')), bytes);
}

interface Found {
  readonly severity: string;
  readonly table: string;
}

/**
 * What `fsck` counts in a home that it finds whole; of a store of the release before it warns that it is of an earlier
 * format. The counts of its records by facets are made anew by the first start of this release, and none before it.
 */
function requireWhole(
  directory: string,
  passphrase: readonly string[] = [],
  warnedOf: readonly string[] = ['format'],
): Contents['counts'] {
  const { exit, out, told } = command('fsck.ts', directory, '--json', ...passphrase);
  assert.is(exit, 0, told);
  const { whole, problems, findings, notChecked, counts } = JSON.parse(out);
  const warned = findings.filter(({ severity }: Found) => severity === 'warning').map(({ table }: Found) => table);
  assert.equal([whole, problems, warned, notChecked], [true, 0, warnedOf, []], told);
  return counts;
}

/** With nothing of what the release before did not count. */
function beforeStart(counts: Contents['counts'], now: Contents['counts']): Contents['counts'] {
  const none = Object.fromEntries(Object.keys(now).map((name) => [name, 0]));
  return { ...none, ...counts, tallies: 0 };
}

test('fsck finds the home whole, with as much in it as was recorded', () => {
  const counts = requireWhole(home);
  assert.equal(counts, beforeStart(contents.counts, counts));
});

test('fsck finds a bit of the home that is another', async () => {
  const copy = join(scratch, 'damaged-home');
  await cp(home, copy, { recursive: true });
  await flipLargest(join(copy, 'store'));
  const { exit, out, told } = command('fsck.ts', copy, '--json');
  assert.is(exit, 1, told);
  const { whole, problems } = JSON.parse(out);
  assert.is(whole, false, told);
  assert.ok(problems > 0, told);
});

test('the backup becomes a home, which fsck proves with its encrypted keys', () => {
  const restored = join(scratch, 'restored');
  const { exit, told } = command('restore.ts', backup, '--home', restored, ...PASSPHRASE);
  assert.is(exit, 0, told);
  const counts = requireWhole(restored, PASSPHRASE);
  assert.equal(counts, beforeStart(contents.backupCounts, counts));
});

test('a backup of which one bit is another becomes no home', async () => {
  const [copy, restored] = [join(scratch, 'damaged-backup'), join(scratch, 'never')];
  await cp(backup, copy, { recursive: true });
  await flipLargest(join(copy, 'store'));
  const { exit, told } = command('restore.ts', copy, '--home', restored, ...PASSPHRASE);
  assert.equal([exit, existsSync(restored)], [1, false], told);
  assert.match(told, /\.ldb is not the file that was backed up/);
});

for (const [name, files] of Map.groupBy(contents.files, ({ file, exitCode }) => `${exitCode}: ${file.split('/')[0]}`)) {
  test(`verify says of each as before, exit ${name}`, () => {
    const [first] = files;
    if (first === undefined) throw new RangeError('a group has a file');
    const { exit, out, told } = command('verify.ts', ...files.map(pathOf), '--roster', pinOf(first), '--json');
    assert.is(exit, first.exitCode, told);
    const lines = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    assert.equal(
      lines.map(({ exitCode, word }) => [exitCode, word]),
      files.map(({ exitCode, word }) => [exitCode, word]),
      told,
    );
  });
}

test('without a pin a bundle is consistent and no more, and the pin of another federation refuses it', () => {
  const bundle = join(recorded, 'bundles/decision.json');
  const stranger = contents.files.find(({ pin }) => pin.startsWith('sha256:'))?.pin ?? '';
  for (const [pin, exitCode, word] of [
    [[], 3, 'consistent'],
    [['--roster', stranger], 1, 'pin-does-not-join'],
  ] as const) {
    const { exit, out, told } = command('verify.ts', bundle, ...pin, '--json');
    assert.equal([exit, JSON.parse(out).word], [exitCode, word], told);
  }
});

test('a bundle or a proof of whose record one bit is another does not hold', async () => {
  const folder = join(scratch, 'flipped');
  await mkdir(folder);
  const good = contents.files.filter(({ file, exitCode }) => exitCode === 0 && !file.startsWith('misdeeds/'));
  for (const file of good) await writeFlipped(file, folder);
  const { exit, out } = command('verify.ts', folder, '--roster', roster, '--json');
  assert.is(exit, 1);
  const words = out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line).word);
  assert.equal([words.length, [...new Set(words)]], [good.length, ['not-signed']]);
});

test('a node starts on the home, answers from what is in it, and records more', async () => {
  const copy = join(scratch, 'started');
  await cp(home, copy, { recursive: true });
  const port = await freePort();
  const key = await readFile(join(recorded, 'test-api-key.txt'), 'utf8');
  const client = new NodeClient(`http://127.0.0.1:${port}`, key);
  {
    await using running = new AsyncDisposableStack();
    const ledgerAt = await startLedger(running);
    await startNode(running, copy, port, ledgerAt);
    for (const name of CONFIRMED) {
      const { status, body, text } = await client.get(`/v1/verify/${contents.records[name]}`);
      assert.equal([status, body.verified], [200, true], `${name}: ${text}`);
    }
    const bundle = await client.get(`/v1/bundles/${contents.records.decision}?linked=1&disclosure=1`);
    assert.is(bundle.status, 200, bundle.text);
    const path = join(scratch, 'bundle-of-now.json');
    await writeFile(path, bundle.text);
    const { exit, told } = command('verify.ts', path, '--roster', roster);
    assert.is(exit, 0, told);
    const before = JSON.parse(await readFile(join(recorded, 'disclosed/decision.json'), 'utf8'));
    assert.equal([bundle.body.record, bundle.body.disclosure], [before.record, before.disclosure]);
    assert.match((await client.get('/v1/account')).text, contents.account);
    const agent = await client.get('/v1/agents/triage');
    assert.is(agent.status, 200, agent.text);
    const recording = { sourceId: 'claims', agentId: 'triage', data: { decision: 'sort' } };
    const made = await client.post('/v1/tiered-attest', recording);
    assert.is(made.status, 200, made.text);
    const listed = await client.get('/v1/attestations?sourceId=claims');
    const ids = [...listed.text.matchAll(/"attestationId":"(\w+)"/g)].map(([, id]) => id);
    const expected = [contents.records['decision-of-agent'], made.body.attestationId];
    assert.equal(ids.toSorted(), expected.toSorted(), listed.text);
  }
  const { records } = requireWhole(copy, [], []);
  assert.ok(records !== undefined && records > (contents.counts.records ?? 0), `${records} records`);
});

test.run();

/** Changes one bit in the middle of the largest table of a store. */
async function flipLargest(store: string): Promise<void> {
  const names = (await readdir(store)).filter((name) => /\.(ldb|sst)$/.test(name));
  const tables = await Promise.all(names.map(async (name) => ({ name, bytes: await readFile(join(store, name)) })));
  const [largest] = tables.toSorted((one, other) => other.bytes.length - one.bytes.length);
  if (largest === undefined) throw new Error(`${store} has no table`);
  const { name, bytes } = largest;
  const middle = bytes.length >> 1;
  bytes.writeUInt8(bytes.readUInt8(middle) ^ 1, middle);
  await writeFile(join(store, name), bytes);
}

/** Where the consensus nodes and the mirror of a ledger listen. */
interface LedgerAt {
  readonly nodes: string;
  readonly mirror: string;
}

/** The ledger that the home was recorded with goes on, at other ports. */
async function startLedger(running: AsyncDisposableStack): Promise<LedgerAt> {
  const directory = join(recorded, 'ledger');
  const [node, grpc, mirror] = [await freePort(), await freePort(), await freePort()];
  const args = [
    `--home=${directory}`,
    `--accounts=${join(directory, 'accounts.json')}`,
    `--nodes=${node}`,
    `--mirror-grpc=${grpc}`,
    `--mirror=${mirror}`,
  ];
  await startProcess(running, LEDGER, args, {});
  return { nodes: `127.0.0.1:${node}=${FIRST_LEDGER_NODE}`, mirror: `http://127.0.0.1:${mirror}` };
}

/** Resolves once it records. The other members are away, so it is told that its home is the only one. */
async function startNode(
  running: AsyncDisposableStack,
  directory: string,
  port: number,
  { nodes, mirror }: LedgerAt,
): Promise<void> {
  const operators = JSON.parse(await readFile(join(recorded, 'ledger/operators.json'), 'utf8'));
  await startProcess(running, NODE, [], {
    NODE_ID: contents.node,
    NODE_HOME: directory,
    ROSTER: roster,
    START_ALONE: '1',
    HTTP_PORT: String(port),
    METRICS_LISTEN: `127.0.0.1:${await freePort()}`,
    PEER_LISTEN: `/ip4/127.0.0.1/tcp/${await freePort()}`,
    LEDGER_NODES: nodes,
    LEDGER_MIRRORS: mirror,
    LEDGER_READ_INTERVAL: '1',
    LEDGER_SECOND_SOURCE: '0.2',
    LEDGER_QUERIES_PER_HOUR: '100000',
    LEDGER_OPERATOR_ID: contents.ledgerAccount,
    LEDGER_OPERATOR_KEY: String(operators[contents.ledgerAccount]),
    LOG_LEVEL: 'error',
  });
}

/** Resolves once the process says that it is ready; it is ended in order with the stack. */
async function startProcess(
  running: AsyncDisposableStack,
  script: string,
  args: readonly string[],
  variables: Readonly<Record<string, string>>,
): Promise<void> {
  const child = spawn(process.execPath, [...clock, join(ROOT, script), ...args], {
    env: { ...CHILD_ENVIRONMENT, ...variables },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  running.defer(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGTERM');
    await once(child, 'close');
  });
  const signal = AbortSignal.timeout(READY_MS);
  const ended = once(child, 'exit', { signal }).then(([code]) => {
    throw new Error(`${script} ended with ${code} before it was ready`);
  });
  await Promise.race([once(child, 'message', { signal }), ended]);
  ended.catch(() => {});
}

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, existsSync, readdirSync, writeFileSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { readRestorations } from '../../node/federation/start/restoration-table.ts';
import { fsckCommand } from '../../node/fsck/command.ts';
import { keyFilePath, readKeyAt, rewriteKeyAt } from '../../node/keys/key-file.ts';
import { keyDirectory } from '../../node/keys/node-keys.ts';
import { readPassphrase } from '../../node/keys/passphrase.ts';
import { splitTexts } from '../../node/records/record-lines.ts';
import { bodyTable } from '../../node/records/record-tables.ts';
import { Store } from '../../node/store/store.ts';
import { nodeId } from '../../protocol/ids.ts';
import { readHead } from '../../protocol/chain/record.ts';
import { backupCommand } from '../../scripts/backup/command.ts';
import { restoreCommand } from '../../scripts/restore/command.ts';
import { Load, notVerified } from '../fixtures/load.ts';
import { TestNetwork } from '../fixtures/test-network.ts';
import { API_KEYS, TestNode } from '../fixtures/test-node.ts';
import { until } from '../fixtures/until.ts';
import { VictimProcess } from './victim-process.ts';

const SCRIPTS = join(import.meta.dirname, '../../scripts');
const [US, EU] = [nodeId('us'), 'eu'];
const CALLERS = 2;
/** Of deriving a key of a passphrase. */
const LEAST_COST = 1 << 14;
/** Longest time for a restored node to learn how far its chain goes. In milliseconds. */
const RECOVERY_MS = 60_000;
/** Of those without a backup, that one may last as much longer. */
const PAUSES = 5;
const NEVER = new AbortController().signal;

const scratch = await mkdtemp(join(tmpdir(), 'meridian-backup-'));
const cache = join(scratch, 'compiled');
const to = join(scratch, 'backups', US);
const again = join(scratch, 'again', US);
const passphraseFile = join(scratch, 'passphrase');
writeFileSync(passphraseFile, 'twelve bytes at the least\n');
const PASSPHRASE = ['--passphrase-file', passphraseFile];

// Loads while the network starts.
const victim = new VictimProcess(cache);
const network = await TestNetwork.start({
  nodes: [US, EU],
  asleep: [US],
  ledger: 'local',
  config: { batchIntervalMs: 1_000, logLevel: 'warn' },
});
const { baseUrl, config: plain } = network.node(US);
const config = { ...plain, keyPassphraseFile: passphraseFile };
const eu = network.node(EU);
const load = new Load({ nodeUrl: `${baseUrl}/verify`, apiKey: API_KEYS.unmetered }, CALLERS);

test.after(async () => {
  await victim[Symbol.asyncDispose]();
  await network[Symbol.asyncDispose]();
  await rm(scratch, { recursive: true, force: true });
});

function start(script: string, ...args: readonly string[]): ChildProcess {
  const env = { PATH: process.env.PATH, NODE_COMPILE_CACHE: cache };
  return spawn(process.execPath, [join(SCRIPTS, script), ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
}

interface Ran {
  readonly exit: number | null;
  readonly text: string;
}

async function ran(child: ChildProcess): Promise<Ran> {
  const parts: string[] = [];
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (part: Buffer) => parts.push(part.toString()));
  await once(child, 'close');
  return { exit: child.exitCode, text: parts.join('') };
}

/** A command in this process. */
async function run(command: typeof restoreCommand | typeof backupCommand, ...args: readonly string[]): Promise<Ran> {
  const lines: string[] = [];
  const terminal = { out: (line: string) => void lines.push(line), err: (line: string) => void lines.push(line) };
  return { exit: await command(args, terminal, NEVER), text: lines.join('\n') };
}

/** Kills a command with no warning once a folder that it fills holds a file. What it left is all that there is. */
async function killWhenIn(file: string, path: string, script: string, ...args: readonly string[]): Promise<string> {
  const child = start(script, ...args);
  const left = () => readdirSync(join(path, '..')).filter((name) => name.startsWith(`${US}.partial-`));
  const before = new Set(existsSync(join(path, '..')) ? left() : []);
  const mine = () => (existsSync(join(path, '..')) ? left() : []).find((name) => !before.has(name));
  for (let name = mine(); name === undefined || !existsSync(join(path, '..', name, file)); name = mine()) {
    if (child.exitCode !== null) throw new Error(`${script} ended before it could be killed`);
    await sleep(1);
  }
  child.kill('SIGKILL');
  await once(child, 'close');
  assert.equal([child.signalCode, existsSync(path)], ['SIGKILL', false]);
  return join(path, '..', mine() ?? '');
}

test('a node is backed up under load, dies, and goes on from the backup on another home', async () => {
  await sealKeys();
  await victim.start(config, join(scratch, 'mark'));
  const stop = new AbortController();
  const running = load.run(stop.signal);
  await until('records', () => load.acknowledged.length > 50);
  const keys = ['--with-keys', ...PASSPHRASE];

  // Killed on its way, it leaves nothing that passes for a backup.
  const partial = await killWhenIn('store', to, 'backup.ts', '--home', config.home, '--to', to, ...keys);
  const none = await run(restoreCommand, partial, '--home', again);
  assert.equal([none.exit, existsSync(again)], [1, false], none.text);

  const usual = longestPause(load);
  const sofar = load.acknowledged.length;
  await until('records without a backup', () => load.acknowledged.length > sofar + 50);
  const usualPause = usual.end();
  const pauses = longestPause(load);
  const begun = performance.now();
  const taken = await ran(start('backup.ts', '--home', config.home, '--to', to, ...keys));
  const seconds = (performance.now() - begun) / 1000;
  const pause = pauses.end();
  assert.is(taken.exit, 0, taken.text);
  assert.match(taken.text, 'left by an attempt cut short');
  assert.match(taken.text, 'whole backup of us');
  // A machine that does other things too pauses on its own.
  assert.ok(pause < 1_000 + PAUSES * usualPause, `nothing was accepted for ${pause} ms, else ${usualPause} ms`);
  const inBackup = load.acknowledged.length;
  await until('more records', () => load.acknowledged.length > inBackup + 50);
  stop.abort();
  await running;
  const newest = load.acknowledged.slice(-20);
  await until(
    'all to be sealed and held by the peer',
    async () => (await notVerified(eu.baseUrl, newest, API_KEYS.unmetered)).length === 0,
  );
  await victim.kill();
  assert.is((await run(backupCommand, '--home', config.home, '--to', to)).exit, 1, 'what is there is not overwritten');
  console.log(`backup of a node under load in ${seconds.toFixed(1)} s, longest pause ${pause.toFixed(0)} ms`);
});

test('a restore that is killed leaves no home, and nothing else that could sign', async () => {
  const partial = await killWhenIn('keys', again, 'restore.ts', to, '--home', again, ...PASSPHRASE);
  // Where there are keys, the store is there as well.
  await using store = await Store.open(join(partial, 'store'), { createIfMissing: false });
  assert.is((await readRestorations(store, US)).at(-1)?.settled, null, 'its store says that it is a copy');
});

test('the restored node takes back what its peer has, and signs on', async () => {
  const restored = await run(restoreCommand, to, '--home', again, ...PASSPHRASE);
  assert.is(restored.exit, 0, restored.text);
  assert.match(restored.text, 'left by an attempt cut short');
  for (const name of await readdir(join(again, 'keys'))) {
    assert.match(await readFile(join(again, 'keys', name), 'utf8'), '"scrypt"');
  }
  const healing = performance.now();
  await using us = new TestNode({ ...config, home: again }, { sealsAhead: true });
  await us.start(AbortSignal.timeout(RECOVERY_MS)).catch((error: unknown) => {
    throw new Error(`it does not start: ${us.log.slice(-5).join('')}`, { cause: error });
  });
  const healed = (performance.now() - healing) / 1000;
  const { acknowledged } = load;
  const lost = await lostIn(us.context.store, acknowledged);
  assert.equal(lost, []);
  // Whose checkpoints vouch for them it learns from its peer, a moment after its start.
  await until('the restored node to verify the last records', async () => {
    return (await notVerified(us.baseUrl, acknowledged.slice(-20), API_KEYS.unmetered)).length === 0;
  });
  const status = await run(restoreCommand, '--status', '--home', again);
  assert.is(status.exit, 0, status.text);
  assert.match(status.text, 'us signs');
  const before = us.context.chains.head(US).batch;
  await us.attest({ decision: 'approve' });
  await us.seal();
  await until('the peer to hold the next batch', () => eu.context.chains.head(US).batch > before);
  assert.equal(eu.context.equivocations.all(), []);
  console.log(
    `restored, signing again after ${healed.toFixed(1)} s, ` +
      `${acknowledged.length} records acknowledged, lost = ${lost.length}`,
  );
  await us.stop();
  const screen = { text: '', isTTY: false, write: (more: string) => void (screen.text += more) };
  assert.is(await fsckCommand([again, ...PASSPHRASE], screen, screen), 0, screen.text);
});

test('a backup that changed is refused, and leaves no home', async () => {
  appendFileSync(join(to, 'rosters.json'), ' ');
  const third = join(scratch, 'third');
  const changed = await run(restoreCommand, to, '--home', third);
  assert.equal([changed.exit, existsSync(third)], [1, false], changed.text);
  assert.match(changed.text, 'rosters.json is not the file that was backed up');
});

test.run();

/** Encrypts all keys of the node but one, at the least cost: opening them is not what this is about. */
async function sealKeys(): Promise<void> {
  const [directory, passphrase] = [keyDirectory(config.home), await readPassphrase(passphraseFile)];
  for (const purpose of ['identity', 'signing', 'payload'] as const) {
    const path = keyFilePath(directory, purpose);
    const { secret } = await readKeyAt(path, purpose, null);
    await rewriteKeyAt(path, purpose, secret, passphrase, LEAST_COST);
  }
}

/** Acknowledged ids that a store does not hold. */
async function lostIn(store: Store, acknowledged: readonly string[]): Promise<string[]> {
  const held = new Set<string>();
  for await (const [, body] of bodyTable.under(store, [US])) {
    for (const { head } of splitTexts(body)) held.add(readHead(head).id);
  }
  return acknowledged.filter((id) => !held.has(id));
}

/** Longest time between two acknowledged records, in milliseconds, until `end`. */
function longestPause({ acknowledged }: Load): { end(): number } {
  let [count, last, longest] = [acknowledged.length, performance.now(), 0];
  const look = () => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    if (acknowledged.length > count) [count, last] = [acknowledged.length, now];
  };
  const timer = setInterval(look, 5);
  return {
    end() {
      clearInterval(timer);
      look();
      return longest;
    },
  };
}

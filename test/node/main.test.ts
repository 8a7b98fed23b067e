import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { entityId } from '../../protocol/ids.ts';
import { CHILD_ENVIRONMENT } from '../fixtures/child-environment.ts';
import { genesisRoster, makePlace, writeRoster } from '../fixtures/test-roster.ts';

const TLS_CERT = join(import.meta.dirname, '../fixtures/tls/localhost.crt');
const TLS_KEY = join(import.meta.dirname, '../fixtures/tls/localhost.key');
const MAIN = join(import.meta.dirname, '../../node/main.ts');

test('a wrong setting ends the start with one line that names it', () => {
  const env = { ...CHILD_ENVIRONMENT, NODE_ID: 'eu', NODE_HOME: '/nowhere', BEHIND_PROXY: '1' };
  const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN], { env, encoding: 'utf8' });
  assert.is(status, 1);
  assert.is(stdout, '');
  assert.match(stderr, /^BEHIND_PROXY is not read any more: .*TRUSTED_PROXIES.*\n$/);
});

/** Variables of a node whose home and roster are in the folder. No ledger answers it; it listens where nobody does. */
async function settingsIn(folder: string) {
  const topic = { network: 'test', topicId: entityId('0.0.1') };
  const place = await makePlace(folder, 'eu', entityId('0.0.1001'));
  return {
    ...CHILD_ENVIRONMENT,
    NODE_ID: 'eu',
    NODE_HOME: place.home,
    ROSTER: await writeRoster(folder, await genesisRoster([place], 0, topic)),
    LEDGER_OPERATOR_ID: '0.0.1001',
    LEDGER_OPERATOR_KEY: '11'.repeat(32),
    LEDGER_NODES: '127.0.0.1:9=0.0.3',
    LEDGER_MIRRORS: 'http://127.0.0.1:9',
    HTTP_PORT: '0',
    METRICS_LISTEN: '127.0.0.1:0',
    PEER_LISTEN: '/ip4/127.0.0.1/tcp/0',
  };
}

type WrongSettings = readonly (readonly [Record<string, string>, RegExp])[];

/** Starts a node with each of them, which must end with 1 and this one line on stderr. */
function refuseEach(wrong: WrongSettings, env: NodeJS.ProcessEnv): void {
  for (const [settings, expected] of wrong) {
    const { status, stderr } = spawnSync(process.execPath, [MAIN], { env: { ...env, ...settings }, encoding: 'utf8' });
    assert.is(status, 1, stderr);
    assert.match(stderr, expected);
  }
}

test('settings that do not go with the roster or the key files end the start with one line, too', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'meridian-main-'));
  try {
    const env = await settingsIn(folder);
    const notJson = join(folder, 'not-json');
    await writeFile(notJson, '[{');
    const wrong: WrongSettings = [
      [{ LEDGER_OPERATOR_ID: '0.0.9' }, /^LEDGER_OPERATOR_ID 0\.0\.9 is no account of eu: .*\n$/],
      [{ LEDGER_OPERATOR_KEY: 'foo' }, /^LEDGER_OPERATOR_KEY: a ledger key is .*\n$/],
      [{ LEDGER_SUBMIT_KEY: 'foo' }, /^LEDGER_SUBMIT_KEY: a ledger key is .*\n$/],
      [{ LEDGER_NODES: '', LEDGER_MIRRORS: '' }, /^the ledger test needs LEDGER_NODES and LEDGER_MIRRORS\n$/],
      [{ NODE_ID: 'us' }, /^.*us.*\n$/],
      [{ NODE_HOME: folder }, /^.*identity\.key does not exist\n$/],
      [{ ROSTER: join(folder, 'none') }, /^the roster file .*none cannot be read: ENOENT\n$/],
      [{ ROSTER: notJson }, /^the roster file is not JSON: .*\n$/],
      [{ NODE_KEY_PASSPHRASE_FILE: join(folder, 'none') }, /^the passphrase file .* cannot be read: ENOENT\n$/],
    ];
    refuseEach(wrong, env);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('a place to listen that is taken or none, and a file that cannot be used, end it with one line each', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'meridian-main-'));
  const other = createServer().listen(0, '127.0.0.1');
  try {
    await once(other, 'listening');
    const address = other.address();
    const taken = String(typeof address === 'object' ? address?.port : address);
    const env = await settingsIn(folder);
    const [none, notPem] = [join(folder, 'none'), env.ROSTER];
    const wrong: WrongSettings = [
      [{ HTTP_PORT: taken }, /^HTTP_HOST, HTTP_PORT: .*EADDRINUSE.*\n$/],
      [{ HTTP_HOST: '203.0.113.1', TRUSTED_PROXIES: '10.0.0.1' }, /^HTTP_HOST, HTTP_PORT: .*EADDRNOTAVAIL.*\n$/],
      [{ METRICS_LISTEN: `127.0.0.1:${taken}` }, /^METRICS_LISTEN: .*EADDRINUSE.*\n$/],
      [{ PEER_LISTEN: `/ip4/127.0.0.1/tcp/${taken}` }, /^PEER_LISTEN: \/ip4\/.*EADDRINUSE.*\n$/],
      [{ PEER_LISTEN: 'foo' }, /^PEER_LISTEN: .*multiaddr.*\n$/],
      [{ TLS_CERT: none, TLS_KEY }, /^TLS_CERT: .*none.*ENOENT.*\n$/],
      [{ TLS_CERT: notPem, TLS_KEY }, /^TLS_CERT: .*PEM.*\n$/],
      [{ TLS_CERT, TLS_KEY: notPem }, /^TLS_KEY: .*\n$/],
      [{ REGWATCH_SOURCES: none }, /^REGWATCH_SOURCES: .*ENOENT.*\n$/],
      [{ REGWATCH_SOURCES: folder }, /^REGWATCH_SOURCES: .*EISDIR.*\n$/],
      [{ REGWATCH_SOURCES: env.ROSTER }, /^REGWATCH_SOURCES: .*\n$/],
    ];
    refuseEach(wrong, env);
  } finally {
    other.close();
    await rm(folder, { recursive: true });
  }
});

test('a flag that it does not know starts nothing, and is said in one line; the help has the one that it knows', () => {
  const env = { ...CHILD_ENVIRONMENT, NODE_ID: 'eu', NODE_HOME: '/nowhere' };
  const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN, '--reread'], { env, encoding: 'utf8' });
  assert.is(status, 2);
  assert.is(stdout, '');
  const help = spawnSync(process.execPath, [MAIN, '--help'], { env, encoding: 'utf8' });
  assert.equal([help.status, help.stdout, help.stderr], [0, 'usage: npm run node [-- --reread-ledger]\n', '']);
  assert.match(stderr, /^Unknown option '--reread'; --help says more\n$/);
});

test.run();

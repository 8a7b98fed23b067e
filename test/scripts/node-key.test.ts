import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createKeyFile, KEY_FILE_PURPOSES, keyFilePath } from '../../node/keys/key-file.ts';
import { keyDirectory } from '../../node/keys/node-keys.ts';
import { Store } from '../../node/store/store.ts';
import { nativeSuite } from '../../node/keys/native-suite.ts';
import { nodeKeyCommand } from '../../scripts/node-key/command.ts';
import { revokedWords } from '../../scripts/node-key/revoke.ts';
import { utf8 } from '../../protocol/bytes.ts';
import { writeSha256 } from '../../protocol/hash.ts';
import { nodeId } from '../../protocol/ids.ts';
import { timestampOf } from '../../protocol/time.ts';

const home = await mkdtemp(join(tmpdir(), 'node-key-'));
test.after(() => rm(home, { recursive: true, force: true }));
const IN_USE = writeSha256(nativeSuite.sha256(utf8('in use')));

async function run(...args: readonly string[]): Promise<{ readonly code: number; readonly text: string }> {
  const lines: string[] = [];
  const code = await nodeKeyCommand(args, { out: (line) => lines.push(line), err: (line) => lines.push(line) });
  return { code, text: lines.join('\n') };
}

test('a revocation that broke off in the middle is tried again with the key that was meant', async () => {
  const asked: string[] = [];
  // A node that dies once it has replaced the key.
  const server = createServer(async (request, response) => {
    if (request.method === 'GET') {
      response.end(JSON.stringify({ success: true, node: 'eu', inUse: IN_USE, keys: [] }));
      return;
    }
    asked.push(await text(request));
    response.destroy();
  });
  const listening = Promise.withResolvers<void>();
  server.listen(join(home, 'operator.sock'), listening.resolve);
  await listening.promise;
  try {
    const { code, text: said } = await run('revoke', '--home', home, '--reason', 'stolen');
    assert.is(code, 1);
    assert.match(said, `--key ${IN_USE}`);
    assert.equal(
      asked.map((body): unknown => JSON.parse(body)),
      [{ note: 'stolen', keyId: IN_USE }],
    );
    assert.not.match((await run('revoke', '--home', home, '--key', IN_USE, '--reason', 'stolen')).text, 'try again');
  } finally {
    server.close();
    server.closeAllConnections();
  }
});

test('what a node of another version did is not told as undone: show tells what came of it', async () => {
  const server = createServer((request, response) => {
    const answer = { success: true, node: 'eu', inUse: IN_USE, keys: [] };
    response.end(JSON.stringify(request.method === 'GET' ? answer : { success: true, node: 'eu', keyId: IN_USE }));
  }).listen(join(home, 'operator.sock'));
  await once(server, 'listening');
  try {
    for (const args of [
      ['rotate'],
      ['revoke', '--reason', 'stolen'],
      ['revoke', '--reason', 'stolen', '--key', IN_USE],
    ]) {
      const { code, text: said } = await run(...args, '--home', home);
      assert.is(code, 1, args.join(' '));
      assert.match(said, 'the node took it, and its answer is of another version: npm run node-key -- show tells');
      assert.not.match(said, 'try again');
    }
  } finally {
    server.close();
    await once(server, 'close');
  }
});

test('revocations of a node of another release are told in one line, and nothing is written', async () => {
  const other = await mkdtemp(join(tmpdir(), 'node-key-'));
  const server = createServer((_, response) => response.end('{"success":true,"revocations":[]}'));
  server.listen(join(other, 'operator.sock'));
  await once(server, 'listening');
  const { code, text: said } = await run('revocations', '--home', other, '--out', join(other, 'revocations.json'));
  server.close();
  await once(server, 'close');
  assert.is(code, 1);
  assert.match(said, /^node-key: .*the node is of another version$/);
  assert.equal(await readdir(other), []);
  await rm(other, { recursive: true });
});

test('a revocation that asks for more than it reaches says from when on records fall, and warns', () => {
  const answer = { success: true, node: nodeId('eu'), keyId: IN_USE, replacedBy: null } as const;
  const [asked, bound] = [timestampOf(0), timestampOf(1_000)];
  const bounded = revokedWords({ ...answer, compromisedSince: asked, fallsFrom: bound });
  assert.match(bounded, `before ${bound}; attest again what did later`);
  assert.match(bounded, new RegExp(`WARNING: .* from ${asked} until then still counts`));
  assert.not.match(revokedWords({ ...answer, compromisedSince: bound, fallsFrom: bound }), 'WARNING');
  assert.match(revokedWords({ ...answer, compromisedSince: null, fallsFrom: null }), 'all that it signed stands');
});

test('a node that answers with an error, or as another release does, or not at all runs: no key file is replaced', async () => {
  const other = await mkdtemp(join(tmpdir(), 'node-key-'));
  const passphraseFile = join(other, 'passphrase');
  await writeFile(passphraseFile, 'a passphrase that is long enough');
  const keys = KEY_FILE_PURPOSES.map((purpose) => keyFilePath(keyDirectory(other), purpose));
  await mkdir(keyDirectory(other));
  for (const purpose of KEY_FILE_PURPOSES) await createKeyFile(keyDirectory(other), purpose);
  const before = await Promise.all(keys.map((file) => readFile(file, 'utf8')));
  const encrypt = () => run('encrypt', '--home', other, '--passphrase-file', passphraseFile);
  const answers: readonly ((response: ServerResponse) => unknown)[] = [
    (response) => response.writeHead(503).end('{"detail":"the node is starting"}'),
    (response) => response.end('{"success":true}'),
    (response) => response.destroy(),
  ];
  for (const [i, answer] of answers.entries()) {
    const server = createServer((_, response) => answer(response)).listen(join(other, 'operator.sock'));
    await once(server, 'listening');
    const { code, text: said } = await encrypt();
    server.close();
    await once(server, 'close');
    assert.equal([code, said.split('\n').length], [1, 1], said);
    assert.match(said, /operator\.sock, stop it first: /, `answer ${i}`);
    assert.equal(await Promise.all(keys.map((file) => readFile(file, 'utf8'))), before, `answer ${i}`);
  }
  // It has no socket yet, or none any more.
  const store = await Store.open(join(other, 'store'));
  const locked = await encrypt();
  await store[Symbol.asyncDispose]();
  assert.is(locked.code, 1);
  assert.match(locked.text, /a process has the store of .* open; stop it first/);
  assert.equal(await Promise.all(keys.map((file) => readFile(file, 'utf8'))), before);
  assert.is((await encrypt()).code, 0);
  for (const file of keys) assert.match(await readFile(file, 'utf8'), /aes-256-gcm/);
  await rm(other, { recursive: true });
});

test('what cannot be asked is said', async () => {
  const refusals: readonly [args: string[], why: RegExp][] = [
    [['show'], /one of --node and --home/],
    [['show', '--home', home, '--node', 'eu'], /one of --node and --home/],
    [['show', 'all', '--home', home], /what is all\?/],
    [['abolish', '--home', home], /a command is one of show rotate/],
    [['revoke', '--home', home], /revoke takes --reason/],
    [['revoke', '--home', home, '--reason', 'x', '--key', 'none'], /--key is a key id/],
    [['revoke', '--home', home, '--reason', 'x', '--since', 'then'], /--since is/],
    [['revoke', '--home', home, '--reason', 'x', '--rotated', '--since', '2026-11-21T08:00:00Z'], /has no --since/],
    [['encrypt', '--home', home], /encrypt takes --home and --passphrase-file/],
    [['show', '--out', 'x', '--home', home], /revocations alone takes --out/],
    [['show', '--no-such', '--home', home], /--no-such/],
  ];
  for (const [args, why] of refusals) {
    const { code, text: said } = await run(...args);
    assert.is(code, 2, args.join(' '));
    assert.match(said, why);
  }
  assert.equal(await run('--help').then(({ code }) => code), 0);
});

test.run();

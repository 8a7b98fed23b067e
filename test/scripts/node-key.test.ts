import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nativeSuite } from '../../node/keys/native-suite.ts';
import { nodeKeyCommand } from '../../scripts/node-key/command.ts';
import { utf8 } from '../../protocol/bytes.ts';
import { writeSha256 } from '../../protocol/hash.ts';

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

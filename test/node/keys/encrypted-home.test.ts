import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { fsck } from '../../../node/fsck/fsck.ts';
import { encryptHome } from '../../../node/keys/encrypt-home.ts';
import { KEY_FILE_PURPOSES, keyFilePath } from '../../../node/keys/key-file.ts';
import { NextKey } from '../../../node/keys/next-key.ts';
import { keyDirectory, readNodeKeys } from '../../../node/keys/node-keys.ts';
import { Passphrase, readPassphrase } from '../../../node/keys/passphrase.ts';
import { nodeKeyCommand } from '../../../scripts/node-key/command.ts';
import { utf8 } from '../../../protocol/bytes.ts';
import { TestNetwork } from '../../fixtures/test-network.ts';
import { TestNode } from '../../fixtures/test-node.ts';

/** Quick to derive: the least that a key file may ask for. */
const TEST_COST = 1 << 14;
const WORDS = 'a passphrase that no log shows';
const network = await TestNetwork.start();
const plain = network.node();
const { home } = plain.config;
const passphraseFile = join(home, 'passphrase');
await writeFile(passphraseFile, `${WORDS}\n`);
const passphrase = await readPassphrase(passphraseFile);
/** Its ledger is down for good. */
const UNREAD = { sealsAhead: true, startsUnread: true };
const node = new TestNode({ ...plain.config, keyPassphraseFile: passphraseFile }, UNREAD);
test.after(async () => {
  await node.stop();
  await network[Symbol.asyncDispose]();
});

async function command(
  ...args: string[]
): Promise<{ readonly exit: number; readonly out: string; readonly err: string }> {
  const lines = { out: [] as string[], err: [] as string[] };
  const exit = await nodeKeyCommand(args, {
    out: (line) => lines.out.push(line),
    err: (line) => lines.err.push(line),
  });
  return { exit, out: lines.out.join('\n'), err: lines.err.join('\n') };
}

test('the operator sees, rotates and revokes over the socket; what is wrong is told', async () => {
  const shown = await command('show', '--home', home, '--json');
  assert.is(shown.exit, 0);
  const { inUse } = JSON.parse(shown.out);
  const rotated = JSON.parse((await command('rotate', '--home', home, '--json')).out);
  assert.is(rotated.before, inUse);
  const revoked = await command('revoke', '--home', home, '--reason', 'lost', '--json');
  assert.is(JSON.parse(revoked.out).keyId, rotated.keyId);
  assert.match((await command('show', '--home', home)).out, /revoked, compromised since/);
  const revocations = await command('revocations', '--home', home);
  assert.equal([revocations.exit, JSON.parse(revocations.out).revocations], [0, []], 'the ledger has decided nothing');
  assert.match(revocations.err, 'revoked keys that are not in it: 1;');
  const future = await command('revoke', '--home', home, '--reason', 'x', '--since', '2999-01-01T00:00:00Z');
  assert.equal([future.exit, /future/.test(future.err)], [1, true]);
  assert.is((await command('revoke', '--home', home)).exit, 2);
  assert.is((await command('encrypt', '--home', home, '--passphrase-file', passphraseFile)).exit, 1, 'the node runs');
});

test('a home is encrypted; what a crash left undone another call does', async () => {
  const id = await plain.attest({ input: 1, decision: 'yes' });
  await plain.stop();
  await node.start();
  await node.stop();
  assert.match(node.log.join('\n'), /KEY FILES ARE NOT ENCRYPTED/);
  const before = await readNodeKeys(home);
  assert.equal(before.plain, [...KEY_FILE_PURPOSES]);
  await new NextKey(keyDirectory(home), null).create();
  assert.is((await encryptHome(home, null, passphrase, TEST_COST)).length, 5);
  assert.equal(await encryptHome(home, null, passphrase, TEST_COST), []);
  const after = await readNodeKeys(home, passphrase);
  assert.equal([after.plain, after.payloadKey, after.peerSeed], [[], before.payloadKey, before.peerSeed]);
  assert.is(after.identity.keyId, before.identity.keyId);
  // As if a crash had come before the last file: the plain one is still there.
  await encryptHome(home, passphrase, new Passphrase(utf8('another passphrase of ours')), TEST_COST);
  const [mixed] = await encryptHome(home, new Passphrase(utf8('another passphrase of ours')), passphrase, TEST_COST);
  assert.is(mixed, keyFilePath(keyDirectory(home), 'identity'));
  await node.start();
  assert.is((await node.get(`/v1/verify/${id}`)).body.payloadState, 'available');
});

test('a rotation in an encrypted home makes an encrypted file', async () => {
  const { keyId } = await node.context.ownKeys.rotate();
  const text = await readFile(keyFilePath(keyDirectory(home), 'signing'), 'utf8');
  assert.match(text, /aes-256-gcm/);
  await node.stop();
  assert.is((await readNodeKeys(home, passphrase)).signer.keyId, keyId);
});

test('fsck proves the home with the passphrase, and says what it could not check without', async () => {
  const known = (await fsck(home, { passphrase })).report;
  assert.equal([known.found('problem'), known.notChecked], [0, []]);
  const { report } = await fsck(home);
  assert.is(report.found('problem'), 0);
  assert.match(report.notChecked.join('\n'), /signing.key: it is encrypted/);
});

test('without its passphrase, or under another, the node does not start, and says why', async () => {
  const other = join(home, 'other');
  await writeFile(other, 'quite another passphrase');
  for (const keyPassphraseFile of [null, other, join(home, 'none')]) {
    const error: unknown = await new TestNode({ ...plain.config, keyPassphraseFile }, UNREAD)
      .start()
      .catch((e: unknown) => e);
    assert.match(String(error), /KeyFileError|PassphraseError/);
    assert.not.match(String(error), /quite another|no log shows/);
  }
});

test('no log of the node has the passphrase', async () => {
  assert.not.match([...plain.log, ...node.log].join('\n'), /no log shows/);
});

test.run();

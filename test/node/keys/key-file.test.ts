import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  createKeyFile,
  KeyFileError,
  keyFilePath,
  readKeyFile,
  rewriteKeyAt,
  SCRYPT_COST,
} from '../../../node/keys/key-file.ts';
import { Passphrase, PassphraseError, readPassphrase } from '../../../node/keys/passphrase.ts';
import { encodeBase64url, utf8 } from '../../../protocol/bytes.ts';

/** Quick to derive: the least that a key file may ask for. */
const TEST_COST = 1 << 14;
const passphrase = new Passphrase(utf8('correct horse battery staple'));
const other = new Passphrase(utf8('correct horse battery stapl3'));

const directory = await mkdtemp(join(tmpdir(), 'meridian-keys-'));
test.after(() => rm(directory, { recursive: true, force: true }));

const faultOf = async (work: Promise<unknown>) => {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  assert.instance(error, KeyFileError);
  return error instanceof KeyFileError ? error : undefined;
};

async function sealedFile(): Promise<{ readonly path: string; readonly secret: Uint8Array }> {
  const path = keyFilePath(directory, 'payload');
  await rm(path, { force: true });
  const secret = await createKeyFile(directory, 'payload');
  await rewriteKeyAt(path, 'payload', secret, passphrase, TEST_COST);
  return { path, secret };
}

test('an encrypted key file opens under its passphrase, and holds its secret in no form', async () => {
  const { path, secret } = await sealedFile();
  assert.equal(await readKeyFile(directory, 'payload', passphrase), secret);
  const text = await readFile(path, 'utf8');
  assert.not.ok(text.includes(encodeBase64url(secret)));
  assert.is((await stat(path)).mode & 0o777, 0o600);
  assert.is(await faultOf(readKeyFile(directory, 'payload')).then((error) => error?.fault), 'locked');
});

test('another passphrase is told, and nothing of either in the error', async () => {
  await sealedFile();
  const error = await faultOf(readKeyFile(directory, 'payload', other));
  assert.is(error?.fault, 'locked');
  assert.not.match(String(error?.message), /horse/);
});

test('a changed byte anywhere in an encrypted file is found', async () => {
  const { path } = await sealedFile();
  const text = await readFile(path, 'utf8');
  for (const part of ['salt', 'nonce', 'tag', 'text', 'cost', 'purpose', 'name']) {
    const at = text.indexOf(`"${part}": `) + part.length + 5;
    const changed = text.slice(0, at) + (text[at] === 'A' ? 'B' : 'A') + text.slice(at + 1);
    await writeFile(path, changed);
    const error = await faultOf(readKeyFile(directory, 'payload', passphrase));
    assert.ok(error?.fault === 'locked' || error?.fault === 'damaged', part);
  }
});

test('the purpose is sealed with the secret: one key file cannot stand for another', async () => {
  const { path } = await sealedFile();
  const text = await readFile(path, 'utf8');
  await writeFile(keyFilePath(directory, 'signing'), text.replace('"payload"', '"signing"'));
  assert.is((await faultOf(readKeyFile(directory, 'signing', passphrase)))?.fault, 'locked');
});

test('a cost that makes guessing cheap, or a start take for ever, is refused', async () => {
  const { path } = await sealedFile();
  const text = await readFile(path, 'utf8');
  for (const cost of [2, TEST_COST / 2, TEST_COST + 1, 2 ** 30]) {
    await writeFile(path, text.replace(String(TEST_COST), String(cost)));
    assert.is((await faultOf(readKeyFile(directory, 'payload', passphrase)))?.fault, 'locked');
  }
});

test('a new key file is encrypted at full cost where there is a passphrase', async () => {
  const started = performance.now();
  const secret = await createKeyFile(directory, 'identity', passphrase);
  console.log(`sealing one key: ${Math.round(performance.now() - started)} ms`);
  assert.equal(await readKeyFile(directory, 'identity', passphrase), secret);
  assert.ok((await readFile(keyFilePath(directory, 'identity'), 'utf8')).includes(`"cost": ${SCRYPT_COST}`));
});

test('a passphrase file is read to its line end; a short one protects nothing', async () => {
  const file = join(directory, 'passphrase');
  await writeFile(file, 'correct horse battery staple\r\n');
  assert.equal((await readPassphrase(file)).reveal(), Buffer.from(utf8('correct horse battery staple')));
  assert.is(JSON.stringify({ file: await readPassphrase(file) }), '{"file":"[passphrase]"}');
  await writeFile(file, 'short\n');
  for (const bad of [file, join(directory, 'none')]) {
    const error = await readPassphrase(bad).catch((thrown: unknown) => thrown);
    assert.instance(error, PassphraseError);
  }
});

test.run();

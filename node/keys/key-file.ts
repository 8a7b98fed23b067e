import { createCipheriv, createDecipheriv, randomBytes, scrypt, type ScryptOptions } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import Type, { type Static } from 'typebox';
import { decodeBase64url, encodeBase64url, utf8 } from '../../protocol/bytes.ts';
import { writeSha256 } from '../../protocol/hash.ts';
import { Compile } from '../../protocol/shape-check.ts';
import { Closed } from '../../protocol/shapes.ts';
import { createDurably, replaceDurably } from './durable-file.ts';
import { nativeSuite } from './native-suite.ts';
import type { Passphrase } from './passphrase.ts';

/** scrypt (RFC 7914): 128 MiB and some tenths of a second for every guess. `r` and `p` are those of its paper. */
export const SCRYPT_COST = 1 << 17;
const SCRYPT_BLOCK = 8;
const SCRYPT_PARALLELIZATION = 1;
/** Bounds of what a key file may ask for: below it guessing is cheap, above it a start takes minutes. */
const MIN_COST = 1 << 14;
const MAX_COST = 1 << 20;
const SALT_BYTES = 16;
const CIPHER = 'aes-256-gcm';
const CIPHER_KEY_BYTES = 32;
/** NIST SP 800-38D §8.2; every sealing has a salt and so a key of its own. */
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

const SealedSecretShape = Closed({
  kdf: Closed({ name: Type.Literal('scrypt'), cost: Type.Integer(), salt: Type.String() }),
  cipher: Closed({ name: Type.Literal(CIPHER), nonce: Type.String(), tag: Type.String(), text: Type.String() }),
});
/** A secret encrypted under a passphrase. All bytes are base64url. */
type SealedSecret = Static<typeof SealedSecretShape>;

/** The passphrase is another one, or the sealed text was changed: the cipher cannot tell which. */
class SealError extends Error {
  override readonly name = 'SealError';
}

/** Encrypts a secret. `purpose` is authenticated with it: it opens under no other. */
async function sealSecret(
  secret: Uint8Array,
  passphrase: Passphrase,
  purpose: string,
  cost = SCRYPT_COST,
): Promise<SealedSecret> {
  const [salt, nonce] = [randomBytes(SALT_BYTES), randomBytes(NONCE_BYTES)];
  const cipher = createCipheriv(CIPHER, await deriveKey(passphrase, salt, cost), nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(utf8(purpose));
  const text = Buffer.concat([cipher.update(secret), cipher.final()]);
  return {
    kdf: { name: 'scrypt', cost, salt: encodeBase64url(salt) },
    cipher: {
      name: CIPHER,
      nonce: encodeBase64url(nonce),
      tag: encodeBase64url(cipher.getAuthTag()),
      text: encodeBase64url(text),
    },
  };
}

/** Decrypts a secret. Throws `SealError`. */
async function openSecret(
  { kdf, cipher: { nonce, tag, text } }: SealedSecret,
  passphrase: Passphrase,
  purpose: string,
): Promise<Uint8Array> {
  const isPower = (kdf.cost & (kdf.cost - 1)) === 0;
  if (!isPower || kdf.cost < MIN_COST || kdf.cost > MAX_COST) throw new SealError('its cost of derivation is not one');
  const key = await deriveKey(passphrase, decoded(kdf.salt, SALT_BYTES), kdf.cost);
  const decipher = createDecipheriv(CIPHER, key, decoded(nonce, NONCE_BYTES), { authTagLength: TAG_BYTES });
  decipher.setAAD(utf8(purpose));
  decipher.setAuthTag(decoded(tag, TAG_BYTES));
  try {
    return new Uint8Array(Buffer.concat([decipher.update(decoded(text)), decipher.final()]));
  } catch (error) {
    if (error instanceof SealError) throw error;
    const marked = passphrase.isMarked ? ', which begins with a byte order mark' : '';
    throw new SealError(`it does not open under this passphrase${marked}`);
  }
}

function deriveKey(passphrase: Passphrase, salt: Uint8Array, cost: number): Promise<Uint8Array> {
  const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
  // Twice what scrypt takes: OpenSSL counts a little beside its blocks.
  const options: ScryptOptions = {
    cost,
    blockSize: SCRYPT_BLOCK,
    parallelization: SCRYPT_PARALLELIZATION,
    maxmem: 2 * 128 * cost * SCRYPT_BLOCK,
  };
  scrypt(passphrase.reveal(), salt, CIPHER_KEY_BYTES, options, (error, key) => {
    if (error === null) resolve(key);
    else reject(error);
  });
  return promise;
}

function decoded(text: string, length?: number): Uint8Array {
  let bytes: Uint8Array;
  try {
    bytes = decodeBase64url(text);
  } catch {
    throw new SealError('it is not base64url');
  }
  if (length !== undefined && bytes.length !== length) throw new SealError('a part of it has another length');
  return bytes;
}

/**
 * `identity` certifies and revokes; `signing` signs groups, batches and checkpoints; `peer` is the libp2p identity;
 * `payload` encrypts payloads. Each is 32 random bytes in a file of its own.
 */
export const KEY_FILE_PURPOSES = ['identity', 'signing', 'peer', 'payload'] as const;
export type KeyFilePurpose = (typeof KEY_FILE_PURPOSES)[number];

const KEY_FILE_MODE = 0o600;
const SECRET_BYTES = 32;

const PlainShape = Closed({
  v: Type.Literal(1),
  purpose: Type.Enum([...KEY_FILE_PURPOSES]),
  secret: Type.String(),
  /** Hash of the secret: a damaged file is refused instead of becoming another key. */
  secretHash: Type.String(),
});
const SealedShape = Closed({
  v: Type.Literal(2),
  purpose: Type.Enum([...KEY_FILE_PURPOSES]),
  sealed: SealedSecretShape,
});
type PlainFile = Static<typeof PlainShape>;
type SealedFile = Static<typeof SealedShape>;
const compiledPlain = Compile(PlainShape);
const compiledSealed = Compile(SealedShape);

/** `locked`: the file is encrypted, and there is no passphrase or another one. */
export type KeyFileFault = 'missing' | 'damaged' | 'locked';

export class KeyFileError extends Error {
  override readonly name = 'KeyFileError';
  readonly fault: KeyFileFault;

  constructor(fault: KeyFileFault, message: string) {
    super(message);
    this.fault = fault;
  }
}

/** A secret as its file holds it. */
export interface KeyFileContent {
  readonly secret: Uint8Array;
  readonly encrypted: boolean;
}

export function keyFilePath(directory: string, purpose: KeyFilePurpose): string {
  return join(directory, `${purpose}.key`);
}

/**
 * The 32 secret bytes of a key file; `passphrase` opens an encrypted one. Throws `KeyFileError` where it is missing,
 * damaged, of another purpose, or does not open.
 */
export async function readKeyFile(
  directory: string,
  purpose: KeyFilePurpose,
  passphrase: Passphrase | null = null,
): Promise<Uint8Array> {
  return (await readKeyAt(keyFilePath(directory, purpose), purpose, passphrase)).secret;
}

/** The same of a file by its own name. */
export async function readKeyAt(
  path: string,
  purpose: KeyFilePurpose,
  passphrase: Passphrase | null,
): Promise<KeyFileContent> {
  let parsed: unknown;
  try {
    parsed = JSON.parse(await readFile(path, 'utf8'));
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    throw isMissing
      ? new KeyFileError('missing', `${path} does not exist`)
      : new KeyFileError('damaged', `${path} is not a key file`);
  }
  if (compiledPlain.Check(parsed) && parsed.purpose === purpose) {
    return { secret: plainSecret(parsed, path), encrypted: false };
  }
  if (compiledSealed.Check(parsed) && parsed.purpose === purpose) {
    return { secret: await sealedSecret(parsed, path, passphrase), encrypted: true };
  }
  throw new KeyFileError('damaged', `${path} is not a ${purpose} key`);
}

/**
 * Makes a key file with fresh random bytes, encrypted where there is a passphrase; on the disk when it resolves. Throws
 * where the file exists already.
 */
export async function createKeyFile(
  directory: string,
  purpose: KeyFilePurpose,
  passphrase: Passphrase | null = null,
): Promise<Uint8Array> {
  return createKeyAt(keyFilePath(directory, purpose), purpose, passphrase);
}

/** The same under a name of its own. */
export async function createKeyAt(
  path: string,
  purpose: KeyFilePurpose,
  passphrase: Passphrase | null,
): Promise<Uint8Array> {
  const secret = new Uint8Array(randomBytes(SECRET_BYTES));
  await createDurably(path, await textOf(secret, purpose, passphrase), KEY_FILE_MODE);
  return secret;
}

/**
 * Writes a secret under another passphrase in the place of its file; null leaves it plain. One file replaces the other
 * as a whole: a crash leaves either.
 */
export async function rewriteKeyAt(
  path: string,
  purpose: KeyFilePurpose,
  secret: Uint8Array,
  passphrase: Passphrase | null,
  cost?: number,
): Promise<void> {
  await replaceDurably(path, await textOf(secret, purpose, passphrase, cost), KEY_FILE_MODE);
}

async function textOf(
  secret: Uint8Array,
  purpose: KeyFilePurpose,
  passphrase: Passphrase | null,
  cost?: number,
): Promise<string> {
  const content: PlainFile | SealedFile =
    passphrase === null
      ? { v: 1, purpose, secret: encodeBase64url(secret), secretHash: writeSha256(nativeSuite.sha256(secret)) }
      : { v: 2, purpose, sealed: await sealSecret(secret, passphrase, purpose, cost) };
  return `${JSON.stringify(content, null, 2)}\n`;
}

function plainSecret(file: PlainFile, path: string): Uint8Array {
  let secret: Uint8Array | null = null;
  try {
    secret = decodeBase64url(file.secret);
  } catch {
    // Falls through to the one error below: the bytes of a secret never reach a message.
  }
  if (secret?.length !== SECRET_BYTES) throw new KeyFileError('damaged', `${path} does not hold ${SECRET_BYTES} bytes`);
  if (writeSha256(nativeSuite.sha256(secret)) !== file.secretHash) {
    throw new KeyFileError('damaged', `${path} is damaged`);
  }
  return secret;
}

async function sealedSecret(file: SealedFile, path: string, passphrase: Passphrase | null): Promise<Uint8Array> {
  if (passphrase === null) throw new KeyFileError('locked', `${path} is encrypted, and there is no passphrase`);
  try {
    const secret = await openSecret(file.sealed, passphrase, file.purpose);
    if (secret.length === SECRET_BYTES) return secret;
  } catch (error) {
    if (!(error instanceof SealError)) throw error;
    throw new KeyFileError('locked', `${path}: ${error.message}`);
  }
  throw new KeyFileError('damaged', `${path} does not hold ${SECRET_BYTES} bytes`);
}

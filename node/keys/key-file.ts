import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import Type, { type Static } from 'typebox';
import { Compile } from '../../protocol/shape-check.ts';
import { decodeBase64url, encodeBase64url } from '../../protocol/bytes.ts';
import { writeSha256 } from '../../protocol/hash.ts';
import { Closed } from '../../protocol/shapes.ts';
import { createDurably, replaceDurably } from './durable-file.ts';
import { nativeSuite } from './native-suite.ts';
import type { Passphrase } from './passphrase.ts';
import { openSecret, SealedSecretShape, SealError, sealSecret } from './sealed-secret.ts';

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
 * Writes a secret under another passphrase in the place of its file; null leaves it plain. One file replaces the other as
 * a whole: a crash leaves either.
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

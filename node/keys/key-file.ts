import { randomBytes } from 'node:crypto';
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import Type, { type Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { decodeBase64url, encodeBase64url } from '../../protocol/bytes.ts';
import { writeSha256 } from '../../protocol/hash.ts';
import { nativeSuite } from './native-suite.ts';

/**
 * `identity` certifies and revokes; `signing` signs groups, batches and cosignatures; `peer` is the libp2p identity;
 * `payload` encrypts payloads. Each is 32 random bytes in a file of its own.
 */
export const KEY_FILE_PURPOSES = ['identity', 'signing', 'peer', 'payload'] as const;
export type KeyFilePurpose = (typeof KEY_FILE_PURPOSES)[number];

const KEY_FILE_MODE = 0o600;
const SECRET_BYTES = 32;

const KeyFileShape = Type.Object(
  {
    v: Type.Literal(1),
    purpose: Type.Enum([...KEY_FILE_PURPOSES]),
    secret: Type.String(),
    /** Hash of the secret: a damaged file is refused instead of becoming another key. */
    secretHash: Type.String(),
  },
  { additionalProperties: false },
);
type KeyFile = Static<typeof KeyFileShape>;
const compiled = Compile(KeyFileShape);

export class KeyFileError extends Error {
  override readonly name = 'KeyFileError';
}

export function keyFilePath(directory: string, purpose: KeyFilePurpose): string {
  return join(directory, `${purpose}.key`);
}

/** The 32 secret bytes of a key file. Throws `KeyFileError` where it is missing, damaged or of another purpose. */
export async function readKeyFile(directory: string, purpose: KeyFilePurpose): Promise<Uint8Array> {
  const path = keyFilePath(directory, purpose);
  let parsed: unknown;
  try {
    parsed = JSON.parse(await readFile(path, 'utf8'));
  } catch (error) {
    const missing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    throw new KeyFileError(missing ? `${path} does not exist` : `${path} is not a key file`);
  }
  if (!compiled.Check(parsed) || parsed.purpose !== purpose) throw new KeyFileError(`${path} is not a ${purpose} key`);
  const secret = decodeSecret(parsed, path);
  if (writeSha256(nativeSuite.sha256(secret)) !== parsed.secretHash) throw new KeyFileError(`${path} is damaged`);
  return secret;
}

/** Makes a key file with fresh random bytes, on the disk when it resolves. Throws where the file exists already. */
export async function createKeyFile(directory: string, purpose: KeyFilePurpose): Promise<Uint8Array> {
  const secret = new Uint8Array(randomBytes(SECRET_BYTES));
  const content: KeyFile = {
    v: 1,
    purpose,
    secret: encodeBase64url(secret),
    secretHash: writeSha256(nativeSuite.sha256(secret)),
  };
  await using file = await open(keyFilePath(directory, purpose), 'wx', KEY_FILE_MODE);
  await file.writeFile(`${JSON.stringify(content, null, 2)}\n`);
  await file.sync();
  return secret;
}

function decodeSecret(file: KeyFile, path: string): Uint8Array {
  try {
    const secret = decodeBase64url(file.secret);
    if (secret.length === SECRET_BYTES) return secret;
  } catch {
    // Falls through to the one error below: the bytes of a secret never reach a message.
  }
  throw new KeyFileError(`${path} does not hold ${SECRET_BYTES} bytes`);
}

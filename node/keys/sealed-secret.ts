import { createCipheriv, createDecipheriv, randomBytes, scrypt, type ScryptOptions } from 'node:crypto';
import Type, { type Static } from 'typebox';
import { decodeBase64url, encodeBase64url, utf8 } from '../../protocol/bytes.ts';
import { Closed } from '../../protocol/shapes.ts';
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

export const SealedSecretShape = Closed({
  kdf: Closed({ name: Type.Literal('scrypt'), cost: Type.Integer(), salt: Type.String() }),
  cipher: Closed({ name: Type.Literal(CIPHER), nonce: Type.String(), tag: Type.String(), text: Type.String() }),
});
/** A secret encrypted under a passphrase. All bytes are base64url. */
export type SealedSecret = Static<typeof SealedSecretShape>;

/** The passphrase is another one, or the sealed text was changed: the cipher cannot tell which. */
export class SealError extends Error {
  override readonly name = 'SealError';
}

/** Encrypts a secret. `purpose` is authenticated with it: it opens under no other. */
export async function sealSecret(
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
export async function openSecret(
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
    throw new SealError('it does not open under this passphrase');
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

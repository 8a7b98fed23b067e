import { sha256, sha384 } from '@noble/hashes/sha2.js';
import { ml_dsa65 } from '@noble/post-quantum/ml-dsa.js';
import { encodeHex, type Hashable, utf8 } from '../bytes.ts';
import { writeSha256 } from '../hash.ts';
import { PUBLIC_KEY_BYTES, type RunningHash, SIGNATURE_BYTES, type Signer, type Suite } from './suite.ts';

/** The portable suite: pure JavaScript, for browsers, the offline verifier, and as the second opinion in tests. */
export const nobleSuite: Suite = {
  name: 'noble',
  sha256: (...parts) => digest(sha256.create(), parts),
  sha256Hex: (...parts) => encodeHex(digest(sha256.create(), parts)),
  sha384: (...parts) => digest(sha384.create(), parts),
  verify(publicKey, message, signature, context) {
    if (publicKey.length !== PUBLIC_KEY_BYTES || signature.length !== SIGNATURE_BYTES) return false;
    return ml_dsa65.verify(signature, message, publicKey, { context: utf8(context) });
  },
};

/** A signer from a 32-byte seed (FIPS 204 ξ): the same seed gives the same key in every implementation. */
export function nobleSigner(seed: Uint8Array): Signer {
  const { publicKey, secretKey } = ml_dsa65.keygen(seed);
  return {
    keyId: writeSha256(sha256(publicKey)),
    publicKey,
    sign: async (message, context) => ml_dsa65.sign(message, secretKey, { context: utf8(context) }),
  };
}

/** SHA-256 in pure JavaScript, of bytes one after the other. */
export function nobleHash(): RunningHash {
  const hasher = sha256.create();
  return { update: (bytes) => void hasher.update(bytes), hex: () => encodeHex(hasher.digest()) };
}

interface Hasher {
  update(data: Uint8Array): unknown;
  digest(): Uint8Array;
}

function digest(hasher: Hasher, parts: readonly Hashable[]): Uint8Array {
  for (const part of parts) hasher.update(typeof part === 'string' ? utf8(part) : part);
  return hasher.digest();
}

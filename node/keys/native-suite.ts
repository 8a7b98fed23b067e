import { createPrivateKey, createPublicKey, hash, type KeyObject, sign, verify } from 'node:crypto';
import { promisify } from 'node:util';
import { LRUCache } from 'lru-cache';
import { type Hashable, utf8 } from '../../protocol/bytes.ts';
import { writeSha256 } from '../../protocol/hash.ts';
import { PUBLIC_KEY_BYTES, SEED_BYTES, SIGNATURE_BYTES, type Signer, type Suite } from '../../protocol/suite/suite.ts';
import { cachingSuite } from './caching-suite.ts';

/** DER headers of an ML-DSA-65 SubjectPublicKeyInfo and of a seed-only PKCS #8 key (RFC 9881). */
const SPKI_HEADER = Buffer.from('308207b2300b0609608648016503040312038207a100', 'hex');
const PKCS8_SEED_HEADER = Buffer.from('3034020100300b060960864801650304031204228020', 'hex');

/** Imported public keys kept ready; a federation has a few dozen. */
const MAX_CACHED_KEYS = 1024;

/** Larger inputs are put together in a buffer of their own. In bytes. */
const SCRATCH_BYTES = 64 << 10;
const SCRATCH = Buffer.allocUnsafeSlow(SCRATCH_BYTES);

const signOffThread = promisify(sign);
const verifyOffThread: (
  algorithm: null,
  message: Uint8Array,
  key: { readonly key: KeyObject; readonly context: Uint8Array },
  signature: Uint8Array,
) => Promise<boolean> = promisify(verify);
const keyCache = new LRUCache<string, KeyObject>({ max: MAX_CACHED_KEYS });

/**
 * The node's suite: OpenSSL through `node:crypto`. Gives the same answers as the portable one, about ten times faster.
 */
export const nativeSuite: Suite = {
  name: 'native',
  sha256: (...parts) => digest('sha256', parts),
  sha256Hex: (...parts) => hash('sha256', gather(parts), 'hex'),
  sha384: (...parts) => digest('sha384', parts),
  verify(publicKey, message, signature, context) {
    if (publicKey.length !== PUBLIC_KEY_BYTES || signature.length !== SIGNATURE_BYTES) return false;
    return verify(null, message, { key: importPublicKey(publicKey), context: utf8(context) }, signature);
  },
};

/** What `nativeSuite.verify` says, found by the thread pool while the event loop goes on. */
export async function verifyApart(...terms: Parameters<Suite['verify']>): Promise<boolean> {
  const [publicKey, message, signature, context] = terms;
  if (publicKey.length !== PUBLIC_KEY_BYTES || signature.length !== SIGNATURE_BYTES) return false;
  return verifyOffThread(null, message, { key: importPublicKey(publicKey), context: utf8(context) }, signature);
}

/**
 * The suite of all that checks members' signatures in a node's main thread: what was checked as it arrived is not
 * checked again for a verdict. What it remembers follows from bytes alone, so every node of a process may share it.
 */
export const checkedSuite = cachingSuite(nativeSuite, verifyApart);

/** A signer from a 32-byte seed. Signing runs on the thread pool and never blocks the event loop. */
export function nativeSigner(seed: Uint8Array): Signer {
  if (seed.length !== SEED_BYTES) throw new RangeError(`a seed has ${SEED_BYTES} bytes`);
  const key = createPrivateKey({ key: Buffer.concat([PKCS8_SEED_HEADER, seed]), format: 'der', type: 'pkcs8' });
  const publicKey = new Uint8Array(
    createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(SPKI_HEADER.length),
  );
  return {
    keyId: writeSha256(nativeSuite.sha256(publicKey)),
    publicKey,
    sign: (message, context) => signOffThread(null, message, { key, context: utf8(context) }),
  };
}

/** By way of a one-byte-a-character string, which Node makes and reads several times faster than a buffer. */
function digest(algorithm: 'sha256' | 'sha384', parts: readonly Hashable[]): Uint8Array {
  return Buffer.from(hash(algorithm, gather(parts), 'binary'), 'binary');
}

/**
 * The parts as one piece. Hashing is synchronous and done with it before the next call, so small ones share a buffer.
 */
function gather(parts: readonly Hashable[]): Hashable {
  const [only] = parts;
  if (parts.length === 1 && only !== undefined) return only;
  let at = 0;
  for (const part of parts) {
    if (at + mostBytes(part) > SCRATCH.length) return Buffer.concat(parts.map((piece) => Buffer.from(piece)));
    if (typeof part === 'string') at += SCRATCH.write(part, at, 'utf8');
    else {
      SCRATCH.set(part, at);
      at += part.length;
    }
  }
  return SCRATCH.subarray(0, at);
}

/** A UTF-16 unit is at most three bytes of UTF-8. */
function mostBytes(part: Hashable): number {
  return typeof part === 'string' ? 3 * part.length : part.length;
}

function importPublicKey(raw: Uint8Array): KeyObject {
  const name = Buffer.from(raw).toString('latin1');
  let key = keyCache.get(name);
  if (key === undefined) {
    key = createPublicKey({ key: Buffer.concat([SPKI_HEADER, raw]), format: 'der', type: 'spki' });
    keyCache.set(name, key);
  }
  return key;
}

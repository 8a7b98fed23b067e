import { createPublicKey, verify } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import type { proto } from '@hiero-ledger/proto';
import { secp256k1 } from '@noble/curves/secp256k1';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { LRUCache } from 'lru-cache';

type Algorithm = 'ed25519' | 'ECDSASecp256k1';

const ED25519_KEY_BYTES = 32;
const ECDSA_KEY_BYTES = 33;
const SIGNATURE_BYTES = 64;
const MAX_KEY_DEPTH = 15;
const MAX_IMPORTED_KEYS = 1_000;
/** SubjectPublicKeyInfo of Ed25519 up to the raw key (RFC 8410). */
const ED25519_SPKI_PREFIX = Buffer.from('302a300506032b6570032100', 'hex');

/** Public keys already imported, by their raw bytes in hex. */
const imported = new LRUCache<string, KeyObject>({ max: MAX_IMPORTED_KEYS });

/** The signatures of one transaction over its body. Each key is checked at most once, however often it is asked for. */
export class Signatures {
  readonly #pairs: readonly proto.ISignaturePair[];
  readonly #body: Uint8Array;
  readonly #known = new Map<string, boolean>();

  constructor(pairs: readonly proto.ISignaturePair[], body: Uint8Array) {
    this.#pairs = pairs;
    this.#body = body;
  }

  get count(): number {
    return this.#pairs.length;
  }

  /** Whether the key has signed: a list needs all of its keys, a threshold key its threshold, an empty one never. */
  satisfy(key: proto.IKey | null | undefined): boolean {
    if (!key) return false;
    if (key.ed25519?.length) return this.#signedBy('ed25519', key.ed25519);
    if (key.ECDSASecp256k1?.length) return this.#signedBy('ECDSASecp256k1', key.ECDSASecp256k1);
    const list = keysOf(key);
    const needed = key.thresholdKey ? (key.thresholdKey.threshold ?? 0) : list.length;
    return needed > 0 && list.filter((member) => this.satisfy(member)).length >= needed;
  }

  #signedBy(algorithm: Algorithm, publicKey: Uint8Array): boolean {
    const id = `${algorithm}:${Buffer.from(publicKey).toString('hex')}`;
    const known = this.#known.get(id);
    if (known !== undefined) return known;
    const signed = this.#pairs.some((pair) => {
      const signature = pair[algorithm];
      if (signature?.length !== SIGNATURE_BYTES || !startsWith(publicKey, pair.pubKeyPrefix)) return false;
      return CHECKS[algorithm](this.#body, publicKey, signature);
    });
    this.#known.set(id, signed);
    return signed;
  }
}

/** Whether the key is one this ledger can judge: known algorithms, right lengths, at most 15 levels deep. */
export function isUsableKey(key: proto.IKey, depth = 1): boolean {
  if (depth > MAX_KEY_DEPTH) return false;
  if (key.ed25519?.length) return key.ed25519.length === ED25519_KEY_BYTES;
  if (key.ECDSASecp256k1?.length) return isCurvePoint(key.ECDSASecp256k1);
  const list = keysOf(key);
  const threshold = key.thresholdKey ? (key.thresholdKey.threshold ?? 0) : 1;
  if (threshold < 1 || threshold > list.length) return false;
  return list.every((member) => isUsableKey(member, depth + 1));
}

/** An empty key list is HAPI's way to say "remove this key". */
export function isKeyRemoval(key: proto.IKey): boolean {
  return Boolean(key.keyList) && keysOf(key).length === 0;
}

/** Number of simple keys in a key, which is what fees count. */
export function countKeys(key: proto.IKey | null | undefined): number {
  if (!key) return 0;
  if (!key.keyList && !key.thresholdKey) return 1;
  return keysOf(key).reduce((sum, member) => sum + countKeys(member), 0);
}

const CHECKS: Record<Algorithm, (body: Uint8Array, publicKey: Uint8Array, signature: Uint8Array) => boolean> = {
  ed25519: (body, publicKey, signature) => {
    const key = importEd25519(publicKey);
    return key !== null && verify(null, body, key, signature);
  },
  ECDSASecp256k1: (body, publicKey, signature) =>
    isCurvePoint(publicKey) && secp256k1.verify(signature, keccak_256(body), publicKey, { lowS: false }),
};

function importEd25519(publicKey: Uint8Array): KeyObject | null {
  if (publicKey.length !== ED25519_KEY_BYTES) return null;
  const id = Buffer.from(publicKey).toString('hex');
  const known = imported.get(id);
  if (known) return known;
  const key = createPublicKey({ key: Buffer.concat([ED25519_SPKI_PREFIX, publicKey]), format: 'der', type: 'spki' });
  imported.set(id, key);
  return key;
}

function isCurvePoint(publicKey: Uint8Array): boolean {
  if (publicKey.length !== ECDSA_KEY_BYTES) return false;
  try {
    secp256k1.ProjectivePoint.fromHex(publicKey);
    return true;
  } catch {
    return false;
  }
}

function keysOf(key: proto.IKey): readonly proto.IKey[] {
  return key.keyList?.keys ?? key.thresholdKey?.keys?.keys ?? [];
}

function startsWith(whole: Uint8Array, prefix: Uint8Array | null | undefined): boolean {
  return !prefix || prefix.every((byte, i) => whole[i] === byte);
}

import { decodeBase64url } from '../bytes.ts';
import { hashParts, type Sha256Hash } from '../hash.ts';
import type { NodeId } from '../ids.ts';
import { type KeyCertificate, keyCertificateStatement } from '../keys/certificate.ts';
import { KeyError } from '../keys/key-error.ts';
import type { Base64url } from '../shapes.ts';
import { signatureHolds, type SignedStatement } from '../statement/statement.ts';
import { PUBLIC_KEY_BYTES, type Suite } from '../suite/suite.ts';

/**
 * Certificates kept of one node: thirty-nine years of a new key every week, and what a member makes up costs the others
 * no more than that.
 */
export const MAX_CERTIFICATES = 2048;

/** Longest certificate and signature that are read, in UTF-16 units. */
const MAX_LENGTH = 8192;

/** A signing key that a node's identity key vouches for. */
export interface CertifiedKey {
  readonly certificate: KeyCertificate;
  readonly signed: SignedStatement;
  readonly publicKey: Uint8Array;
  /** The identity key that signed it. */
  readonly identityKey: Base64url;
}

/**
 * The signing keys that nodes certified. A signature counts if any valid certificate covers it, and a later certificate
 * never narrows (protocol §5): of each identity key the certificate with the least `seqFrom` is kept, which covers all
 * that the others do. Another identity key comes only with a roster, so few are kept of one signing key, whoever sends
 * what.
 */
export class CertifiedKeys {
  readonly #suite: Suite;
  /** By node and key id, one of each identity key. */
  readonly #keys = new Map<NodeId, Map<Sha256Hash, readonly CertifiedKey[]>>();

  constructor(suite: Suite) {
    this.#suite = suite;
  }

  /**
   * Takes a certificate that one of the node's identity keys has signed: those in any roster known. Returns the key as
   * it is kept, or null where one is kept that covers all this one does. Throws `KeyError`.
   */
  add(signed: SignedStatement, identityKeysOf: (node: NodeId) => readonly Base64url[]): CertifiedKey | null {
    const certificate = readCertificate(signed);
    const { node, keyId } = certificate;
    if (certificate.purpose !== 'signing') throw new KeyError('not-for-signing', 'certifies no signing key');
    const keys = this.#keys.get(node) ?? new Map<Sha256Hash, readonly CertifiedKey[]>();
    const known = keys.get(keyId) ?? [];
    // Two identity keys may have signed one text.
    if (known.some((key) => isSame(key.signed, signed))) return null;
    const isFull = countOf(keys) >= MAX_CERTIFICATES;
    if (isFull && known.length === 0) throw tooMany(node);
    const publicKey = this.#requireKey(certificate);
    const identityKeys = identityKeysOf(node);
    if (identityKeys.length === 0) throw new KeyError('unknown-member', `${node} is in no roster`);
    const identityKey = identityKeys.find((key) => this.#isSignedBy(signed, key));
    if (identityKey === undefined) throw new KeyError('certificate-unsigned', `not signed by ${node}`);
    const before = known.find((key) => key.identityKey === identityKey);
    if (before !== undefined && !comesBefore(certificate, signed, before)) return null;
    if (isFull && before === undefined) throw tooMany(node);
    const key: CertifiedKey = { certificate, signed, publicKey, identityKey };
    keys.set(keyId, [...known.filter((other) => other !== before), key].toSorted(mostCoveringFirst));
    this.#keys.set(node, keys);
    return key;
  }

  /**
   * The key of that id by which `node` may sign statements on records from `seq` on, certified by one of these identity
   * keys of its: for what was decided, those of the rosters up to the decision.
   */
  covering(node: NodeId, keyId: Sha256Hash, seq: number, identityKeys: readonly Base64url[]): CertifiedKey | undefined {
    return this.certificates(node, keyId).find(
      (key) => key.certificate.seqFrom <= seq && identityKeys.includes(key.identityKey),
    );
  }

  /** The certificates of one key, one of each identity key, the one that covers most first. */
  certificates(node: NodeId, keyId: Sha256Hash): readonly CertifiedKey[] {
    return this.#keys.get(node)?.get(keyId) ?? [];
  }

  /** All certificates of all keys of `node`. */
  of(node: NodeId): readonly CertifiedKey[] {
    return [...(this.#keys.get(node)?.values() ?? [])].flat();
  }

  #requireKey({ node, keyId, publicKey }: KeyCertificate): Uint8Array {
    let bytes: Uint8Array;
    try {
      bytes = decodeBase64url(publicKey);
    } catch {
      throw new KeyError('certificate-malformed', 'the key is not base64url');
    }
    if (bytes.length !== PUBLIC_KEY_BYTES || hashParts(this.#suite, bytes) !== keyId) {
      throw new KeyError('key-id-mismatch', `the key id of ${node} is not the hash of its key`);
    }
    return bytes;
  }

  #isSignedBy(signed: SignedStatement, identityKey: Base64url): boolean {
    try {
      return signatureHolds(this.#suite, keyCertificateStatement, signed, decodeBase64url(identityKey));
    } catch {
      return false;
    }
  }
}

/** Whether both are one text under one signature. */
export function isSame(a: SignedStatement, b: SignedStatement): boolean {
  return a.statement === b.statement && a.signature === b.signature;
}

function tooMany(node: NodeId): KeyError {
  return new KeyError('too-many', `${node} has certified ${MAX_CERTIFICATES} keys`);
}

function readCertificate({ statement, signature }: SignedStatement): KeyCertificate {
  const isBounded = statement.length <= MAX_LENGTH && signature.length <= MAX_LENGTH;
  if (!isBounded) throw new KeyError('certificate-malformed', 'the certificate is too long');
  try {
    return keyCertificateStatement.parse(statement);
  } catch (error) {
    throw new KeyError('certificate-malformed', error instanceof Error ? error.message : 'unreadable');
  }
}

function mostCoveringFirst({ certificate, signed }: CertifiedKey, kept: CertifiedKey): number {
  return comesBefore(certificate, signed, kept) ? -1 : 1;
}

/** Of two that cover the same, every node keeps the same one, in whichever order they come. */
function comesBefore({ seqFrom }: KeyCertificate, { statement }: SignedStatement, kept: CertifiedKey): boolean {
  if (seqFrom !== kept.certificate.seqFrom) return seqFrom < kept.certificate.seqFrom;
  return statement < kept.signed.statement;
}

function countOf(keys: ReadonlyMap<Sha256Hash, readonly CertifiedKey[]>): number {
  let count = 0;
  for (const known of keys.values()) count += known.length;
  return count;
}

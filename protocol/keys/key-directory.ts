import { decodeBase64url } from '../bytes.ts';
import { type Sha256Hash, writeSha256 } from '../hash.ts';
import type { NodeId } from '../ids.ts';
import { signatureHolds, type SignedStatement, type StatementKind } from '../statement/statement.ts';
import type { Suite } from '../suite/suite.ts';
import { type ConsensusTimestamp, type Timestamp, timestampOfConsensus } from '../time.ts';
import { type KeyCertificate, keyCertificateStatement } from './certificate.ts';
import { isWholeRevocation, type Revocation, revocationStatement } from '../log/revocation.ts';
import type { RosterChain } from './roster-chain.ts';

export type KeyFault =
  | 'certificate-malformed'
  | 'certificate-unsigned'
  | 'key-id-mismatch'
  | 'revocation-malformed'
  | 'revocation-unsigned'
  | 'too-many'
  | 'unknown-member';

export class KeyError extends Error {
  override readonly name = 'KeyError';
  readonly code: KeyFault;

  constructor(code: KeyFault, message: string) {
    super(message);
    this.code = code;
  }
}

/**
 * Keys that a member may certify, and keys besides that it may revoke: thirty-nine years of a new one every week, and what
 * a member makes up costs the others no more than that.
 */
export const MAX_KEYS = 2048;

/** A signing key that a member's identity key vouches for. */
export interface CertifiedKey {
  readonly certificate: KeyCertificate;
  readonly signed: SignedStatement;
  readonly publicKey: Uint8Array;
}

export interface KnownRevocation {
  readonly revocation: Revocation;
  readonly signed: SignedStatement;
}

/**
 * Which signing keys belong to which member, and which of them were withdrawn. Holds only what it has checked. A
 * certificate does not prove that its member holds the private key, and any member can sign a statement about any key
 * id: so keys and revocations are kept by member and key id, and no member speaks for another's keys. Of several about
 * one key the same one is kept in whichever order they come, for all nodes must judge alike.
 */
export class KeyDirectory {
  readonly #suite: Suite;
  readonly #rosters: () => RosterChain;
  readonly #keys = new Map<NodeId, Map<Sha256Hash, CertifiedKey>>();
  readonly #revocations = new Map<NodeId, Map<Sha256Hash, KnownRevocation>>();

  constructor(suite: Suite, rosters: () => RosterChain) {
    this.#suite = suite;
    this.#rosters = rosters;
  }

  /**
   * Checks a key certificate against its member's identity keys. Of two for one key, the one that is valid earlier is
   * kept, but none of another purpose in the place of one for signing. Throws `KeyError`, also where the member has
   * certified too many.
   */
  addCertificate(signed: SignedStatement): CertifiedKey {
    const certificate = parse(keyCertificateStatement.parse, signed.statement, 'certificate-malformed');
    const { node, keyId } = certificate;
    const publicKey = parse(decodeBase64url, certificate.publicKey, 'certificate-malformed');
    const keys = this.#keys.get(node) ?? new Map<Sha256Hash, CertifiedKey>();
    if (!keys.has(keyId)) requireRoom(keys, node);
    if (writeSha256(this.#suite.sha256(publicKey)) !== keyId) {
      throw new KeyError('key-id-mismatch', `the key id of ${node} is not the hash of its key`);
    }
    if (!this.#isSigned(keyCertificateStatement, signed, node)) {
      throw new KeyError('certificate-unsigned', `the key certificate of ${node} is not signed by it`);
    }
    const key = { certificate, signed, publicKey };
    const known = keys.get(keyId);
    if (known === undefined || comesBefore(certificate, known.certificate)) keys.set(keyId, key);
    this.#keys.set(node, keys);
    return key;
  }

  /**
   * Checks a revocation against its member's identity keys. Of several for one key it keeps that of the earliest
   * compromise, before any that only rotates the key. Throws `KeyError`, also where the member has revoked too many
   * keys that it never certified.
   */
  addRevocation(signed: SignedStatement): Revocation {
    const revocation = parse(revocationStatement.parse, signed.statement, 'revocation-malformed');
    if (!isWholeRevocation(revocation)) {
      throw new KeyError('revocation-malformed', 'a revocation has a time exactly where its key was compromised');
    }
    const { node, keyId } = revocation;
    const revocations = this.#revocations.get(node) ?? new Map<Sha256Hash, KnownRevocation>();
    if (!revocations.has(keyId) && this.get(node, keyId) === undefined) requireRoom(revocations, node);
    if (!this.#isSigned(revocationStatement, signed, node)) {
      throw new KeyError('revocation-unsigned', `the revocation of ${node} is not signed by it`);
    }
    const found = { revocation, signed };
    const known = revocations.get(keyId);
    if (known === undefined || isEarlier(found, known)) revocations.set(keyId, found);
    this.#revocations.set(node, revocations);
    return revocation;
  }

  /** The key of that id which `node` certified. */
  get(node: NodeId, keyId: Sha256Hash): CertifiedKey | undefined {
    return this.#keys.get(node)?.get(keyId);
  }

  /** The revocation by which `node` withdrew its key, rotated or compromised: the key is to sign nothing more. */
  revocation(node: NodeId, keyId: Sha256Hash): KnownRevocation | undefined {
    return this.#revocations.get(node)?.get(keyId);
  }

  /** Since when somebody else may have held a key of `node`; null of a key that nobody may have, rotated ones too. */
  compromisedSince(node: NodeId, keyId: Sha256Hash): Timestamp | null {
    return this.revocation(node, keyId)?.revocation.compromisedSince ?? null;
  }

  /** Whether what `node` signed with this key counts, given the consensus time the ledger gave it (null: none yet). */
  standsAt(node: NodeId, keyId: Sha256Hash, consensus: ConsensusTimestamp | null): boolean {
    const since = this.compromisedSince(node, keyId);
    if (since === null) return true;
    return consensus !== null && timestampOfConsensus(consensus) < since;
  }

  all(): readonly CertifiedKey[] {
    return this.#keys
      .values()
      .flatMap((keys) => keys.values())
      .toArray();
  }

  /** All keys that `node` certified. */
  of(node: NodeId): readonly CertifiedKey[] {
    return [...(this.#keys.get(node)?.values() ?? [])];
  }

  /** Whether any identity key by which the rosters name the node signed this. Throws `KeyError` `unknown-member`. */
  #isSigned<Value>(kind: StatementKind<Value>, signed: SignedStatement, node: NodeId): boolean {
    const identityKeys = this.#rosters().identityKeys(node);
    if (identityKeys.length === 0) throw new KeyError('unknown-member', `${node} is not in the roster`);
    return identityKeys.some((key) => signatureHolds(this.#suite, kind, signed, decodeBase64url(key)));
  }
}

/** Whether a key may sign a statement of this node, made at `at`, about records from `seq` on. */
export function keyCovers(key: CertifiedKey, node: NodeId, at: Timestamp, seq: number): boolean {
  const { certificate } = key;
  return (
    certificate.node === node &&
    certificate.purpose === 'signing' &&
    certificate.validFrom <= at &&
    certificate.seqFrom <= seq
  );
}

function requireRoom(keys: ReadonlyMap<Sha256Hash, unknown>, node: NodeId): void {
  if (keys.size >= MAX_KEYS) throw new KeyError('too-many', `${node} speaks of more than ${MAX_KEYS} keys`);
}

function comesBefore(a: KeyCertificate, b: KeyCertificate): boolean {
  if (a.purpose !== b.purpose) return a.purpose === 'signing';
  return a.validFrom === b.validFrom ? a.seqFrom < b.seqFrom : a.validFrom < b.validFrom;
}

function isEarlier(
  { revocation: a, signed }: KnownRevocation,
  { revocation: b, signed: other }: KnownRevocation,
): boolean {
  if (a.compromisedSince === b.compromisedSince) return signed.statement < other.statement;
  return a.compromisedSince !== null && (b.compromisedSince === null || a.compromisedSince < b.compromisedSince);
}

function parse<Value>(read: (text: string) => Value, text: string, code: KeyFault): Value {
  try {
    return read(text);
  } catch (error) {
    throw new KeyError(code, error instanceof Error ? error.message : code);
  }
}

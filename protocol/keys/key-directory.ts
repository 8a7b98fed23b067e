import { decodeBase64url } from '../bytes.ts';
import { type Sha256Hash, writeSha256 } from '../hash.ts';
import type { NodeId } from '../ids.ts';
import { signatureHolds, type SignedStatement } from '../statement/statement.ts';
import type { Suite } from '../suite/suite.ts';
import { type ConsensusTimestamp, type Timestamp, timestampOfConsensus } from '../time.ts';
import { type KeyCertificate, keyCertificateStatement } from './certificate.ts';
import { type Revocation, revocationStatement } from './revocation.ts';
import type { RosterChain } from './roster-chain.ts';

export type KeyFault =
  | 'certificate-malformed'
  | 'certificate-unsigned'
  | 'key-id-mismatch'
  | 'revocation-malformed'
  | 'revocation-unsigned'
  | 'unknown-member';

export class KeyError extends Error {
  override readonly name = 'KeyError';
  readonly code: KeyFault;

  constructor(code: KeyFault, message: string) {
    super(message);
    this.code = code;
  }
}

type MemberKey = `${NodeId} ${Sha256Hash}`;

/** A signing key that a member's identity key vouches for. */
export interface CertifiedKey {
  readonly certificate: KeyCertificate;
  readonly signed: SignedStatement;
  readonly publicKey: Uint8Array;
}

/**
 * Which signing keys belong to which member, and which of them were withdrawn. Holds only what it has checked. A
 * certificate does not prove that its member holds the private key, and any member can sign a statement about any key
 * id: so keys and revocations are kept by member and key id, and no member speaks for another's keys.
 */
export class KeyDirectory {
  readonly #suite: Suite;
  readonly #rosters: () => RosterChain;
  readonly #keys = new Map<MemberKey, CertifiedKey>();
  readonly #revocations = new Map<MemberKey, { revocation: Revocation; signed: SignedStatement }>();

  constructor(suite: Suite, rosters: () => RosterChain) {
    this.#suite = suite;
    this.#rosters = rosters;
  }

  /**
   * Checks a key certificate against its member's identity key. Of two for one key, the one that is valid earlier is
   * kept, so that the order in which they came does not matter. Throws `KeyError`.
   */
  addCertificate(signed: SignedStatement): CertifiedKey {
    const certificate = parse(keyCertificateStatement.parse, signed.statement, 'certificate-malformed');
    const publicKey = parse(decodeBase64url, certificate.publicKey, 'certificate-malformed');
    if (writeSha256(this.#suite.sha256(publicKey)) !== certificate.keyId) {
      throw new KeyError('key-id-mismatch', `the key id of ${certificate.node} is not the hash of its key`);
    }
    if (!signatureHolds(this.#suite, keyCertificateStatement, signed, this.#identityKey(certificate.node))) {
      throw new KeyError('certificate-unsigned', `the key certificate of ${certificate.node} is not signed by it`);
    }
    const key = { certificate, signed, publicKey };
    const name = memberKey(certificate.node, certificate.keyId);
    const known = this.#keys.get(name);
    if (known === undefined || isEarlier(certificate, known.certificate)) this.#keys.set(name, key);
    return key;
  }

  /** Checks a revocation against its member's identity key and keeps the earliest for its key. Throws `KeyError`. */
  addRevocation(signed: SignedStatement): Revocation {
    const revocation = parse(revocationStatement.parse, signed.statement, 'revocation-malformed');
    if (!signatureHolds(this.#suite, revocationStatement, signed, this.#identityKey(revocation.node))) {
      throw new KeyError('revocation-unsigned', `the revocation of ${revocation.node} is not signed by it`);
    }
    const name = memberKey(revocation.node, revocation.keyId);
    const known = this.#revocations.get(name);
    if (known === undefined || revocation.compromisedSince < known.revocation.compromisedSince) {
      this.#revocations.set(name, { revocation, signed });
    }
    return revocation;
  }

  /** The key of that id which `node` certified. */
  get(node: NodeId, keyId: Sha256Hash): CertifiedKey | undefined {
    return this.#keys.get(memberKey(node, keyId));
  }

  /** The earliest revocation by which `node` withdrew its key. */
  revocation(
    node: NodeId,
    keyId: Sha256Hash,
  ): { readonly revocation: Revocation; readonly signed: SignedStatement } | undefined {
    return this.#revocations.get(memberKey(node, keyId));
  }

  /** Whether what `node` signed with this key counts, given the consensus time the ledger gave it (null: none yet). */
  standsAt(node: NodeId, keyId: Sha256Hash, consensus: ConsensusTimestamp | null): boolean {
    const withdrawn = this.revocation(node, keyId);
    if (withdrawn === undefined) return true;
    return consensus !== null && timestampOfConsensus(consensus) < withdrawn.revocation.compromisedSince;
  }

  all(): readonly CertifiedKey[] {
    return [...this.#keys.values()];
  }

  #identityKey(node: NodeId): Uint8Array {
    const member = this.#rosters().member(node);
    if (member === undefined) throw new KeyError('unknown-member', `${node} is not in the roster`);
    return decodeBase64url(member.identityKey);
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

function memberKey(node: NodeId, keyId: Sha256Hash): MemberKey {
  return `${node} ${keyId}`;
}

function isEarlier(a: KeyCertificate, b: KeyCertificate): boolean {
  return a.validFrom === b.validFrom ? a.seqFrom < b.seqFrom : a.validFrom < b.validFrom;
}

function parse<Value>(read: (text: string) => Value, text: string, code: KeyFault): Value {
  try {
    return read(text);
  } catch (error) {
    throw new KeyError(code, error instanceof Error ? error.message : code);
  }
}

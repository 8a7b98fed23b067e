import { type CertifiedKey, CertifiedKeys } from '../chain/certified-keys.ts';
import type { Sha256Hash } from '../hash.ts';
import type { NodeId } from '../ids.ts';
import type { SignedStatement } from '../statement/statement.ts';
import type { Suite } from '../suite/suite.ts';
import type { Timestamp } from '../time.ts';
import { type KnownRevocation, KnownRevocations, type RevocationTaken } from './known-revocations.ts';
import type { RosterChain } from './roster-chain.ts';

/**
 * Which signing keys belong to which member, and which of them were withdrawn. Holds only what one of the member's
 * identity keys has signed. A certificate does not prove that its member holds the private key, and any member can sign
 * a statement about any key id: so keys and revocations are kept by member and key id, and no member speaks for
 * another's keys.
 */
export class KeyDirectory {
  readonly #rosters: () => Pick<RosterChain, 'identityKeys'>;
  readonly #certified: CertifiedKeys;
  readonly #revocations: KnownRevocations;

  /** `isNamed`: whether the ledger names a revocation, so that its text is kept for good. */
  constructor(
    suite: Suite,
    rosters: () => Pick<RosterChain, 'identityKeys'>,
    isNamed: (known: KnownRevocation) => boolean = () => false,
  ) {
    this.#rosters = rosters;
    this.#certified = new CertifiedKeys(suite);
    this.#revocations = new KnownRevocations(suite, isNamed);
  }

  /** Takes a certificate. Null where one is kept that covers all this one does. Throws `KeyError`. */
  addCertificate(signed: SignedStatement): CertifiedKey | null {
    return this.#certified.add(signed, (node) => this.#rosters().identityKeys(node));
  }

  /** Takes a revocation. Throws `KeyError`. */
  addRevocation(signed: SignedStatement): RevocationTaken {
    return this.#revocations.add(signed, (node) => this.#rosters().identityKeys(node));
  }

  /** The key of that id which `node` certified: of several certificates the one that covers most. */
  get(node: NodeId, keyId: Sha256Hash): CertifiedKey | undefined {
    return this.certificates(node, keyId)[0];
  }

  /** All certificates of one key, each by another identity key, the one that covers most first. */
  certificates(node: NodeId, keyId: Sha256Hash): readonly CertifiedKey[] {
    return this.#certified.certificates(node, keyId);
  }

  /** Certificates of one key that count where those of these identity keys do, for records from `seq` on. */
  readonly covering: CertifiedKeys['covering'] = (...terms) => this.#certified.covering(...terms);

  /** The revocations by which `node` withdrew its key, the one that reaches furthest back first. */
  revocations(node: NodeId, keyId: Sha256Hash): readonly KnownRevocation[] {
    return this.#revocations.of(node, keyId);
  }

  /** The one that reaches furthest back. By any, rotated or compromised, the key is to sign nothing more. */
  revocation(node: NodeId, keyId: Sha256Hash): KnownRevocation | undefined {
    return this.revocations(node, keyId)[0];
  }

  /**
   * Since when somebody else may have held a key of `node`, as its identity key says; null of a key that nobody may have,
   * rotated ones too. What falls by it is bounded by the reach of the revocation (`fallsFrom`).
   */
  compromisedSince(node: NodeId, keyId: Sha256Hash): Timestamp | null {
    return this.revocation(node, keyId)?.revocation.compromisedSince ?? null;
  }

  /** All certificates of a node's keys. */
  of(node: NodeId): readonly CertifiedKey[] {
    return this.#certified.of(node);
  }

  /** All revocations of a node's keys. */
  revocationsOf(node: NodeId): readonly KnownRevocation[] {
    return this.#revocations.ofNode(node);
  }
}

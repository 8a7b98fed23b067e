import { decodeBase64url } from '../bytes.ts';
import { hashParts, type Sha256Hash } from '../hash.ts';
import type { NodeId } from '../ids.ts';
import { type KeyCertificate, keyCertificateStatement } from '../keys/certificate.ts';
import type { Base64url } from '../shapes.ts';
import { type SignedStatement, StatementError } from '../statement/statement.ts';
import { PUBLIC_KEY_BYTES, type Suite } from '../suite/suite.ts';
import type { SignatureChecks } from './signature-checks.ts';

interface Certificate {
  readonly value: KeyCertificate;
  readonly signed: SignedStatement;
  readonly heldBy: Set<Base64url>;
  /** Identity keys by which it does not hold, or was not checked. */
  readonly refusedBy: Set<Base64url>;
}

interface ReadCertificate {
  /** What it was read of. */
  readonly texts: SignedStatement;
  /** Null where it certifies no signing key, or its key has another id. */
  readonly value: KeyCertificate | null;
  /** Identity keys by which its signature was found to hold. */
  readonly heldBy: Set<Base64url>;
}

type ReadCertificates = WeakMap<SignedStatement, ReadCertificate>;

/** What each suite found of certificates by which verdicts are given again and again. */
const READ = new WeakMap<Suite, ReadCertificates>();

/**
 * The key certificates at hand (protocol §5). A key is its node's where any certificate of it holds, so that a later
 * one never narrows; those that do not are passed over.
 */
export class Certificates {
  readonly #suite: Suite;
  readonly #signatures: SignatureChecks;
  readonly #known: ReadCertificates;
  readonly #byKey = new Map<string, Certificate[]>();

  constructor(suite: Suite, signatures: SignatureChecks, signed: readonly SignedStatement[]) {
    this.#suite = suite;
    this.#signatures = signatures;
    this.#known = READ.get(suite) ?? new WeakMap();
    READ.set(suite, this.#known);
    for (const each of signed) this.#add(each);
  }

  /**
   * The public key of that id, where `identityKey` certifies it to sign for the node; null where no certificate does.
   * `first` is the first record of a group, which the certificate must cover; whatever else is signed has none.
   */
  publicKey(node: NodeId, keyId: Sha256Hash, identityKey: Base64url, first?: number): Base64url | null {
    return this.#signatures.untilFound(() => {
      for (const certificate of this.#byKey.get(nameOf(node, keyId)) ?? []) {
        if (first !== undefined && certificate.value.seqFrom > first) continue;
        if (this.#isSignedBy(certificate, identityKey)) return certificate.value.publicKey;
      }
      return null;
    });
  }

  #isSignedBy({ signed, heldBy, refusedBy }: Certificate, identityKey: Base64url): boolean {
    if (heldBy.has(identityKey)) return true;
    if (refusedBy.has(identityKey)) return false;
    const holds = this.#signatures.holdsIfCounted(keyCertificateStatement, signed, identityKey);
    (holds ? heldBy : refusedBy).add(identityKey);
    return holds;
  }

  #add(signed: SignedStatement): void {
    const { value, heldBy } = this.#read(signed);
    if (value === null) return;
    const name = nameOf(value.node, value.keyId);
    const known = this.#byKey.get(name);
    const certificate = { value, signed, heldBy, refusedBy: new Set<Base64url>() };
    if (known === undefined) this.#byKey.set(name, [certificate]);
    else known.push(certificate);
  }

  #read(signed: SignedStatement): ReadCertificate {
    const { statement, signature } = signed;
    const known = this.#known.get(signed);
    if (known?.texts.statement === statement && known.texts.signature === signature) return known;
    const value = readCertificate(statement);
    const isOne = value !== null && value.purpose === 'signing' && this.#isKeyOfItsId(value);
    const read = { texts: { statement, signature }, value: isOne ? value : null, heldBy: new Set<Base64url>() };
    this.#known.set(signed, read);
    return read;
  }

  #isKeyOfItsId({ keyId, publicKey }: KeyCertificate): boolean {
    try {
      const bytes = decodeBase64url(publicKey);
      return bytes.length === PUBLIC_KEY_BYTES && hashParts(this.#suite, bytes) === keyId;
    } catch {
      return false;
    }
  }
}

function readCertificate(text: string): KeyCertificate | null {
  try {
    return keyCertificateStatement.parse(text);
  } catch (error) {
    if (error instanceof StatementError) return null;
    throw error;
  }
}

function nameOf(node: NodeId, keyId: Sha256Hash): string {
  return `${node} ${keyId}`;
}

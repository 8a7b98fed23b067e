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
  /** Whether its signature holds by each identity key that it was checked by. */
  readonly answers: Map<Base64url, boolean>;
}

/** What was read of certificates, which a node judges by again and again, and the text that it was read of. */
const READ = new WeakMap<SignedStatement, { readonly statement: string; readonly value: KeyCertificate | null }>();

/**
 * The key certificates at hand (protocol §5). A key is its node's where any certificate of it holds, so that a later
 * one never narrows; those that do not are passed over.
 */
export class Certificates {
  readonly #suite: Suite;
  readonly #signatures: SignatureChecks;
  readonly #byKey = new Map<string, Certificate[]>();

  constructor(suite: Suite, signatures: SignatureChecks, signed: readonly SignedStatement[]) {
    this.#suite = suite;
    this.#signatures = signatures;
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

  #isSignedBy({ signed, answers }: Certificate, identityKey: Base64url): boolean {
    const known = answers.get(identityKey);
    if (known !== undefined) return known;
    const holds = this.#signatures.holdsIfCounted(keyCertificateStatement, signed, identityKey);
    answers.set(identityKey, holds);
    return holds;
  }

  #add(signed: SignedStatement): void {
    const value = this.#signingCertificate(signed);
    if (value === null) return;
    const name = nameOf(value.node, value.keyId);
    const known = this.#byKey.get(name);
    const certificate = { value, signed, answers: new Map<Base64url, boolean>() };
    if (known === undefined) this.#byKey.set(name, [certificate]);
    else known.push(certificate);
  }

  /** Null where it is none, or its key has another id. */
  #signingCertificate(signed: SignedStatement): KeyCertificate | null {
    const { statement } = signed;
    const known = READ.get(signed);
    if (known?.statement === statement) return known.value;
    const read = readCertificate(statement);
    const value = read !== null && read.purpose === 'signing' && this.#isKeyOfItsId(read) ? read : null;
    READ.set(signed, { statement, value });
    return value;
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

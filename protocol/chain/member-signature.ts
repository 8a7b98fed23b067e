import type { Sha256Hash } from '../hash.ts';
import { signatureHolds, type SignedStatement, type StatementKind } from '../statement/statement.ts';
import { SIGNATURE_BYTES, type Suite } from '../suite/suite.ts';
import { ChainRefusal } from './refusal.ts';

/** Longest envelope or group that is read, in UTF-16 units; both are closed shapes of a few hundred. */
export const MAX_STATEMENT_LENGTH = 4096;

/** A signature as unpadded base64url. */
const SIGNATURE_LENGTH = Math.ceil((SIGNATURE_BYTES * 4) / 3);

interface SignatureContext {
  readonly suite: Suite;
  readonly publicKeyOf: (keyId: Sha256Hash, first: number) => Uint8Array | undefined;
}

/** Throws `ChainRefusal` unless a key that the node certified for the record `first` has signed the statement. */
export function requireSignature<Value>(
  { suite, publicKeyOf }: SignatureContext,
  kind: StatementKind<Value>,
  signed: SignedStatement,
  { keyId, first }: { readonly keyId: Sha256Hash; readonly first: number },
): void {
  const publicKey = publicKeyOf(keyId, first);
  if (publicKey === undefined) throw new ChainRefusal('key-not-certified', `${kind.name}: no certificate of ${keyId}`);
  if (signed.signature.length !== SIGNATURE_LENGTH || !signatureHolds(suite, kind, signed, publicKey)) {
    throw new ChainRefusal('signature-invalid', `${kind.name}: the signature does not hold`);
  }
}

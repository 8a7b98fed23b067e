import { decodeBase64url, utf8 } from '../../../protocol/bytes.ts';
import { hashParts, type Sha256Hash } from '../../../protocol/hash.ts';
import type { NodeId } from '../../../protocol/ids.ts';
import { AGENT_PROOF_CONTEXT, agentProofText } from '../../../protocol/statement/agent-proof.ts';
import type { Base64url } from '../../../protocol/shapes.ts';
import { isBase64url } from '../../../protocol/statement/statement.ts';
import { PUBLIC_KEY_BYTES, type SigningContext } from '../../../protocol/suite/suite.ts';
import { ComplianceError } from '../compliance-error.ts';
import { nativeSuite } from '../../keys/native-suite.ts';

/** A public key that an agent brings. */
export interface OwnKey {
  readonly publicKey: Base64url;
  /** Signature of the key's own private half over the `agent-proof` statement. */
  readonly proof: string | undefined;
}

/** For which agent, and in the place of which key, a key is meant. */
export interface KeyPurpose {
  readonly account: string;
  readonly agentId: string;
  readonly node: NodeId;
  readonly replaces: { readonly keyId: Sha256Hash; readonly publicKey: Base64url } | null;
}

/** What must be signed, and the key whose signature it takes. */
export interface Demand {
  readonly field: string;
  readonly context: SigningContext;
  readonly statement: string;
  readonly publicKey: Uint8Array;
}

export function keyIdOf(publicKey: Base64url): Sha256Hash {
  return hashParts(nativeSuite, decodeBase64url(publicKey));
}

/** Throws `ComplianceError` `agent-signature-invalid` unless the key's holder means it for this agent. */
export function requireProof({ publicKey, proof }: OwnKey, purpose: KeyPurpose): void {
  const bytes = decodeBase64url(publicKey);
  const statement = proofText(publicKey, purpose);
  requireSignature({ field: 'proofOfPossession', context: AGENT_PROOF_CONTEXT, statement, publicKey: bytes }, proof);
}

/** Throws `ComplianceError` unless the holder of the key before agrees to this one. */
export function requireConsent(publicKey: Base64url, purpose: KeyPurpose, signature: string | undefined): void {
  if (purpose.replaces === null) return;
  const demand: Demand = {
    field: 'previousKeySignature',
    context: AGENT_PROOF_CONTEXT,
    statement: proofText(publicKey, purpose),
    publicKey: decodeBase64url(purpose.replaces.publicKey),
  };
  requireSignature(demand, signature);
}

/**
 * The signature, which holds. Throws `ComplianceError` `agent-signature-invalid`, whose text says exactly what to sign.
 */
export function requireSignature(demand: Demand, signature: string | undefined): Base64url {
  const { field, context, statement, publicKey } = demand;
  if (signature !== undefined && isBase64url(signature) && holds(publicKey, statement, signature, context)) {
    return signature;
  }
  const fault = signature === undefined ? 'is missing' : 'does not hold';
  const message = `${fault}: it is the ML-DSA-65 signature in the context ${context} over the UTF-8 text ${statement}`;
  throw new ComplianceError('agent-signature-invalid', field, message, { sign: { context, statement } });
}

/** Whether the text is base64url of a raw ML-DSA-65 public key. */
export function isPublicKey(text: string): text is Base64url {
  try {
    return decodeBase64url(text).length === PUBLIC_KEY_BYTES;
  } catch {
    return false;
  }
}

function proofText(publicKey: Base64url, { account, agentId, node, replaces }: KeyPurpose): string {
  const keyId = keyIdOf(publicKey);
  return agentProofText({ account, agent: agentId, keyId, node, replaces: replaces?.keyId ?? null });
}

function holds(publicKey: Uint8Array, statement: string, signature: string, context: SigningContext): boolean {
  try {
    return nativeSuite.verify(publicKey, utf8(statement), decodeBase64url(signature), context);
  } catch {
    return false;
  }
}

import type { Sha256Hash } from '../hash.ts';
import type { NodeId } from '../ids.ts';
import type { Base64url } from '../shapes.ts';
import type { SigningContext } from '../suite/suite.ts';
import type { Authority } from './authority.ts';
import { type Fact, problem, type Problem, type ProblemCode } from './problem.ts';

/** A statement, and the key that it says it is signed by. */
export interface SignatureClaim {
  readonly kind: { readonly name: string; readonly context: SigningContext };
  readonly text: string;
  readonly signature: Base64url | null;
  readonly node: NodeId;
  readonly keyId: Sha256Hash;
  /** First record of a group, which a certificate has to cover; of an envelope it is looked at with its groups. */
  readonly first: number | undefined;
  /** Place of its decision in the log, up to which rosters name its node; null where there is none. */
  readonly index: number | null;
}

/** A receipt or an envelope. */
export interface Claim extends SignatureClaim {
  readonly fact: Extract<Fact, 'signed' | 'sealed'>;
  /**
   * When it was decided, in epoch milliseconds, where that is shown; it is asked for only where a key was compromised.
   */
  readonly decidedAt: () => number | null;
}

/**
 * The signature is by a key that an identity key of the node certified, in any roster up to the decision, and it
 * stands. That it falls by a revocation which the verifier alone brings is a contradiction.
 */
export function checkSignature(authority: Authority, claim: Claim): readonly Problem[] {
  const { told, withdrawals } = authority;
  const { fact, kind, node, keyId } = claim;
  const fault = signatureFault(authority, claim);
  if (fault !== null) return [problem(fact, 'sigValid', fault.code, fault.detail)];
  if (withdrawals.stands(node, keyId, null)) return [];
  const decidedAt = claim.decidedAt();
  const detail = `the ${kind.name} of ${node} was not decided before its key was compromised`;
  if (!told.stands(node, keyId, decidedAt)) return [problem(fact, 'sigValid', 'key-compromised', detail)];
  if (withdrawals.stands(node, keyId, decidedAt)) return [];
  return [problem('contradicted', 'sigValid', 'key-compromised', detail)];
}

/** Why a signature does not hold by a key that its node certified, whatever was revoked since; null where it does. */
export function signatureFault(
  { certificates, line, signatures }: Pick<Authority, 'certificates' | 'line' | 'signatures'>,
  { kind, text, signature, node, keyId, first, index }: SignatureClaim,
): { readonly code: ProblemCode; readonly detail: string } | null {
  const what = `the ${kind.name} of ${node}`;
  if (signature === null) {
    return { code: 'signature-missing', detail: `${what} has no signature, and none stands before it` };
  }
  const identityKeys = line
    .upTo(index)
    .flatMap(({ roster }) => roster.members.filter((member) => member.node === node))
    .map(({ identityKey }) => identityKey);
  const publicKey = signatures.untilFound(() => {
    return firstOf(new Set(identityKeys), (key) => certificates.publicKey(node, keyId, key, first));
  });
  if (publicKey === null) {
    return { code: 'key-unknown', detail: `${what} is signed by a key that is not certified for it` };
  }
  if (signatures.holds(kind, { statement: text, signature }, publicKey)) return null;
  return { code: 'signature-invalid', detail: `the signature of ${what} does not hold` };
}

function firstOf<Item, Found>(items: Iterable<Item>, find: (item: Item) => Found | null): Found | null {
  for (const item of items) {
    const found = find(item);
    if (found !== null) return found;
  }
  return null;
}

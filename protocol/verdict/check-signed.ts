import type { Sha256Hash } from '../hash.ts';
import type { NodeId } from '../ids.ts';
import type { Base64url } from '../shapes.ts';
import type { SigningContext } from '../suite/suite.ts';
import type { Authority } from './authority.ts';
import { type Fact, problem, type Problem, type ProblemCode } from './problem.ts';

/** A receipt or an envelope, and the key that it says it is signed by. */
export interface Claim {
  readonly fact: Extract<Fact, 'signed' | 'sealed'>;
  readonly kind: { readonly name: string; readonly context: SigningContext };
  readonly text: string;
  readonly signature: Base64url | null;
  readonly node: NodeId;
  readonly keyId: Sha256Hash;
  /** First record of a group, which a certificate has to cover; an envelope may be signed anew by a later key. */
  readonly first: number | undefined;
  /** Place of the decision in the log; null where there is none. */
  readonly index: number | null;
  /** When it was decided, in epoch milliseconds, where that is shown; it is asked for only where a key was compromised. */
  readonly decidedAt: () => number | null;
}

/**
 * The signature is by a key that an identity key of the node certified, in any roster up to the decision, and it stands.
 * That it falls by a revocation which the verifier alone brings is a contradiction.
 */
export function checkSignature(authority: Authority, claim: Claim): readonly Problem[] {
  const { certificates, line, signatures, told, withdrawals } = authority;
  const { fact, kind, text, signature, node, keyId, first, index } = claim;
  const what = `the ${kind.name} of ${node}`;
  const fails = (code: ProblemCode, detail: string) => [problem(fact, 'sigValid', code, detail)];
  if (signature === null) return fails('signature-missing', `${what} has no signature, and none stands before it`);
  const identityKeys = line
    .upTo(index)
    .flatMap(({ roster }) => roster.members.filter((member) => member.node === node))
    .map(({ identityKey }) => identityKey);
  const publicKey = firstOf(new Set(identityKeys), (key) => certificates.publicKey(node, keyId, key, first));
  if (publicKey === null) return fails('key-unknown', `${what} is signed by a key that is not certified for it`);
  if (!signatures.holds(kind, { statement: text, signature }, publicKey)) {
    return fails('signature-invalid', `the signature of ${what} does not hold`);
  }
  if (withdrawals.stands(node, keyId, null)) return [];
  const decidedAt = claim.decidedAt();
  const detail = `${what} was not decided before its key was compromised`;
  if (!told.stands(node, keyId, decidedAt)) return fails('key-compromised', detail);
  if (withdrawals.stands(node, keyId, decidedAt)) return [];
  return [problem('contradicted', 'sigValid', 'key-compromised', detail)];
}

function firstOf<Item, Found>(items: Iterable<Item>, find: (item: Item) => Found | null): Found | null {
  for (const item of items) {
    const found = find(item);
    if (found !== null) return found;
  }
  return null;
}

import { hashText, type Sha256Hash } from '../hash.ts';
import type { NodeId } from '../ids.ts';
import type { KeyDirectory } from '../keys/key-directory.ts';
import type { RosterChain } from '../keys/roster-chain.ts';
import { type Envelope, envelopeStatement } from '../chain/envelope.ts';
import { type SignedStatement, type StatementKind, StatementError, signatureHolds } from '../statement/statement.ts';
import type { Suite } from '../suite/suite.ts';
import type { Timestamp } from '../time.ts';
import { type Misdeed, ProofError } from './proof.ts';

/** Who speaks for whom, as far as it is known. */
export interface Authorities {
  readonly suite: Suite;
  readonly rosters: RosterChain;
  readonly directory: KeyDirectory;
}

export interface Finding {
  readonly misdeed: Misdeed;
  /** Who did it. */
  readonly members: readonly NodeId[];
  /** The chain and batch that it concerns; null for rosters. */
  readonly batch: { readonly node: NodeId; readonly number: number } | null;
  /** Ids of keys that signed and that their member says were compromised: somebody else may have held them. */
  readonly revokedKeys: readonly Sha256Hash[];
}

/** An envelope whose signature holds, by a key that its node certified. Throws `ProofError`, `StatementError`. */
export function openEnvelope(authorities: Authorities, signed: SignedStatement): Envelope {
  const envelope = envelopeStatement.parse(signed.statement);
  const { node, keyId, sealedAt, first } = envelope;
  requireSigned(authorities, envelopeStatement, signed, { node, keyId, at: sealedAt, first });
  return envelope;
}

/** What two envelopes of one node prove; null where they go together. Throws `ProofError`, `StatementError`. */
export function judgeEnvelopes(
  authorities: Authorities,
  first: SignedStatement,
  second: SignedStatement,
): Finding | null {
  const [a, b] = [openEnvelope(authorities, first), openEnvelope(authorities, second)];
  if (a.node !== b.node) return null;
  const revokedKeys = revokedOf(authorities, a.node, [a.keyId, b.keyId]);
  const found = { members: [a.node], batch: { node: a.node, number: b.batch }, revokedKeys };
  if (a.batch === b.batch && first.statement !== second.statement) return { misdeed: 'equivocation', ...found };
  if (b.batch !== a.batch + 1) return null;
  const follows = b.prev === hashText(authorities.suite, first.statement) && b.first === a.first + a.size;
  return follows ? null : { misdeed: 'broken-chain', ...found };
}

/** What one envelope proves: a first batch that does not begin the chain. Throws `ProofError`, `StatementError`. */
export function judgeStart(authorities: Authorities, signed: SignedStatement): Finding | null {
  const { node, batch, prev, first, keyId } = openEnvelope(authorities, signed);
  if (batch !== 1 || (prev === null && first === 1)) return null;
  const revokedKeys = revokedOf(authorities, node, [keyId]);
  return { misdeed: 'broken-chain', members: [node], batch: { node, number: batch }, revokedKeys };
}

interface Signatory {
  readonly node: NodeId;
  readonly keyId: Sha256Hash;
  readonly at: Timestamp;
  readonly first: number;
}

function requireSigned<Value>(
  { suite, directory }: Authorities,
  kind: StatementKind<Value>,
  signed: SignedStatement,
  { node, keyId, first }: Signatory,
): void {
  const key = directory.get(node, keyId);
  if (key === undefined) throw new UnknownKeyError(`no certificate of ${node} for ${keyId}`);
  if (key.certificate.seqFrom > first) {
    throw new ProofError(`the ${kind.name} of ${node} is by a key not certified for it`);
  }
  if (!signatureHolds(suite, kind, signed, key.publicKey)) {
    throw new ProofError(`the signature of the ${kind.name} of ${node} does not hold`);
  }
}

/** The certificate of a key is not known here: it may be elsewhere. */
export class UnknownKeyError extends ProofError {}

/** What `judge` says; null where a statement does not hold, and so proves nothing. */
export function judgedOrNull(judge: () => Finding | null): Finding | null {
  try {
    return judge();
  } catch (error) {
    if (error instanceof ProofError || error instanceof StatementError) return null;
    throw error;
  }
}

function revokedOf({ directory }: Authorities, node: NodeId, keyIds: readonly Sha256Hash[]): Sha256Hash[] {
  return [...new Set(keyIds)].filter((keyId) => directory.compromisedSince(node, keyId) !== null);
}

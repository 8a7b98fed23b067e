import type { Sha256Hash } from '../../../protocol/hash.ts';
import type { NodeId } from '../../../protocol/ids.ts';
import { signatureHolds, type SignedStatement, type StatementKind } from '../../../protocol/statement/statement.ts';
import { checkedSuite } from '../../keys/native-suite.ts';
import type { FederationKeys } from './federation-keys.ts';
import { PeerStatementError } from './peer-statement-error.ts';

interface Signatory {
  readonly node: NodeId;
  readonly keyId: Sha256Hash;
  /** First record that the statement covers; null where it covers none of the signatory's own. */
  readonly first: number | null;
}

/**
 * Reads a peer's statement and checks that a key certified for its signatory signed it, whatever was revoked since:
 * what a revocation fells is the verdict's to say (protocol §5). No time is looked at. Throws `PeerStatementError`.
 */
export function openStatement<Value>(
  keys: Pick<FederationKeys, 'rosters' | 'directory'>,
  kind: StatementKind<Value>,
  signed: SignedStatement,
  signatoryOf: (value: Value) => Signatory,
): Value {
  let value: Value;
  try {
    value = kind.parse(signed.statement);
  } catch (error) {
    throw new PeerStatementError('malformed', error instanceof Error ? error.message : 'unreadable statement');
  }
  const { node, keyId, first } = signatoryOf(value);
  if (keys.rosters.member(node) === undefined) throw new PeerStatementError('unknown-member', `${node} is no member`);
  const key = keys.directory.get(node, keyId);
  if (key === undefined) throw new PeerStatementError('unknown-key', `no certificate of ${node} for ${keyId}`);
  if (first !== null && key.certificate.seqFrom > first) {
    throw new PeerStatementError('forged', `the ${kind.name} of ${node} is by a key not certified for it`);
  }
  if (!signatureHolds(checkedSuite, kind, signed, key.publicKey)) {
    throw new PeerStatementError('forged', `the signature of the ${kind.name} of ${node} does not hold`);
  }
  return value;
}

/**
 * Checks the signature that `openStatement` is about to ask for in another thread, while the event loop goes on. Says
 * nothing: what does not hold is refused there. Never throws on what it is given.
 */
export async function checkStatementApart<Value>(
  { directory }: Pick<FederationKeys, 'directory'>,
  kind: StatementKind<Value>,
  signed: SignedStatement,
  signatoryOf: (value: Value) => Pick<Signatory, 'node' | 'keyId'>,
): Promise<void> {
  const value = readOr(kind, signed.statement);
  if (value === undefined) return;
  const { node, keyId } = signatoryOf(value);
  const key = directory.get(node, keyId);
  if (key !== undefined) await checkedSuite.checkApart(key.publicKey, signed, kind.context);
}

function readOr<Value>(kind: StatementKind<Value>, text: string): Value | undefined {
  try {
    return kind.parse(text);
  } catch {
    return undefined;
  }
}

import { hashText, type Sha256Hash } from '../hash.ts';
import type { NodeId } from '../ids.ts';
import { parseLedgerMessage } from '../log/message.ts';
import { fallsFrom, isWholeRevocation, type Revocation, revocationStatement } from '../log/revocation.ts';
import { neededWitnesses } from '../log/roster.ts';
import { type SignedStatement, StatementError } from '../statement/statement.ts';
import type { Suite } from '../suite/suite.ts';
import type { RevocationProof } from './bundle.ts';
import type { Checkpoints } from './checkpoints.ts';
import type { LogView } from './known.ts';
import { PlacedDecision } from './placed-decision.ts';
import type { RosterLine } from './roster-line.ts';
import type { SignatureChecks } from './signature-checks.ts';
import type { DecidedRevocation } from './withdrawals.ts';

/** By whom it is judged whether a revocation was decided. */
export interface RevocationJudges {
  readonly suite: Suite;
  readonly line: RosterLine;
  readonly signatures: SignatureChecks;
  readonly checkpoints: Checkpoints;
  readonly log: LogView | undefined;
  /** Whether the verdict could turn on that key. */
  readonly matters: (node: NodeId, keyId: Sha256Hash) => boolean;
}

interface Read {
  readonly revocation: Revocation;
  readonly signed: SignedStatement | null;
  readonly decision: PlacedDecision;
}

/**
 * The revocations that were decided, judged as if no key were revoked (protocol §5): signed by an identity key of their
 * node, and under checkpoints of as many members of one roster as make a word true, whoever they are. Others are passed
 * over.
 */
export function decidedRevocations(
  judges: RevocationJudges,
  proofs: readonly RevocationProof[],
): readonly DecidedRevocation[] {
  return proofs.flatMap(({ statement, signature, decision }) => {
    const read = readRevocation(judges, { statement, signature }, () => {
      return new PlacedDecision(judges.suite, decision);
    });
    return read !== null && wasDecided(judges, read) ? [placed(judges.line, read)] : [];
  });
}

/** The revocations that the verifier's own log has in force: it has judged them itself. */
export function knownRevocations(judges: RevocationJudges): readonly DecidedRevocation[] {
  return (judges.log?.revocations ?? []).flatMap(({ statement, decision }) => {
    const read = readRevocation(judges, { statement, signature: null }, () => {
      return new PlacedDecision(judges.suite, { text: decision, paths: [] });
    });
    return read === null ? [] : [placed(judges.line, read)];
  });
}

/** Null where it does not read, concerns no key that matters, or is not what its decision names. */
function readRevocation(
  { suite, line, matters }: RevocationJudges,
  { statement, signature }: { readonly statement: string; readonly signature: SignedStatement['signature'] | null },
  place: () => PlacedDecision,
): Read | null {
  try {
    const revocation = revocationStatement.parse(statement);
    const { node, keyId } = revocation;
    if (!isWholeRevocation(revocation) || !matters(node, keyId)) return null;
    const decision = place();
    const message = parseLedgerMessage(decision.value.message);
    const isNamed =
      message.type === 'revocation' &&
      message.federation === line.federation &&
      message.node === node &&
      message.keyId === keyId &&
      message.statement === hashText(suite, statement);
    if (!isNamed) return null;
    return { revocation, signed: signature === null ? null : { statement, signature }, decision };
  } catch (error) {
    if (error instanceof StatementError) return null;
    throw error;
  }
}

function wasDecided(judges: RevocationJudges, read: Read): boolean {
  const { line, checkpoints } = judges;
  const { decision } = read;
  const answers = checkpoints.covering(decision, () => true);
  const questions = line.countedFor(decision.value.index).map(({ roster }) => {
    return { roster, needed: neededWitnesses(roster), except: null };
  });
  const possible = questions.filter((question) => answers.couldSettle(question));
  return (
    possible.length > 0 &&
    isSignedByItsNode(judges, read) &&
    possible.some((question) => answers.settledBy(question).length > 0)
  );
}

function isSignedByItsNode({ line, signatures }: RevocationJudges, { revocation, signed, decision }: Read): boolean {
  if (signed === null) return false;
  const members = line
    .upTo(decision.value.index)
    .flatMap(({ roster }) => roster.members.filter(({ node }) => node === revocation.node));
  const identityKeys = new Set(members.map(({ identityKey }) => identityKey));
  const signer = signatures.untilFound(() => {
    return [...identityKeys].find((key) => signatures.holdsIfCounted(revocationStatement, signed, key)) ?? null;
  });
  return signer !== null;
}

function placed(line: RosterLine, { revocation, decision }: Read): DecidedRevocation {
  const { node, keyId } = revocation;
  const { index } = decision.value;
  const { revocationReach } = line.inForceAt(index).roster;
  return { node, keyId, index, compromisedSince: fallsFrom(revocation, decision.milliseconds, revocationReach) };
}

import type { Sha256Hash } from '../hash.ts';
import { KeyDirectory } from '../keys/key-directory.ts';
import { RosterChain, rosterSigners } from '../keys/roster-chain.ts';
import type { SignedRoster } from '../keys/signed-roster.ts';
import { type Roster, rosterStatement } from '../log/roster.ts';
import type { Suite } from '../suite/suite.ts';
import { type Authorities, type Finding, judgeEnvelopes, judgeStart } from './judge.ts';
import { type MisdeedProof, ProofError } from './proof.ts';

export interface ProofVerdict {
  readonly finding: Finding;
  /** Fingerprint of the federation that the proof is about. */
  readonly genesis: Sha256Hash;
  /** Whether that is the one which the reader trusts. */
  readonly pinned: boolean;
}

/**
 * Checks a proof of misbehaviour with nothing but itself. Throws `ProofError` where it proves nothing, `RosterError`,
 * `KeyError` or `StatementError` where a part of it does not hold.
 */
export function verifyProof(suite: Suite, proof: MisdeedProof, pin?: Sha256Hash): ProofVerdict {
  const [genesis, ...later] = proof.rosters;
  if (genesis === undefined) throw new ProofError('a genesis roster is needed');
  const rosters = RosterChain.open(suite, { genesis, later: later.map(({ statement }) => statement) });
  const directory = new KeyDirectory(suite, () => rosters);
  for (const signed of proof.keys) directory.addCertificate(signed);
  for (const signed of proof.revocations) directory.addRevocation(signed);
  const finding = judge({ suite, rosters, directory }, proof);
  if (finding === null || finding.misdeed !== proof.misdeed) {
    throw new ProofError(`the statements do not prove ${proof.misdeed}`);
  }
  return { finding, genesis: rosters.genesis, pinned: rosters.genesis === pin };
}

function judge(authorities: Authorities, { misdeed, statements, contradicting }: MisdeedProof): Finding | null {
  if (misdeed === 'double-roster') {
    const [first, second] = contradicting;
    if (first === undefined || second === undefined) throw new ProofError('two rosters are needed');
    return judgeRosters(authorities, first, second);
  }
  const [first, second] = statements;
  if (first === undefined) throw new ProofError('a statement is needed');
  if (misdeed === 'broken-chain' && second === undefined) return judgeStart(authorities, first);
  if (second === undefined) throw new ProofError('two statements are needed');
  return judgeEnvelopes(authorities, first, second);
}

/**
 * What two rosters prove that follow one roster of the chain: who signed both. Null where nobody did. Throws
 * `RosterError` where one of them does not follow, or a quorum did not sign it.
 */
export function judgeRosters(
  { suite, rosters }: Pick<Authorities, 'suite' | 'rosters'>,
  first: SignedRoster,
  second: SignedRoster,
): Finding | null {
  if (first.statement === second.statement) return null;
  const judges = followedBy(suite, rosters, first, second);
  if (judges === undefined) return null;
  const signers = rosterSigners(suite, first, judges);
  const both = [...rosterSigners(suite, second, judges)].filter((node) => signers.has(node));
  return both.length === 0 ? null : { misdeed: 'double-roster', members: both, batch: null, revokedKeys: [] };
}

/** The roster of the chain that both may follow. */
function followedBy(
  suite: Suite,
  rosters: RosterChain,
  first: SignedRoster,
  second: SignedRoster,
): Roster | undefined {
  try {
    const { previous } = rosterStatement.parse(first.statement);
    const before = rosters.upTo(rosters.hashes.findIndex((hash) => hash === previous) + 1);
    for (const roster of [first, second]) before.follow(suite, roster.statement);
    return before.current;
  } catch {
    return undefined;
  }
}

import type { Sha256Hash } from '../hash.ts';
import type { NodeId } from '../ids.ts';
import { majorityOf } from '../log/roster.ts';
import type { Suite } from '../suite/suite.ts';
import type { FederationStatements } from './bundle.ts';
import { Certificates } from './certificates.ts';
import { Checkpoints } from './checkpoints.ts';
import type { Known, LogView } from './known.ts';
import { problem, type Problem } from './problem.ts';
import { decidedRevocations, knownRevocations } from './revocations.ts';
import type { RosterLine, RosterPlace } from './roster-line.ts';
import { SignatureChecks } from './signature-checks.ts';
import { Withdrawals } from './withdrawals.ts';

/**
 * By whom the proofs of a bundle are judged: rosters and revocations, which are judged first and as if no key were
 * revoked.
 */
export interface Authority {
  readonly line: RosterLine;
  readonly signatures: SignatureChecks;
  readonly certificates: Certificates;
  readonly checkpoints: Checkpoints;
  /** By the revocations that the bundle carries. */
  readonly told: Withdrawals;
  /** By these and the ones that the verifier knows beside it. */
  readonly withdrawals: Withdrawals;
  readonly log: LogView | undefined;
  /** Of rosters that have no majority here. While there are any, nothing rests on these rosters. */
  readonly problems: readonly Problem[];
}

/** A key and the node that signs by it. */
export interface NodeKey {
  readonly node: NodeId;
  readonly keyId: Sha256Hash;
}

/** Takes what a file of proofs and its verifier bring. `keys` are those that sign what the file is about. */
export function openAuthority(
  suite: Suite,
  stated: FederationStatements,
  known: Known,
  line: RosterLine,
  keys: Iterable<NodeKey>,
): Authority {
  const { log, revocations: file } = known;
  const signatures = new SignatureChecks(suite);
  // What the verifier brings comes first: no flood in the file can stand before it.
  const certificates = new Certificates(suite, signatures, [...(file?.keys ?? []), ...stated.keys]);
  const checkpoints = new Checkpoints(signatures, certificates, log);
  for (const counted of log?.checkpoints ?? []) checkpoints.addCounted(line.federation, counted);
  for (const signed of [...(file?.checkpoints ?? []), ...stated.checkpoints]) checkpoints.add(line.federation, signed);
  const named = new Set([...keys, ...checkpoints.keys()].map(nameOf));
  const matters = (node: NodeId, keyId: Sha256Hash) => named.has(nameOf({ node, keyId }));
  const judges = { suite, line, signatures, checkpoints, log, matters };
  const brought = [...knownRevocations(judges), ...decidedRevocations(judges, file?.revocations ?? [])];
  const told = decidedRevocations(judges, stated.revocations);
  return {
    line,
    signatures,
    certificates,
    checkpoints,
    told: new Withdrawals(told),
    withdrawals: new Withdrawals([...brought, ...told]),
    log,
    problems: line.places.flatMap((place) => checkMajority(checkpoints, line, place)),
  };
}

/** The genesis is known by its hash, and what the verifier knows by itself; any other roster needs a majority. */
function checkMajority(checkpoints: Checkpoints, line: RosterLine, place: RosterPlace): readonly Problem[] {
  const { decision, isKnown, roster } = place;
  if (decision === null || isKnown) return [];
  const judge = line.judgeOf(place);
  const answers = checkpoints.covering(decision, () => true);
  if (answers.settledBy({ roster: judge, needed: majorityOf(judge), except: null }).length > 0) return [];
  const detail = `no majority of roster ${judge.version} shows that roster ${roster.version} came into force`;
  return [problem('rosters', 'sigValid', 'roster-without-majority', detail)];
}

function nameOf({ node, keyId }: NodeKey): string {
  return `${node} ${keyId}`;
}

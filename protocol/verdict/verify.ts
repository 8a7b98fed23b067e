import { type AccountVersion, isMadeElsewhere } from '../accounts/speaker.ts';
import { checkAgent } from '../evidence/agent.ts';
import { evaluateFully } from '../evidence/recorded-evidence.ts';
import type { Suite } from '../suite/suite.ts';
import { type NodeKey, openAuthority } from './authority.ts';
import type { Bundle, FederationStatements } from './bundle.ts';
import { CommonTexts } from './common-texts.ts';
import { type JoinedRosters, joinRosters } from './join-rosters.ts';
import { type Grounds, judgeProof } from './judge-proof.ts';
import { JudgedBatches } from './judged-batches.ts';
import { isPinned, type Known } from './known.ts';
import { linkedProofsOf, linkedVerdict, standingsOf } from './linked.ts';
import { type OpenedProof, openProof, proofOf } from './opened-proof.ts';
import { judgePayload } from './payload.ts';
import { recordOf, showsRecord } from './shown-record.ts';
import { type Verdict, verdictOn } from './verdict.ts';

/** What a verdict is on: proofs that were opened, and what is said of the federation beside them. */
export interface OpenedBundle {
  readonly own: OpenedProof;
  readonly linked: readonly OpenedProof[];
  readonly statements: FederationStatements;
}

/**
 * The verdict on a bundle, by what it carries and what its verifier knows (protocol §5, §8): first rosters and pin,
 * which cost hashes alone; then the authority of rosters and revocations; then its record, and the linked ones, which
 * move no word. Nothing is thrown on what a bundle can hold.
 */
export function verifyBundle(suite: Suite, bundle: Bundle, known: Known = {}): Verdict {
  const joined = joinRosters(suite, bundle.rosters, known);
  const common = new CommonTexts(suite);
  const own = openProof(suite, proofOf(bundle), common);
  const linked = linkedProofsOf(bundle).map((proof) => openProof(suite, proof, common));
  return verifyOpened(suite, { own, linked, statements: bundle }, joined, known);
}

/** The same of proofs and rosters that were read before. */
export function verifyOpened(
  suite: Suite,
  { own, linked: others, statements }: OpenedBundle,
  { line, problems }: JoinedRosters,
  known: Known,
): Verdict {
  const authority = line && openAuthority(suite, statements, known, line, keysOf([own, ...others]));
  const batches = authority && new JudgedBatches(suite, authority);
  const grounds: Grounds = { authority, batches, isPinned: isPinned(known), problems };

  const judged = judgeProof(grounds, own, judgePayload(suite, own, known.payload));
  const linked = others.map((opened) => {
    return { opened, judged: judgeProof(grounds, opened, judgePayload(suite, opened, undefined)) };
  });

  const record = recordOf(own);
  const holds = showsRecord(judged.facts);
  const standings = standingsOf({ opened: own, judged }, linked);
  const speaking = standings.linked.filter((one) => one !== null);
  const speaks = record !== null && (!isMadeElsewhere(record) || standings.own.speaks);
  const verdicts = linked.map((each, i) => linkedVerdict(record, each, standings.linked[i] ?? null));
  return {
    ...verdictOn(own, judged, line, known),
    linked: verdicts,
    speaks: record !== null && holds ? speaks : null,
    accountStatements: distinct([
      holds ? standings.own.statement : null,
      ...verdicts.map((each) => each.accountStatement),
    ]),
    evidence: record && evaluateFully({ record, sigValid: holds, speaks }, speaking, known.at ?? null),
    // A record that does not hold is nobody's, and one that does not speak for its account is none of its agents'.
    agent: record && holds ? checkAgent(suite, record, speaks ? speaking : []) : null,
  };
}

function distinct(versions: readonly (AccountVersion | null)[]): readonly AccountVersion[] {
  const byId = new Map(versions.flatMap((version) => (version === null ? [] : [[version.id, version]])));
  return [...byId.values()].toSorted((a, b) => b.version - a.version);
}

function keysOf(proofs: readonly OpenedProof[]): readonly NodeKey[] {
  return proofs.flatMap(({ group, envelope }) => [group, envelope].filter((signed) => signed !== null));
}

import type { AccountVersion } from '../accounts/speaker.ts';
import type { AgentVerdict } from '../evidence/agent.ts';
import type { FullEvaluation } from '../evidence/recorded-evidence.ts';
import type { Sha256Hash } from '../hash.ts';
import type { EntityId, NodeId, RecordId } from '../ids.ts';
import type { RecordKind } from '../statement/vocabulary.ts';
import { type ConsensusTimestamp, type Timestamp, timestampOfConsensus } from '../time.ts';
import type { Facts, JudgedProof } from './facts.ts';
import type { Known } from './known.ts';
import type { LinkedVerdict } from './linked.ts';
import type { OpenedProof } from './opened-proof.ts';
import { type Check, CHECKS, type Checks, type Problem } from './problem.ts';
import type { RosterLine, RosterPlace } from './roster-line.ts';
import { EXIT_CODES, type ExitCode, type Word, wordOf } from './word.ts';

export const STATUSES = ['pending', 'buffered', 'anchored', 'confirmed'] as const;
export type Status = (typeof STATUSES)[number];

/** A roster, as verdicts name it. */
export interface NamedRoster {
  readonly version: number;
  readonly hash: Sha256Hash;
}

/** Where the ledger decided the record's batch. */
export interface LedgerPlace {
  readonly network: string;
  readonly topicId: EntityId;
  readonly sequence: string;
  readonly consensusTimestamp: ConsensusTimestamp;
  /** The time of the record. */
  readonly at: Timestamp;
  /** More than 24 hours after the batch was sealed: said, and verified all the same. */
  readonly isLate: boolean;
}

/** What the facts of one record come to (protocol §8). */
export interface RecordVerdict {
  readonly word: Word;
  readonly exitCode: ExitCode;
  /** Only where the word is. */
  readonly verified: boolean;
  readonly facts: Facts;
  /** The five of api-rules §2.2, derived from the facts. */
  readonly checks: Checks;
  readonly status: Status;
  readonly problems: readonly Problem[];
  /** Null where its head cannot be read. */
  readonly record: {
    readonly id: RecordId;
    readonly kind: RecordKind;
    readonly node: NodeId;
    readonly submittedAt: Timestamp;
  } | null;
  /** Null until the record is on the ledger. */
  readonly ledger: LedgerPlace | null;
  /** The roster that witnesses are counted within, and who they are: no more than are needed. */
  readonly restsOn: NamedRoster | null;
  readonly witnesses: readonly NodeId[];
  /** Hash of the genesis roster; null where rosters do not join. */
  readonly federation: Sha256Hash | null;
  /** The roster that the verifier trusts; null where it named none. */
  readonly pinned: NamedRoster | null;
}

export interface Verdict extends RecordVerdict {
  /** In the order of the bundle. */
  readonly linked: readonly LinkedVerdict[];
  /**
   * Whether the record's node speaks for its account; null where its body is not carried, or it does not hold. Of an
   * account that names no home, as that of anyone who pays for one record, the record's own node does.
   */
  readonly speaks: boolean | null;
  /**
   * Versions of the account's statement by which records of other nodes than its home were judged, the newest first.
   */
  readonly accountStatements: readonly AccountVersion[];
  /** What the rules find; null where the record's body is not carried, so that nothing is known of its claims. */
  readonly evidence: FullEvaluation | null;
  /** The agent that signed beside the node; null where none claims to have, or where the record does not hold. */
  readonly agent: AgentVerdict | null;
}

/** The verdict on one record, from the facts alone. */
export function verdictOn(
  opened: OpenedProof,
  { facts, quorum, isLate, problems }: JudgedProof,
  line: RosterLine | null,
  { anchored = false }: Known,
): RecordVerdict {
  const { head, decision } = opened;
  const word = wordOf(facts);
  return {
    word,
    exitCode: EXIT_CODES[word],
    verified: word === 'verified',
    facts,
    checks: checksOf(opened, facts, problems),
    status: statusOf(opened, facts, anchored),
    problems,
    record: head && { id: head.id, kind: head.kind, node: head.node, submittedAt: head.submittedAt },
    ledger: facts.onLedger && decision !== null ? { ...placeOf(decision.value), isLate } : null,
    restsOn: quorum && namedRoster(quorum.within),
    witnesses: quorum?.members ?? [],
    federation: line?.federation ?? null,
    pinned: line !== null && facts.pin === 'joins' ? namedRoster(line.pin) : null,
  };
}

/** A check holds where nothing speaks against it, and all that it needs was there and judged. */
function checksOf({ head, group, envelope }: OpenedProof, facts: Facts, problems: readonly Problem[]): Checks {
  const failed = new Set<Check | null>(problems.map(({ check }) => check));
  const isRead = head !== null && group !== null && (facts.sealed === null || envelope !== null);
  const isJudged = facts.signed !== 'unjudged';
  const holds: Checks = {
    leafRederived: head !== null,
    payloadHashMatch: facts.payload === 'disclosed',
    proofWalk: isRead,
    bundleBinding: isRead && isJudged,
    sigValid: isRead && isJudged && facts.signed === 'holds' && facts.sealed !== 'fails' && !facts.contradicted,
  };
  const [leafRederived, payloadHashMatch, proofWalk, bundleBinding, sigValid] = CHECKS.map(
    (check) => holds[check] && !failed.has(check),
  );
  return {
    leafRederived: leafRederived === true,
    payloadHashMatch: payloadHashMatch === true,
    proofWalk: proofWalk === true,
    bundleBinding: bundleBinding === true,
    sigValid: sigValid === true,
  };
}

/**
 * `anchored` is the node's own knowledge that the ledger took its transaction, or what checkpoints show: no mere text
 * is.
 */
function statusOf({ body }: OpenedProof, facts: Facts, anchored: boolean): Status {
  if (facts.onLedger && facts.witnessed) return 'confirmed';
  if (facts.onLedger || anchored) return 'anchored';
  return body?.claims.channel === 'tiered' ? 'buffered' : 'pending';
}

function placeOf(decision: Omit<LedgerPlace, 'at' | 'isLate'>): Omit<LedgerPlace, 'isLate'> {
  const { network, topicId, sequence, consensusTimestamp } = decision;
  return { network, topicId, sequence, consensusTimestamp, at: timestampOfConsensus(consensusTimestamp) };
}

function namedRoster({ roster, hash }: RosterPlace): NamedRoster {
  return { version: roster.version, hash };
}

import Type, { type Static } from 'typebox';
import {
  Closed,
  ConsensusTimestampShape,
  EntityIdShape,
  NodeIdShape,
  OrdinalShape,
  OrNull,
  Sha256Shape,
  TimestampShape,
} from '../shapes.ts';
import { PAYLOAD_STATES as FACTS_OF_PAYLOADS } from '../verdict/payload.ts';
import { CHECKS, FACTS, PROBLEM_CODES } from '../verdict/problem.ts';
import { STATUSES } from '../verdict/verdict.ts';
import { EXIT_CODES, type Word } from '../verdict/word.ts';
import { EXAMPLE_CONSENSUS, EXAMPLE_HASH, EXAMPLE_TOPIC } from './example-ids.ts';

export { STATUSES };

/**
 * What answers say of a payload. One that is not what its record commits to is there all the same: `problems` says so.
 */
export const PAYLOAD_STATES = ['available', 'withheld', 'erased', 'unreachable'] as const;

/** The five checks of a verification (api-rules §2.2). */
export const ChecksShape = Closed(
  {
    leafRederived: Type.Boolean(),
    payloadHashMatch: Type.Boolean(),
    proofWalk: Type.Boolean(),
    bundleBinding: Type.Boolean(),
    sigValid: Type.Boolean(),
  },
  { title: 'VerificationChecks' },
);

/** One thing that does not hold: the fact that it denies, and the check that it fails, if any. */
export const ProblemsShape = Type.Array(
  Closed(
    {
      fact: Type.Enum([...FACTS]),
      check: OrNull(Type.Enum([...CHECKS])),
      code: Type.Enum([...PROBLEM_CODES]),
      detail: Type.String(),
    },
    { title: 'VerificationProblem' },
  ),
);
export type ProblemsAnswer = Static<typeof ProblemsShape>;

const WORDS = Object.keys(EXIT_CODES).map((word): string => word);
export const WordShape = Type.Unsafe<Word>(Type.Enum(WORDS));
const JudgedShape = Type.Enum(['holds', 'fails', 'unjudged']);

const FactsShape = Closed(
  {
    /** The record is one that its node signed. */
    signed: JudgedShape,
    /** It is in a batch that its node signed; null where there is none yet. */
    sealed: OrNull(JudgedShape),
    /** What the decision that is shown says of the batch. */
    decision: Type.Enum(['absent', 'fits', 'mismatch', 'misdated', 'unjudged']),
    /** Checkpoints of enough members cover the decision. */
    onLedger: Type.Boolean(),
    /** As many members vouch for the batch. */
    witnessed: Type.Boolean(),
    checkpoints: Type.Enum(['enough', 'stale', 'too-few']),
    /** The verifier knows better. */
    contradicted: Type.Boolean(),
    payload: Type.Enum([...FACTS_OF_PAYLOADS]),
    rosters: Type.Enum(['in-force', 'unproven', 'do-not-join']),
    pin: Type.Enum(['joins', 'none', 'does-not-join']),
  },
  { title: 'VerdictFacts' },
);

const NamedRosterShape = Closed({ version: OrdinalShape, hash: Sha256Shape }, { title: 'NamedRoster' });

/** What a verdict comes to, and what it rests on. */
export const VerdictShape = Closed(
  {
    /** The first that fits, in the order of the list. Only `verified` is. */
    word: WordShape,
    facts: FactsShape,
    /** Where the ledger decided the record's batch; null until members show it. `at` is the time of the record. */
    ledger: OrNull(
      Closed({
        network: Type.String(),
        topicId: EntityIdShape,
        sequence: Type.String(),
        consensusTimestamp: ConsensusTimestampShape,
        at: TimestampShape,
      }),
    ),
    /** The ledger took the batch more than 24 hours after it was sealed: said, and verified all the same. */
    anchoredLate: Type.Boolean(),
    /** The roster that witnesses are counted within. */
    restsOn: OrNull(NamedRosterShape),
    /** Members whose checkpoints make it true: no more than are needed. */
    witnesses: Type.Array(NodeIdShape, { maxItems: 256 }),
    /** Hash of the genesis roster; null where rosters do not join. */
    federation: OrNull(Sha256Shape),
    /** The roster that the verifier trusts. */
    pinned: OrNull(NamedRosterShape),
  },
  { title: 'Verdict' },
);
export type VerdictAnswer = Static<typeof VerdictShape>;

export const CHECKS_EXAMPLE = {
  leafRederived: true,
  payloadHashMatch: true,
  proofWalk: true,
  bundleBinding: true,
  sigValid: true,
};

export const VERDICT_EXAMPLE = {
  word: 'verified',
  facts: {
    signed: 'holds',
    sealed: 'holds',
    decision: 'fits',
    onLedger: true,
    witnessed: true,
    checkpoints: 'enough',
    contradicted: false,
    payload: 'disclosed',
    rosters: 'in-force',
    pin: 'joins',
  },
  ledger: {
    network: 'mainnet',
    topicId: EXAMPLE_TOPIC,
    sequence: '8812',
    consensusTimestamp: EXAMPLE_CONSENSUS.timestamp,
    at: EXAMPLE_CONSENSUS.time,
  },
  anchoredLate: false,
  restsOn: { version: 1, hash: EXAMPLE_HASH },
  witnesses: ['us', 'jp', 'ca'],
  federation: EXAMPLE_HASH,
  pinned: { version: 1, hash: EXAMPLE_HASH },
};

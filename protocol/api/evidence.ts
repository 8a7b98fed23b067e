import Type, { type Static } from 'typebox';
import { AGENT_SIGNATURES } from '../evidence/agent.ts';
import {
  EVIDENCE_FOR,
  EVIDENCE_MEANING,
  EVIDENCE_RULE_SET,
  type FactKey,
  FACT_KEYS,
  type Missing,
  NOT_SHOWN_OF_REVIEWS,
  RecordedEvidenceShape,
} from '../evidence/evidence-shape.ts';
import { CLAUSES, LACKS, MEANING, RULE_SET } from '../evidence/rules.ts';
import { Closed, OrdinalShape, OrNull, RecordIdShape, Sha256Shape, TimestampShape } from '../shapes.ts';
import { MAX_LINKED } from '../verdict/bundle.ts';
import { EXAMPLE_IDS, EXAMPLE_SUBMITTED_AT } from './example-ids.ts';

/** The flags of the evidence rules (api-rules §6). What is not shown is false. */
const ComplianceStatusShape = Closed(
  {
    article12_1: Type.Boolean(),
    article12_2: Type.Boolean(),
    article12_3b: Type.Boolean(),
    article14: Type.Boolean(),
  },
  { title: 'ComplianceStatus' },
);

const ComplianceDetailShape = Closed(
  {
    ruleSet: Type.Literal(RULE_SET),
    evaluatedAt: OrNull(TimestampShape),
    article12_3a: Type.Boolean(),
    article12_3c: Type.Boolean(),
    article12_3d: Type.Boolean(),
    article14_5: Type.Boolean(),
    reasons: Type.Array(
      Closed({
        key: Type.Enum([...CLAUSES]),
        satisfied: Type.Boolean(),
        missing: Type.Array(Type.Enum([...LACKS])),
      }),
    ),
    meaning: Type.Literal(MEANING),
  },
  { title: 'ComplianceDetail' },
);

/** The agent that a record claims to be made for; only `valid` makes it the agent's. Null where none signed. */
const AgentVerdictShape = OrNull(
  Closed(
    {
      agentId: OrNull(Type.String()),
      keyId: OrNull(Sha256Shape),
      signature: Type.Enum([...AGENT_SIGNATURES]),
    },
    { title: 'AgentVerdict' },
  ),
);

/** A version of an account's statement, and the record that it is. */
export const AccountVersionShape = Closed({ version: OrdinalShape, id: RecordIdShape });

/** What an answer says of the evidence that a record shows. */
export const EVIDENCE = {
  complianceStatus: ComplianceStatusShape,
  complianceDetail: ComplianceDetailShape,
  /** The same records by `evidence-rules/2`. */
  evidence: RecordedEvidenceShape,
  agent: AgentVerdictShape,
  /**
   * Whether the record's node speaks for its account: its home, or a node that its statement names. Null where unknown.
   */
  speaks: OrNull(Type.Boolean()),
  /**
   * Versions of the account's statement by which records of other nodes than its home were judged, the newest first.
   */
  accountStatements: Type.Array(AccountVersionShape, { maxItems: MAX_LINKED }),
};
const EvidenceShape = Closed(EVIDENCE);
export type EvidenceAnswer = Static<typeof EvidenceShape>;

/** What of the example is not recorded. */
const NOT_RECORDED: Readonly<Partial<Record<FactKey, readonly Missing[]>>> = {
  'period-of-use': ['session_end'],
  intervention: ['stopped'],
  'second-reviewer': ['second-reviewer'],
};

const RECORDED_EVIDENCE_EXAMPLE = {
  ruleSet: EVIDENCE_RULE_SET,
  evaluatedAt: EXAMPLE_SUBMITTED_AT,
  kindOfRecord: 'ai-system-event',
  facts: FACT_KEYS.map((key) => {
    const missing = NOT_RECORDED[key] ?? [];
    return {
      key,
      evidenceFor: EVIDENCE_FOR[key],
      state: missing.length === 0 ? 'recorded' : 'not-recorded',
      missing: [...missing],
    };
  }),
  eventTime: { asserted: '2026-11-21T09:29:57.000Z', recorded: EXAMPLE_SUBMITTED_AT, lagSeconds: 3 },
  periodOfUse: { basis: 'asserted-event-time', recordTimeWithin: false, eventTimeWithin: false },
  reviews: [
    {
      attestationId: EXAMPLE_IDS.overrideRecord,
      reviewLag: 912,
      lagFromEvent: 915,
      outcomeGiven: true,
      stopped: false,
    },
  ],
  reviewsDoNotShow: [...NOT_SHOWN_OF_REVIEWS],
  meaning: EVIDENCE_MEANING,
};

export const EVIDENCE_EXAMPLE = {
  complianceStatus: { article12_1: true, article12_2: true, article12_3b: true, article14: true },
  complianceDetail: {
    ruleSet: RULE_SET,
    evaluatedAt: EXAMPLE_SUBMITTED_AT,
    article12_3a: false,
    article12_3c: true,
    article12_3d: true,
    article14_5: false,
    reasons: [
      { key: 'article12_1', satisfied: true, missing: [] },
      { key: 'article12_2', satisfied: true, missing: [] },
      { key: 'article12_3a', satisfied: false, missing: ['session_end'] },
      { key: 'article12_3b', satisfied: true, missing: [] },
      { key: 'article12_3c', satisfied: true, missing: [] },
      { key: 'article12_3d', satisfied: true, missing: [] },
      { key: 'article14', satisfied: true, missing: [] },
      { key: 'article14_5', satisfied: false, missing: ['second-reviewer'] },
    ],
    meaning: MEANING,
  },
  evidence: RECORDED_EVIDENCE_EXAMPLE,
  agent: null,
  speaks: true,
  accountStatements: [],
};

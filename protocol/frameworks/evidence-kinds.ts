import { GOVERNANCE_KINDS, RECORD_KINDS, type RecordKind } from '../statement/vocabulary.ts';
import { GOVERNANCE_FIELDS } from './governance-fields.ts';
import { type MappedEvent, MAPPED_EVENTS } from './event-types.ts';

/** Records about accounts themselves, which evidence no clause. */
const ACCOUNT_KINDS = ['account', 'account_key_refused'] as const satisfies readonly RecordKind[];
type AccountKind = (typeof ACCOUNT_KINDS)[number];

/** What can evidence a clause: a record kind, or an event of a record of kind `decision`. */
export type EvidenceKind = Exclude<RecordKind, AccountKind> | `event:${MappedEvent}`;

export const EVIDENCE_KINDS: readonly EvidenceKind[] = [
  ...RECORD_KINDS.filter((kind) => !isAccountKind(kind)),
  ...MAPPED_EVENTS.map((event): EvidenceKind => `event:${event}`),
];

/** Kinds whose records `evidence-rules/2` looks at one by one: few, and each of weight. All others are counted. */
export const LISTED_KINDS = [
  'incident',
  'retention_lock',
  'risk_assessment',
  'impact_assessment',
  'corrective_action',
  ...GOVERNANCE_KINDS,
] as const satisfies readonly RecordKind[];
export type ListedKind = (typeof LISTED_KINDS)[number];

const LISTED: ReadonlySet<string> = new Set(LISTED_KINDS);

export function isListed(kind: string): kind is ListedKind {
  return LISTED.has(kind);
}

const DECISION_FIELDS = [
  'agentId',
  'confidenceScore',
  'dataHash',
  'incidentId',
  'inputHash',
  'jurisdiction',
  'matched',
  'modelId',
  'modelVersion',
  'outputHash',
  'referenceDatabase',
  'riskLevel',
  'sessionId',
  'systemId',
  'thirdPartyModel',
] as const;
export type DecisionField = (typeof DECISION_FIELDS)[number];

/** Fields that every record shows by being one. */
const OF_EVERY_RECORD = ['signature', 'submittedAt', 'sourceSeq'];
/** Fields that a kind shows by being made: the time of a session's record is the session's start or end. */
const OF_KIND: Readonly<Partial<Record<RecordKind, readonly string[]>>> = {
  session_start: ['startTime'],
  session_end: ['endTime'],
};

/** Fields that can be told from a signed record of a kind, beside those that it always shows. */
export const TELLING_FIELDS = {
  decision: DECISION_FIELDS,
  session_start: ['operatorId', 'purpose'],
  session_end: ['decisionCount', 'outcome'],
  human_override: ['originalAttestationId', 'overrideDecision', 'overrideReason', 'reviewOutcome', 'reviewerId'],
  incident: ['awarenessAt', 'criteria', 'description', 'memberStates', 'notificationDueAt', 'severity'],
  retention_lock: ['legalHold', 'regulatoryBasis', 'retentionPeriodDays', 'scope'],
  risk_assessment: ['assessedBy', 'mitigations', 'residualRisk', 'reviewDueAt', 'risksIdentified'],
  impact_assessment: [
    'affectedGroups',
    'affectedStakeholders',
    'assessedBy',
    'dpiaRef',
    'firstUseAt',
    'intendedPurpose',
    'overallRating',
    'oversightMeasures',
    'potentialHarms',
    'processes',
    'riskMeasures',
    'specificRisks',
    'usePeriod',
  ],
  corrective_action: [
    'actionStatus',
    'correctiveActions',
    'effectivenessEvidence',
    'incidentId',
    'nonconformityDescription',
    'rootCause',
  ],
  ...GOVERNANCE_FIELDS,
  agent_registration: ['jurisdiction', 'permittedUses'],
  inference: ['inputHash', 'modelId', 'modelVersion', 'outputHash'],
  screening: ['inputHash', 'matched', 'referenceDatabase', 'thirdPartyModel'],
  audit: ['verdict'],
  fact: ['fact', 'observedAt'],
  reg_item: ['jurisdiction'],
  wallet_record: ['observedAt'],
  agent_record: ['agentId', 'observedAt'],
  counterparty_check: ['matched', 'referenceDatabase', 'verdict'],
  key_event: ['keyEvent'],
  erasure: ['legalBasis'],
  account: [],
  account_key_refused: [],
} as const satisfies Record<RecordKind, readonly string[]>;

/** Fields that evidence a clause and that stay in the payload, where nothing signed tells of them. */
const UNSEEN_FIELDS: Readonly<Partial<Record<RecordKind, readonly string[]>>> = {
  decision: ['clock', 'populationGroup'],
};

/**
 * Whether a record of the kind shows the field always, can show it, or keeps it in its payload; undefined: none of it.
 */
export function visibility(kind: EvidenceKind, field: string): 'always' | 'told' | 'unseen' | undefined {
  if (OF_EVERY_RECORD.includes(field)) return 'always';
  const made = recordKindOf(kind);
  if (OF_KIND[made]?.includes(field) === true) return 'always';
  const telling: readonly string[] = TELLING_FIELDS[made];
  if (telling.includes(field)) return 'told';
  return UNSEEN_FIELDS[made]?.includes(field) === true ? 'unseen' : undefined;
}

function recordKindOf(kind: EvidenceKind): RecordKind {
  return isEvent(kind) ? 'decision' : kind;
}

function isAccountKind(kind: RecordKind): kind is AccountKind {
  const kinds: readonly RecordKind[] = ACCOUNT_KINDS;
  return kinds.includes(kind);
}

function isEvent(kind: EvidenceKind): kind is `event:${MappedEvent}` {
  return kind.startsWith('event:');
}

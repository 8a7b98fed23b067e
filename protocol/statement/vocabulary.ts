/**
 * The closed vocabularies of signed records (api-rules §9, §4.2). A word, once signed, is never given another meaning.
 */

/** What a regulator asks for that is no decision: each a record with facts of its own (api-rules §4.3). */
export const GOVERNANCE_KINDS = [
  'system',
  'document',
  'notification',
  'notice',
  'request',
  'evaluation',
  'assignment',
  'dataset',
  'supplier',
  'conformity',
] as const;
export type GovernanceKind = (typeof GOVERNANCE_KINDS)[number];

export const RECORD_KINDS = [
  'decision',
  'session_start',
  'session_end',
  'human_override',
  'incident',
  'retention_lock',
  'risk_assessment',
  'impact_assessment',
  'corrective_action',
  ...GOVERNANCE_KINDS,
  'agent_registration',
  'inference',
  'screening',
  'audit',
  'fact',
  'reg_item',
  'wallet_record',
  'agent_record',
  'counterparty_check',
  'key_event',
  'erasure',
  /** A version of an account's statement, and a key that was refused for good (protocol §5). */
  'account',
  'account_key_refused',
] as const;
export type RecordKind = (typeof RECORD_KINDS)[number];

/** `direct` records wait as `pending`; `tiered` ones, from `POST /v1/tiered-attest`, wait as `buffered`. */
export const CHANNELS = ['direct', 'tiered'] as const;
export type Channel = (typeof CHANNELS)[number];

export const RISK_LEVELS = ['low', 'medium', 'high', 'critical'] as const;
export const ENVIRONMENTS = ['production', 'staging', 'test'] as const;

/** What a reviewer did with an output: EU AI Act Art. 14(4)(d) and (e). */
export const REVIEW_OUTCOMES = ['confirmed', 'overridden', 'reversed', 'disregarded', 'stopped'] as const;
export type ReviewOutcome = (typeof REVIEW_OUTCOMES)[number];

/** In which capacity somebody acts: EU AI Act Art. 3(2)–(8), and the words of other regimes. */
export const ROLES = [
  'provider',
  'deployer',
  'importer',
  'distributor',
  'authorised-representative',
  'product-manufacturer',
  'gpai-provider',
  'developer',
  'operator',
  'other',
] as const;
export type Role = (typeof ROLES)[number];

export const SYSTEM_STATUSES = [
  'in-development',
  'on-market',
  'in-service',
  'suspended',
  'withdrawn',
  'recalled',
  'retired',
] as const;

/** Whom a notification was sent to. */
export const RECIPIENTS = [
  'authority',
  'ai-office',
  'provider',
  'importer',
  'distributor',
  'deployer',
  'user',
  'worker-representatives',
  'subject',
  'other',
] as const;
export type Recipient = (typeof RECIPIENTS)[number];

/** How complete a notification is: EU AI Act Art. 73(5) allows an incomplete first one. */
export const REPORT_TYPES = ['early-warning', 'initial', 'follow-up', 'final', 'final-not-reportable'] as const;
export type ReportType = (typeof REPORT_TYPES)[number];

/** Whether an incident has to be reported, as its reporter found. */
export const REPORTABILITIES = ['undetermined', 'reportable', 'not-reportable'] as const;
export type Reportability = (typeof REPORTABILITIES)[number];

/** Drives the notification clock of an incident (api-rules §4.2). */
export const SEVERITIES = ['serious', 'critical', 'fatal'] as const;
export type Severity = (typeof SEVERITIES)[number];

export const INCIDENT_CRITERIA = [
  'death',
  'health',
  'critical-infrastructure',
  'fundamental-rights',
  'property-environment',
  'widespread-infringement',
] as const;

/** What a retention lock covers, by name. `all` stands alone. */
export const LOCK_SCOPES = [
  'all',
  'decisions',
  'sessions',
  'oversight',
  'incidents',
  'assessments',
  'corrective-actions',
  /** Records of kind `document`, and of kind `decision` whose event is not `DECISION`. */
  'documents',
] as const;

/** Records of kind `decision` of one event, as `event:TECH_DOC`. */
export type EventScope = `event:${string}`;
export const EVENT_SCOPE_PATTERN = '^event:[A-Z][A-Z0-9_]{1,63}$';

export type LockScope = (typeof LOCK_SCOPES)[number] | EventScope;

export const ACTION_STATUSES = [
  'planned',
  'in-progress',
  'implemented',
  'verified',
  'closed',
  'ineffective',
  'cancelled',
] as const;
export type ActionStatus = (typeof ACTION_STATUSES)[number];

/** Who holds the private half of an agent's key: the node, or the agent itself. */
export const CUSTODIES = ['service', 'self'] as const;
export type Custody = (typeof CUSTODIES)[number];

export const KEY_EVENTS = [
  'agent-rotated',
  'agent-deactivated',
  'audit-head',
  'settlement-head',
  /** An edition of an official list came into force at the node, or was found unchanged at its source. */
  'list-edition',
  /** A pack of evidence was made (protocol §10). */
  'evidence-pack',
] as const;

/** What a screening, a counterparty check or an audit came to. */
export const VERDICTS = ['match', 'no-match', 'review', 'clear', 'pass', 'fail', 'inconclusive'] as const;
export type CheckResult = (typeof VERDICTS)[number];

/** Facts about the ledger that are attested as snapshots (api-rules §4.1). */
export const FACTS = ['exchange-rate', 'gas-fees', 'supply', 'nodes', 'throughput', 'topic-state'] as const;
export type Fact = (typeof FACTS)[number];

import type { AttestationRecord } from '../chain/record.ts';
import type { RecordKind } from '../statement/vocabulary.ts';
import type { FactKey } from './evidence-shape.ts';

/**
 * What a record is to an AI system: a result of it, the start or end of a period of its use, a person's review of a
 * result, or no event of it at all.
 */
export type EventNature = 'result' | 'session' | 'review' | 'none';

const NATURES: Readonly<Record<RecordKind, EventNature>> = {
  decision: 'result',
  inference: 'result',
  screening: 'result',
  counterparty_check: 'result',
  session_start: 'session',
  session_end: 'session',
  human_override: 'review',
  incident: 'none',
  retention_lock: 'none',
  risk_assessment: 'none',
  impact_assessment: 'none',
  corrective_action: 'none',
  system: 'none',
  document: 'none',
  notification: 'none',
  notice: 'none',
  request: 'none',
  evaluation: 'none',
  assignment: 'none',
  dataset: 'none',
  supplier: 'none',
  conformity: 'none',
  agent_registration: 'none',
  audit: 'none',
  fact: 'none',
  reg_item: 'none',
  wallet_record: 'none',
  agent_record: 'none',
  key_event: 'none',
  erasure: 'none',
  account: 'none',
  account_key_refused: 'none',
};

/**
 * Event types by which a record of kind `decision` is a document, a notice or a review of a programme, and nothing that
 * the system did. Types that are on no list are their callers' own, and count as events.
 */
const NO_EVENTS: ReadonlySet<string> = new Set([
  'NOT_APPLICABLE',
  'DATA_GOVERNANCE',
  'TECH_DOC',
  'INSTRUCTIONS_FOR_USE',
  'PERFORMANCE_TEST',
  'QMS_RECORD',
  'REGISTRATION',
  'PMM_REPORT',
  'AUTHORITY_NOTIFICATION',
  'MODEL_CHANGE',
  'GPAI_DOC',
  'DOWNSTREAM_INFO',
  'MODEL_VALIDATION',
  'MODEL_MONITORING',
  'BIAS_AUDIT',
  'CONSUMER_NOTICE',
  'ADVERSE_ACTION_NOTICE',
  'APPEAL',
  'SUPERVISORY_REVIEW',
  'ALGO_CHANGE',
]);

/** What a record is to an AI system (EU AI Act Art. 12(1): "events over the lifetime of the system"). */
export function eventNatureOf({ kind, claims }: AttestationRecord): EventNature {
  if (kind === 'decision' && claims.eventType !== undefined && NO_EVENTS.has(claims.eventType)) return 'none';
  return NATURES[kind];
}

const OF_SESSIONS: ReadonlySet<FactKey> = new Set<FactKey>(['event', 'period-of-use']);
const OF_REVIEWS: ReadonlySet<FactKey> = new Set<FactKey>(['event', 'review', 'intervention']);

/** Facts that a result of the system alone can have. */
const OF_RESULTS: ReadonlySet<FactKey> = new Set<FactKey>([
  'input',
  'traceability',
  'reference-database',
  'matched-input',
]);

/** Whether a record of this nature can have a fact at all. */
export function isPossible(nature: EventNature, key: FactKey): boolean {
  return nature === 'result' || (nature !== 'none' && !OF_RESULTS.has(key));
}

/** Whether a fact is expected of a record of this nature, so that its absence is one. */
export function isExpected(nature: EventNature, key: FactKey): boolean {
  if (nature === 'session') return OF_SESSIONS.has(key);
  if (nature === 'review') return OF_REVIEWS.has(key);
  return nature === 'result';
}

/** What a record of kind `decision` is about. `DECISION` where it says nothing else. */
export const DECISION_EVENT = 'DECISION';

/** With claims `framework` and `clause`: its caller holds the clause not to concern the source. */
export const NOT_APPLICABLE_EVENT = 'NOT_APPLICABLE';

/** Event types that clauses are mapped to. Others are recorded as they are and listed as unmapped. */
export const MAPPED_EVENTS = [
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
  'COMMUNICATION',
  'BOOKS_RECORD',
  'ORDER_EVENT',
  'ALGO_CHANGE',
  'KILL_SWITCH',
] as const;
export type MappedEvent = (typeof MAPPED_EVENTS)[number];

const KNOWN: ReadonlySet<string> = new Set<string>([DECISION_EVENT, NOT_APPLICABLE_EVENT, ...MAPPED_EVENTS]);
const EVENT = /^[A-Z][A-Z0-9_]{1,63}$/;

/** Whether a clause can be mapped to this event, or it has a meaning of its own. */
export function isKnownEvent(event: string): boolean {
  return KNOWN.has(event);
}

/** Whether a text has the form of an event type. */
export function isEventType(text: string): boolean {
  return KNOWN.has(text) || EVENT.test(text);
}

import type { AttestationRecord } from './chain/record.ts';
import { isRecordId, RECORD_ID_PATTERN, type RecordId, recordId } from './ids.ts';
import { GOVERNANCE_KINDS, type RecordKind } from './statement/vocabulary.ts';

/** What callers name apart from the record that made it, and the prefix of its ids. */
const OBJECT_PREFIXES = {
  session: 'ses',
  override: 'ovr',
  incident: 'inc',
  lock: 'rtl',
  riskAssessment: 'rsk',
  impactAssessment: 'imp',
  correctiveAction: 'cap',
  registration: 'reg',
  erasure: 'era',
  inference: 'inf',
  system: 'sys',
  document: 'doc',
  notification: 'ntf',
  notice: 'noc',
  request: 'rqs',
  evaluation: 'evl',
  assignment: 'asg',
  dataset: 'dst',
  supplier: 'sup',
  conformity: 'cnf',
} as const;
export type ObjectKind = keyof typeof OBJECT_PREFIXES;

/** Prefix of every record's own id. */
const RECORD_PREFIX = 'att';
const PREFIX_CHARACTERS = 3;
const KNOWN: ReadonlySet<string> = new Set(Object.values(OBJECT_PREFIXES));

/** The kind of the records that make what has an id of a prefix. */
const MAKERS: ReadonlyMap<string, RecordKind> = new Map<string, RecordKind>([
  [OBJECT_PREFIXES.session, 'session_start'],
  [OBJECT_PREFIXES.override, 'human_override'],
  [OBJECT_PREFIXES.incident, 'incident'],
  [OBJECT_PREFIXES.lock, 'retention_lock'],
  [OBJECT_PREFIXES.riskAssessment, 'risk_assessment'],
  [OBJECT_PREFIXES.impactAssessment, 'impact_assessment'],
  [OBJECT_PREFIXES.correctiveAction, 'corrective_action'],
  [OBJECT_PREFIXES.registration, 'agent_registration'],
  [OBJECT_PREFIXES.erasure, 'erasure'],
  [OBJECT_PREFIXES.inference, 'inference'],
  ...GOVERNANCE_KINDS.map((kind) => [OBJECT_PREFIXES[kind], kind] as const),
]);

/** Ids that stand for a record: its own, and those of what it made. */
export const ANY_ID_PATTERN = RECORD_ID_PATTERN.replace('[a-z]{3}', `(${[RECORD_PREFIX, ...KNOWN].join('|')})`);

/** Id of the thing that a record made, e.g. the session of a session's start: the record's id under another prefix. */
export function objectId(kind: ObjectKind, record: RecordId): string {
  return OBJECT_PREFIXES[kind] + record.slice(PREFIX_CHARACTERS);
}

/** The record that made the thing of this id; undefined where the text is no id of that kind. */
export function recordOfObject(kind: ObjectKind, text: string): RecordId | undefined {
  return isRecordId(text) && text.startsWith(OBJECT_PREFIXES[kind]) ? recordOf(text) : undefined;
}

/** The record that an id of any kind stands for; undefined where the text is no such id. */
export function recordOfAnyId(text: string): RecordId | undefined {
  if (!isRecordId(text)) return undefined;
  const prefix = text.slice(0, PREFIX_CHARACTERS);
  if (prefix === RECORD_PREFIX) return text;
  return KNOWN.has(prefix) ? recordOf(text) : undefined;
}

/** Whether a text is a record's own id, or that of a thing which a record of its kind makes: no decision is an incident. */
export function isIdOf(text: string, { id, kind }: Pick<AttestationRecord, 'id' | 'kind'>): boolean {
  if (text === id) return true;
  return recordOfAnyId(text) === id && MAKERS.get(text.slice(0, PREFIX_CHARACTERS)) === kind;
}

function recordOf(id: RecordId): RecordId {
  return recordId(RECORD_PREFIX + id.slice(PREFIX_CHARACTERS));
}

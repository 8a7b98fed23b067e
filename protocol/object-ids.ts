import { isRecordId, RECORD_ID_PATTERN, type RecordId, recordId } from './ids.ts';

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

function recordOf(id: RecordId): RecordId {
  return recordId(RECORD_PREFIX + id.slice(PREFIX_CHARACTERS));
}

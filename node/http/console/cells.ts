import { isSha256Hash } from '../../../protocol/hash.ts';
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../../../protocol/json/value.ts';
import { recordOfAnyId } from '../../../protocol/object-ids.ts';
import type { Cell, Tone } from '../../pages/console-page.ts';

const MOMENT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$/;
const NAMED = /^(?:key|sin|shr|acc|pack|whk)_/;
const INCIDENT = /^inc_/;

/** States of the API that say how well something is. */
const TONES: Readonly<Record<string, Tone>> = {
  active: 'good',
  available: 'good',
  confirmed: 'good',
  notified: 'good',
  present: 'good',
  ready: 'good',
  verified: 'good',
  building: 'wait',
  'due-soon': 'wait',
  open: 'wait',
  partial: 'wait',
  pending: 'wait',
  queued: 'wait',
  submitted: 'wait',
  absent: 'bad',
  failed: 'bad',
  missed: 'bad',
  overdue: 'bad',
  revoked: 'bad',
};
const STATE_FIELDS: ReadonlySet<string> = new Set(['notificationState', 'payloadState', 'state', 'status', 'word']);

/** How a value of an answer is shown: by what it is, and by the API's name of it. */
export function cellOf(field: string, value: JsonValue | undefined): Cell {
  if (value === undefined || value === null || value === '') return { kind: 'none' };
  if (typeof value === 'number') return { kind: 'figure', field, value };
  if (typeof value === 'boolean') return { kind: 'text', text: value ? 'yes' : 'no' };
  if (typeof value === 'string') return textCell(field, value);
  if (isJsonArray(value)) {
    return value.length === 0 ? { kind: 'none' } : { kind: 'list', cells: value.map((one) => cellOf(field, one)) };
  }
  const members = Object.entries(value).filter(([, member]) => member !== null);
  return { kind: 'text', text: members.map(([name, member]) => `${name}: ${wordsOf(member)}`).join(', ') };
}

/** Members of an answer, by their paths. */
export function cellsOf(answer: JsonObject, fields: readonly string[]): readonly Cell[] {
  return fields.map((field) => cellOf(field, memberOf(answer, field)));
}

function textCell(field: string, text: string): Cell {
  if (MOMENT.test(text)) return { kind: 'moment', at: text };
  if (STATE_FIELDS.has(field.split('.').at(-1) ?? '')) return { kind: 'state', tone: TONES[text] ?? 'none', text };
  if (INCIDENT.test(text)) return { kind: 'code', text, href: `console/incidents/${text}` };
  const record = recordOfAnyId(text);
  if (record !== undefined) return { kind: 'code', text, href: `console/records/${record}` };
  return { kind: isSha256Hash(text) || NAMED.test(text) ? 'code' : 'text', text };
}

function wordsOf(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** A member of an answer by its path, as `day.records`. */
export function memberOf(answer: JsonObject, path: string): JsonValue | undefined {
  let value: JsonValue | undefined = answer;
  for (const name of path.split('.')) value = value !== undefined && isJsonObject(value) ? value[name] : undefined;
  return value;
}

/** A member of an answer that is an object; an empty one where it is none. */
export function objectAt(answer: JsonObject, path: string): JsonObject {
  const value = memberOf(answer, path);
  return value !== undefined && isJsonObject(value) ? value : {};
}

/** The objects of a list in an answer; none where there is no list. */
export function itemsOf(answer: JsonObject, path: string): readonly JsonObject[] {
  const list = memberOf(answer, path);
  return list !== undefined && isJsonArray(list) ? list.filter(isJsonObject) : [];
}

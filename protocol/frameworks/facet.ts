import type { AttestationRecord } from '../chain/record.ts';
import { ENVIRONMENTS, RECORD_KINDS, type RecordKind } from '../statement/vocabulary.ts';
import { DECISION_EVENT, isEventType, isKnownEvent, NOT_APPLICABLE_EVENT } from './event-types.ts';
import { fieldsShown } from './fields-shown.ts';

type Environment = (typeof ENVIRONMENTS)[number];

/** What clauses can ask of a record. Records of one facet differ in nothing that a clause asks for. */
export interface Facet {
  readonly kind: RecordKind;
  /** Event type of a record of kind `decision`, null for others; `*`: one of many, not kept apart. */
  readonly event: string | null;
  readonly environment: Environment | null;
  /** What the records show (`fieldsShown`); null: many combinations, not kept apart. */
  readonly shown: ReadonlySet<string> | null;
  /** The clause that is held not to apply, of a record of that event that names one. */
  readonly notApplicable: { readonly framework: string; readonly clause: string } | null;
}

export const NOT_KEPT_APART = '*';

/** Longer names are of no framework and no clause. In characters. */
const MAX_NAME = 128;
const PARTS = 4;
const KINDS: ReadonlySet<string> = new Set(RECORD_KINDS);
const PLACES: ReadonlySet<string> = new Set(ENVIRONMENTS);

/** The facet of a record as text: `kind|event|environment|fields`, in ASCII and without `/`. */
export function facetText(record: AttestationRecord): string {
  const { kind, claims } = record;
  const environment = claims.environment ?? '';
  if (kind !== 'decision') return `${kind}||${environment}|${fieldsShown(record)}`;
  const event = claims.eventType ?? DECISION_EVENT;
  if (event === NOT_APPLICABLE_EVENT) return `${kind}|${event}|${environment}|${clauseText(record)}`;
  return `${kind}|${isEventType(event) ? event : NOT_KEPT_APART}|${environment}|${fieldsShown(record)}`;
}

/** The facet under which a record is counted where there are too many: one of a bounded number. */
export function coarseFacetText(text: string): string {
  const [kind = '', event = '', environment = ''] = text.split('|');
  const kept = event === '' || isKnownEvent(event) ? event : NOT_KEPT_APART;
  return `${kind}|${kept}|${environment}|${NOT_KEPT_APART}`;
}

/** Reads a facet's text. Undefined where it is none. */
export function readFacet(text: string): Facet | undefined {
  const parts = text.split('|');
  const [kind = '', event = '', environment = '', fields = ''] = parts;
  if (parts.length !== PARTS || !isKind(kind) || (event === '') !== (kind !== 'decision')) return undefined;
  if (event !== '' && event !== NOT_KEPT_APART && !isEventType(event)) return undefined;
  if (environment !== '' && !isEnvironment(environment)) return undefined;
  const place = environment === '' ? null : environment;
  const common = { kind, event: event === '' ? null : event, environment: place };
  if (fields === NOT_KEPT_APART) return { ...common, shown: null, notApplicable: null };
  if (event === NOT_APPLICABLE_EVENT) return { ...common, shown: new Set(), notApplicable: readClause(fields) };
  return { ...common, shown: new Set(fields === '' ? [] : fields.split(',')), notApplicable: null };
}

function clauseText({ claims: { framework = '', clause = '' } }: AttestationRecord): string {
  if (framework === '' || clause === '') return '';
  if (framework.length > MAX_NAME || clause.length > MAX_NAME) return NOT_KEPT_APART;
  return `${encodeURIComponent(framework.toWellFormed())},${encodeURIComponent(clause.toWellFormed())}`;
}

function readClause(fields: string): Facet['notApplicable'] {
  const [framework = '', clause = ''] = fields.split(',');
  if (framework === '' || clause === '') return null;
  try {
    return { framework: decodeURIComponent(framework), clause: decodeURIComponent(clause) };
  } catch {
    return null;
  }
}

function isKind(text: string): text is RecordKind {
  return KINDS.has(text);
}

function isEnvironment(text: string): text is Environment {
  return PLACES.has(text);
}

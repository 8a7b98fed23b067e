import type { AttestationRecord } from '../chain/record.ts';
import type { FactNeed } from '../frameworks/catalogue-shape.ts';
import { type EvidencePeriod, EvidenceView, type Superseding } from '../frameworks/evidence-view.ts';
import type { RecordId } from '../ids.ts';
import type { RecordedFacts } from '../api/templates.ts';
import type { JsonObject } from '../json/value.ts';

/** One point of a document: what it asks for, where that is asked, and which records say something about it. */
export interface TemplatePoint {
  readonly id: string;
  readonly title: string;
  readonly help: string;
  /** The provision that asks for the point. */
  readonly source: string;
  /** Records of these kinds and conditions; none: nothing that is recorded says anything about it. */
  readonly from: readonly Pick<FactNeed, 'anyOf' | 'facts' | 'where'>[];
}

/** A document that regimes ask for, point by point. */
export interface Template {
  readonly name: string;
  readonly version: string;
  readonly title: string;
  readonly description: string;
  /** Whether it is about one incident, and not about a system as a whole. */
  readonly isOfIncident?: true;
  readonly points: readonly TemplatePoint[];
}

/** A point with what is on record for it. */
export interface FilledPoint {
  /** Facts that are signed, a record each, the newest first; null where nothing is on record. */
  readonly value: readonly RecordedFacts[] | null;
  readonly recordIds: readonly RecordId[];
  readonly note: string;
}

const NOTHING = 'Nothing on record.';
/** Records of one point that a document names, the newest. */
const MAX_NAMED = 20;

/**
 * Fills a template from records of governance that are in force at the end of a period, or of one incident. `besides`: what
 * may replace some of them.
 */
export function fillTemplate(
  { points }: Template,
  period: EvidencePeriod,
  records: readonly AttestationRecord[],
  besides: readonly Superseding[] = [],
): Readonly<Record<string, FilledPoint>> {
  const view = new EvidenceView(period, records, [], { besides });
  return Object.fromEntries(points.map((point) => [point.id, filled(point, view)]));
}

/** JSON Schema (2020-12) of a template's document, with the help text of every point. */
export function templateSchema({ title, description, points }: Template): JsonObject {
  const properties = Object.fromEntries(
    points.map(({ id, title: pointTitle, help, source }) => [
      id,
      {
        title: pointTitle,
        description: help,
        $comment: source,
        type: 'object',
        properties: { value: { type: ['array', 'null'] }, recordIds: { type: 'array' }, note: { type: 'string' } },
        required: ['value', 'recordIds', 'note'],
      },
    ]),
  );
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title,
    description,
    type: 'object',
    properties,
    required: points.map(({ id }) => id),
    additionalProperties: false,
  };
}

function filled({ from }: TemplatePoint, view: EvidenceView): FilledPoint {
  const records = from
    .flatMap((one) => view.recordsShowing({ ...one, standing: true }))
    .toSorted((a, b) => Date.parse(b.submittedAt) - Date.parse(a.submittedAt));
  const named = [...new Map(records.map((record) => [record.id, record])).values()].slice(0, MAX_NAMED);
  if (named.length === 0) return { value: null, recordIds: [], note: NOTHING };
  const ids = named.map(({ id }) => id);
  return { value: named.map(factsOf), recordIds: ids, note: noteOf(named, ids) };
}

/** What a record says in clear. */
function factsOf({ id: attestationId, kind, submittedAt, claims }: AttestationRecord): RecordedFacts {
  const { asserted, severity, criteria, clockStart, overallRating, residualRisk, modelId, modelVersion } = claims;
  return {
    attestationId,
    kind,
    submittedAt,
    ...(severity !== undefined && { severity }),
    ...(criteria !== undefined && { criteria }),
    ...(clockStart !== undefined && { clockStart }),
    ...(overallRating !== undefined && { overallRating }),
    ...(residualRisk !== undefined && { residualRisk }),
    ...(modelId !== undefined && { modelId }),
    ...(modelVersion !== undefined && { modelVersion }),
    ...asserted,
  };
}

function noteOf(records: readonly AttestationRecord[], ids: readonly RecordId[]): string {
  const isText = records.some(({ claims: { given = [], asserted = {} } }) => given.some((name) => !(name in asserted)));
  return isText ? `Free text is in the payload of ${ids.join(', ')}, and not copied.` : 'All of it is signed in clear.';
}

import Type, { type Static } from 'typebox';
import { AssertedShape } from '../chain/asserted.ts';
import { ClaimsShape } from '../chain/claims.ts';
import { Closed, NodeIdShape, OneOf, OrNull, RecordIdShape, TimestampShape } from '../shapes.ts';
import { RECORD_KINDS } from '../statement/vocabulary.ts';
import { EXAMPLE_IDS } from './example-ids.ts';
import { TextShape } from './fields.ts';
import { IdTextShape, ObjectIdShape } from './governance-fields.ts';

/** `GET /v1/templates/:name`: with a key. */
export const TemplateQueryShape = Closed({
  /** A system of the register, by its name or the id of an entry. */
  systemId: Type.Optional(TextShape(1, 256)),
  incidentId: Type.Optional(IdTextShape),
});

const { clockStart, criteria, modelId, modelVersion, overallRating, residualRisk, severity } = ClaimsShape.properties;

/** What a record says in clear. */
const RecordedFactsShape = Closed(
  {
    attestationId: RecordIdShape,
    kind: Type.Enum([...RECORD_KINDS]),
    submittedAt: TimestampShape,
    clockStart,
    criteria,
    modelId,
    modelVersion,
    overallRating,
    residualRisk,
    severity,
    ...AssertedShape.properties,
  },
  { title: 'RecordedFacts' },
);
export type RecordedFacts = Static<typeof RecordedFactsShape>;

const PointShape = Closed(
  {
    /** Facts that are signed, a record each, the newest first. Null: nothing is on record. */
    value: OrNull(Type.Array(RecordedFactsShape)),
    recordIds: Type.Array(RecordIdShape),
    note: Type.String(),
  },
  { title: 'TemplatePoint' },
);

const PointSchemaShape = Closed(
  {
    title: Type.String(),
    /** What the point asks for. */
    description: Type.String(),
    /** The provision that asks for it. */
    $comment: Type.String(),
    type: Type.Literal('object'),
    properties: Closed({
      value: Closed({ type: Type.Array(Type.String()) }),
      recordIds: Closed({ type: Type.Literal('array') }),
      note: Closed({ type: Type.Literal('string') }),
    }),
    required: Type.Array(Type.String()),
  },
  { title: 'TemplatePointSchema' },
);

/** JSON Schema (2020-12) of a document: what those are answered who send no key. */
export const TemplateSchemaShape = Closed(
  {
    $schema: Type.Literal('https://json-schema.org/draft/2020-12/schema'),
    title: Type.String(),
    description: Type.String(),
    type: Type.Literal('object'),
    properties: Type.Record(Type.String(), PointSchemaShape),
    required: Type.Array(Type.String()),
    additionalProperties: Type.Literal(false),
  },
  { title: 'TemplateSchema' },
);

/** A document filled from what is on record at a node. */
export const TemplateAnswerShape = Closed(
  {
    success: Type.Literal(true),
    template: Type.String(),
    version: Type.String(),
    title: Type.String(),
    description: Type.String(),
    node: NodeIdShape,
    /** Day up to whose end records are looked at. */
    asOf: Type.String(),
    systemRef: OrNull(Type.String()),
    incidentId: OrNull(ObjectIdShape),
    /** The correction that stands in the place of the incident. */
    correctedBy: OrNull(ObjectIdShape),
    /** Whether there are more records of a kind than are looked at. */
    truncated: Type.Boolean(),
    points: Type.Record(Type.String(), PointShape),
  },
  { title: 'FilledTemplate' },
);

/** With a key the document, without one its schema. */
export const TemplateOrSchemaShape = OneOf(TemplateAnswerShape, TemplateSchemaShape);
export type TemplateAnswer = Static<typeof TemplateAnswerShape>;

export const TEMPLATE_EXAMPLE = {
  success: true,
  template: 'fria',
  version: '1',
  title: 'Fundamental rights impact assessment',
  description: 'The content of Art. 27(1)(a) to (f) of the EU AI Act, for deployers. No official form is taken over.',
  node: 'eu',
  asOf: '2026-11-21',
  systemRef: EXAMPLE_IDS.systemRef,
  incidentId: null,
  correctedBy: null,
  truncated: false,
  points: {
    processes: {
      value: [
        {
          attestationId: EXAMPLE_IDS.impactAssessmentRecord,
          kind: 'impact_assessment',
          submittedAt: '2026-11-21T09:30:00.000Z',
        },
      ],
      recordIds: [EXAMPLE_IDS.impactAssessmentRecord],
      note: `Free text is in the payload of ${EXAMPLE_IDS.impactAssessmentRecord}, and not copied.`,
    },
    usePeriod: { value: null, recordIds: [], note: 'Nothing on record.' },
  },
};

import Type, { type Static } from 'typebox';
import { CatalogueHeadShape, ClauseShape, FrameworkShape } from '../frameworks/catalogue-shape.ts';
import { Closed, CountShape, OrNull } from '../shapes.ts';

const { id, title, authority } = FrameworkShape.properties;
const { catalogueVersion, asOf, disclaimer, checkLegend } = CatalogueHeadShape.properties;
const { clause, requirement, evidence, appliesFrom, status, numbers, source, check } = ClauseShape.properties;

/** `GET /v1/frameworks`: what the catalogue has. */
export const FrameworksAnswerShape = Closed({
  success: Type.Literal(true),
  catalogueVersion,
  /** Day of its facts. */
  asOf,
  disclaimer,
  frameworks: Type.Array(
    Closed({
      id,
      title,
      edition: OrNull(Type.String()),
      authority,
      note: OrNull(Type.String()),
      /** Number of its clauses. */
      clauses: CountShape,
    }),
  ),
});
export type FrameworksAnswer = Static<typeof FrameworksAnswerShape>;

/** `GET /v1/frameworks/:id`: one framework, whole. */
export const FrameworkAnswerShape = Closed({
  success: Type.Literal(true),
  catalogueVersion,
  asOf,
  disclaimer,
  checkLegend,
  id,
  title,
  edition: OrNull(Type.String()),
  authority,
  note: OrNull(Type.String()),
  clauses: Type.Array(
    Closed({
      framework: id,
      clause,
      requirement,
      /** Kinds of records, and `event:` types of decisions, that can evidence it. */
      recordKinds: Type.Array(Type.String()),
      /** Fields that evidence it. */
      fields: Type.Array(Type.String()),
      /** Which fields, of which of these kinds. */
      evidence,
      appliesFrom,
      appliesNote: OrNull(Type.String()),
      status,
      statusNote: OrNull(Type.String()),
      numbers,
      source,
      /** How sure the entry is; `checkLegend` says what the letters mean. */
      check,
      /** What was read for this edition. */
      checked: OrNull(Type.String()),
      /** What a record cannot show. */
      limits: OrNull(Type.String()),
    }),
  ),
});
export type FrameworkAnswer = Static<typeof FrameworkAnswerShape>;

const HEAD = {
  success: true,
  catalogueVersion: '2026-11-21.2',
  asOf: '2026-11-21',
  disclaimer: 'Which records can evidence which clause. Evidence recorded, no determination; not legal advice.',
} as const;

export const FRAMEWORKS_EXAMPLE = {
  ...HEAD,
  frameworks: [
    {
      id: 'EU_AI_ACT',
      title: 'EU Artificial Intelligence Act',
      edition: null,
      authority: 'European Union',
      note: null,
      clauses: 26,
    },
  ],
};

export const FRAMEWORK_EXAMPLE = {
  ...HEAD,
  checkLegend: {
    V: 'primary text, official page or verbatim quotation read',
    S: 'several independent secondary sources agree',
    K: 'domain knowledge, not checked again',
  },
  id: 'EU_AI_ACT',
  title: 'EU Artificial Intelligence Act',
  edition: null,
  authority: 'European Union',
  note: null,
  clauses: [
    {
      framework: 'EU_AI_ACT',
      clause: '73(4)',
      requirement: 'death of a person',
      recordKinds: ['incident', 'event:AUTHORITY_NOTIFICATION'],
      fields: ['criteria', 'severity', 'awarenessAt', 'dataHash', 'incidentId'],
      evidence: [
        { anyOf: ['incident'], where: ['criteria=death'], fields: ['severity', 'awarenessAt'] },
        { anyOf: ['event:AUTHORITY_NOTIFICATION'], fields: ['dataHash', 'incidentId'], optional: true },
      ],
      appliesFrom: '2026-08-02',
      appliesNote: 'reaches whatever is classified as high-risk',
      status: 'in-force',
      statusNote: null,
      numbers: [{ what: 'report at latest after awareness', value: 10, unit: 'days', ref: 'Art 73(4)' }],
      source: 'Regulation (EU) 2024/1689 as amended by Regulation (EU) 2026/1744',
      check: 'V',
      checked: null,
      limits: null,
    },
  ],
};

import Type, { type Static } from 'typebox';
import {
  CatalogueHeadShape,
  ClassDatesShape,
  ClauseShape,
  EventShape,
  FrameworkShape,
} from '../frameworks/catalogue-shape.ts';
import { Closed, CountShape, OrNull } from '../shapes.ts';

const { id, title, authority } = FrameworkShape.properties;
const { catalogueVersion, asOf, disclaimer, checkLegend } = CatalogueHeadShape.properties;
const { clause, requirement, evidence, appliesFrom, status, numbers, source, check } = ClauseShape.properties;
const { needs, dutyHolder, trigger, neverChecked, checkedAt } = ClauseShape.properties;

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
      /** Which fields, of which of these kinds, under `evidence-rules/1`. */
      evidence,
      /** The same under `evidence-rules/2`. */
      needs,
      dutyHolder,
      trigger,
      /** What happens by which the duty arises. Null: it stands by itself. */
      event: OrNull(EventShape),
      appliesFromByClass: OrNull(ClassDatesShape),
      derogation: OrNull(Type.String()),
      legacyRule: OrNull(Type.String()),
      neverChecked,
      checkedAt,
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
  catalogueVersion: '2026-11-26.1',
  asOf: '2026-11-22',
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
      clauses: 61,
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
      needs: [
        {
          anyOf: ['notification'],
          where: ['to=authority|to=ai-office'],
          facts: ['sentAt', 'reportType', 'incidentId'],
        },
      ],
      dutyHolder: ['provider'],
      trigger: 'event',
      event: { anyOf: ['incident'], where: ['criteria=death'] },
      appliesFromByClass: { annexIII: '2027-12-02', annexI: '2028-08-02' },
      derogation: null,
      legacyRule: null,
      neverChecked: ['whether the report was complete and came in time: see the clocks of the incident'],
      checkedAt: '2026-11-22',
      status: 'applies-on-classification',
      statusNote: null,
      numbers: [{ what: 'report at latest after awareness', value: 10, unit: 'days', ref: 'Art 73(4)' }],
      source: 'Regulation (EU) 2024/1689 as amended by Regulation (EU) 2026/1744',
      check: 'V',
      checked: null,
      limits: null,
    },
  ],
};

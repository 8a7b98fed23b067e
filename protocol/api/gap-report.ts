import Type, { type Static } from 'typebox';
import {
  CatalogueHeadShape,
  ClassDatesShape,
  ClauseShape,
  DUTY_HOLDERS,
  FrameworkShape,
} from '../frameworks/catalogue-shape.ts';
import { EVIDENCE_STATUSES, RULE_SET_2 } from '../frameworks/evidence-status.ts';
import { SYSTEM_CLASSES } from '../frameworks/system-class.ts';
import { GAP_STATUSES } from '../frameworks/gap.ts';
import { Closed, CountShape, NodeIdShape, OrNull, RecordIdShape } from '../shapes.ts';
import { EXAMPLE_IDS } from './example-ids.ts';
import { SourceIdShape, TextShape } from './fields.ts';
import { TimeOrDayShape } from './times.ts';

/** Days that one report covers at most, and where no range is given. */
export const MAX_REPORT_DAYS = 3653;
export const DEFAULT_REPORT_DAYS = 365;
/** Events without a clause that one report lists. */
export const MAX_UNMAPPED_EVENTS = 100;

const DateShape = Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$' });
const SamplesShape = Type.Array(RecordIdShape);
const { catalogueVersion, asOf, disclaimer } = CatalogueHeadShape.properties;
const { clause, requirement, appliesFrom, status: legalStatus, numbers, source, check } = ClauseShape.properties;

/** `GET /v1/reports/gap`. A time stands for its day in UTC. */
export const GapReportQueryShape = Closed({
  framework: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
  sourceId: Type.Optional(SourceIdShape),
  from: Type.Optional(TimeOrDayShape),
  to: Type.Optional(TimeOrDayShape),
  includeTest: Type.Optional(Type.Enum(['true', 'false'])),
  systemRef: Type.Optional(TextShape(1, 256)),
  role: Type.Optional(Type.Enum([...DUTY_HOLDERS])),
});

const FoundShape = Closed({ count: CountShape, sampleIds: SamplesShape }, { title: 'FoundRecords' });

/** What `evidence-rules/2` says of a clause: what is recorded, what it rests on, and what was never checked. */
const CLAUSE_EVIDENCE = {
  evidenceStatus: Type.Enum([...EVIDENCE_STATUSES]),
  dutyHolder: ClauseShape.properties.dutyHolder,
  trigger: ClauseShape.properties.trigger,
  /** Of the needs that are not optional: those that are recorded, and all. */
  recordedNeeds: CountShape,
  requiredNeeds: CountShape,
  needs: Type.Array(
    Closed(
      {
        anyOf: Type.Array(Type.String()),
        facts: Type.Array(Type.String()),
        optional: Type.Boolean(),
        recorded: Type.Boolean(),
        /** Records that it rests on; where it is not recorded, those that are about it. */
        count: CountShape,
        sampleIds: SamplesShape,
        missing: OrNull(Type.String()),
      },
      { title: 'ClauseNeed' },
    ),
  ),
  /** What happened by which the duty arises. Null: it stands by itself. */
  events: OrNull(FoundShape),
  /** Assertions with a reason, a person and a review that is not overdue. */
  notApplicableWithReason: FoundShape,
  neverChecked: ClauseShape.properties.neverChecked,
  appliesFromByClass: OrNull(ClassDatesShape),
  derogation: OrNull(Type.String()),
  legacyRule: OrNull(Type.String()),
  /** When the row itself was last checked against its source. */
  checkedAt: DateShape,
};
const ClauseEvidenceShape = Closed(CLAUSE_EVIDENCE);
export type ClauseEvidenceAnswer = Static<typeof ClauseEvidenceShape>;

/** What is on record for each clause. Nowhere whether a clause is met. */
export const GapReportAnswerShape = Closed({
  success: Type.Literal(true),
  catalogueVersion,
  asOf,
  disclaimer,
  /** Null: all of them. */
  framework: OrNull(FrameworkShape.properties.id),
  /** Null: all sources of the account that the key reaches. */
  sourceId: OrNull(Type.String()),
  /** By which rules `evidenceStatus` is said; `status` is by those of `evidence-rules/1`. */
  ruleSet: Type.Literal(RULE_SET_2),
  /** The node whose records were looked at. */
  node: NodeIdShape,
  systemRef: OrNull(Type.String()),
  /** As the register asserts it of the system; null where no system was asked for, or it asserts none. */
  systemClass: OrNull(Type.Enum([...SYSTEM_CLASSES])),
  /** Null: of everyone. */
  role: OrNull(Type.Enum([...DUTY_HOLDERS])),
  /** Records of governance that were looked at one by one, and whether there are more. */
  listed: CountShape,
  listedTruncated: Type.Boolean(),
  /** First and last UTC day, both included. */
  from: DateShape,
  to: DateShape,
  includeTest: Type.Boolean(),
  /** Records that were counted. */
  records: CountShape,
  /** Records of test and staging that were left out. */
  excluded: Closed({ test: CountShape, staging: CountShape }),
  /** The range has more than a report looks at; what comes after `through` is not counted. */
  truncated: Type.Boolean(),
  /** Last day that is counted; null where sources were left out, or every day. */
  through: OrNull(DateShape),
  clauses: Type.Array(
    Closed({
      framework: FrameworkShape.properties.id,
      clause,
      requirement,
      status: Type.Enum([...GAP_STATUSES]),
      /** Records about the clause, by kind. */
      counts: Type.Record(Type.String(), CountShape),
      /** Up to three of each kind. */
      sampleIds: SamplesShape,
      missing: Type.Array(Type.String()),
      /** Fields that evidence the clause and stay in payloads, where no count sees them. */
      notVisible: Type.Array(Type.String()),
      /** Records by which their caller holds the clause not to apply. */
      assertedNotApplicable: Closed({ count: CountShape, sampleIds: SamplesShape }),
      appliesFrom,
      appliesNote: OrNull(Type.String()),
      legalStatus,
      numbers,
      source,
      check,
      limits: OrNull(Type.String()),
      ...CLAUSE_EVIDENCE,
    }),
  ),
  /** Events that no clause is mapped to, and assertions about clauses that the catalogue does not have. */
  unmappedEvents: Type.Array(Closed({ eventType: Type.String(), count: CountShape, sampleIds: SamplesShape })),
});
export type GapReportAnswer = Static<typeof GapReportAnswerShape>;

export const GAP_REPORT_EXAMPLE = {
  success: true,
  catalogueVersion: '2026-11-26.1',
  asOf: '2026-11-22',
  disclaimer: 'Which records can evidence which clause. Evidence recorded, no determination; not legal advice.',
  framework: 'EU_AI_ACT',
  sourceId: EXAMPLE_IDS.source,
  ruleSet: RULE_SET_2,
  node: 'eu',
  systemRef: null,
  systemClass: 'annexIII',
  role: null,
  listed: 14,
  listedTruncated: false,
  from: '2025-11-22',
  to: '2026-11-21',
  includeTest: false,
  records: 501,
  excluded: { test: 12, staging: 0 },
  truncated: false,
  through: '2026-11-21',
  clauses: [
    {
      framework: 'EU_AI_ACT',
      clause: '12(3)(a)',
      requirement: 'period of each use',
      status: 'partial',
      counts: { session_start: 1, session_end: 0 },
      sampleIds: [EXAMPLE_IDS.sessionStart],
      missing: ['no session_end'],
      notVisible: [],
      assertedNotApplicable: { count: 0, sampleIds: [] },
      appliesFrom: '2027-12-02',
      appliesNote: 'high-risk systems of Annex III; 2028-08-02 for those of Annex I',
      legalStatus: 'adopted',
      numbers: [],
      source: 'Regulation (EU) 2024/1689 as amended by Regulation (EU) 2026/1744',
      check: 'V',
      limits: null,
      evidenceStatus: 'not-yet-applicable',
      dutyHolder: ['provider'],
      trigger: 'standing',
      recordedNeeds: 1,
      requiredNeeds: 2,
      needs: [
        {
          anyOf: ['session_start'],
          facts: ['startTime'],
          optional: false,
          recorded: true,
          count: 1,
          sampleIds: [EXAMPLE_IDS.sessionStart],
          missing: null,
        },
        {
          anyOf: ['session_end'],
          facts: ['endTime'],
          optional: false,
          recorded: false,
          count: 0,
          sampleIds: [],
          missing: 'no session_end',
        },
      ],
      events: null,
      notApplicableWithReason: { count: 0, sampleIds: [] },
      neverChecked: ['that every use was recorded'],
      appliesFromByClass: { annexIII: '2027-12-02', annexI: '2028-08-02' },
      derogation: null,
      legacyRule: null,
      checkedAt: '2026-11-22',
    },
  ],
  unmappedEvents: [{ eventType: 'PRICE_CHANGE', count: 4, sampleIds: [EXAMPLE_IDS.decision] }],
};

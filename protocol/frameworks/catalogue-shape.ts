import Type, { type Static } from 'typebox';
import { Closed } from '../shapes.ts';
import { CONDITION_PATTERN } from './condition.ts';
import { EVIDENCE_KINDS } from './evidence-kinds.ts';

/** Where a law, standard or guidance stands. */
const CLAUSE_STATUSES = [
  'adopted',
  'enacted',
  'in-force',
  'applies-on-classification',
  'published',
  'voluntary',
  'guidance',
  'stayed',
  'rescinded',
] as const;

/** How sure an entry is: primary text read, secondary sources agree, or domain knowledge. */
const CHECK_MARKS = ['V', 'S', 'K'] as const;

export const DUTY_HOLDERS = [
  'provider',
  'deployer',
  'importer',
  'distributor',
  'authorised-representative',
  'product-manufacturer',
  'gpai-provider',
  'developer',
  'operator',
  'authority',
  'employer',
  'financial-institution',
  'broker-dealer',
  'investment-firm',
  'organisation',
] as const;
export type DutyHolder = (typeof DUTY_HOLDERS)[number];

const NUMBER_UNITS = [
  'years',
  'months',
  'days',
  'calendar-days',
  'business-days',
  'hours',
  'microseconds',
  'persons',
  'date',
  'immediately',
] as const;

const FRAMEWORK_ID_PATTERN = '^[A-Z][A-Z0-9_]{2,31}$';
const DATE_PATTERN = '^\\d{4}-\\d{2}-\\d{2}$';
const Text = Type.String({ minLength: 1, maxLength: 400 });
const DateShape = Type.String({ pattern: DATE_PATTERN });
const Condition = Type.String({ pattern: CONDITION_PATTERN });

/** Records that a clause asks for: one of a kind, for which every `where` holds, that shows every field. */
const NeedShape = Closed({
  anyOf: Type.Array(Type.Enum([...EVIDENCE_KINDS]), { minItems: 1, uniqueItems: true }),
  /** Which records of these kinds are about the clause; absent: all of them. */
  where: Type.Optional(Type.Array(Condition, { minItems: 1 })),
  fields: Type.Array(Condition, { uniqueItems: true }),
  /** Counted where it is recorded, and not missed where it is not: what it records need not happen. */
  optional: Type.Optional(Type.Literal(true)),
});
export type Need = Static<typeof NeedShape>;

/** The same under `evidence-rules/2`: no events of decisions, and facts that are signed. */
const FactNeedShape = Closed({
  anyOf: Type.Array(Type.Enum([...EVIDENCE_KINDS]), { minItems: 1, uniqueItems: true }),
  where: Type.Optional(Type.Array(Condition, { minItems: 1 })),
  facts: Type.Array(Condition, { minItems: 1, uniqueItems: true }),
  /** Read as of the end of a report, whenever it was recorded: the latest that nothing supersedes. */
  standing: Type.Optional(Type.Literal(true)),
  /** Not older than so many days at the end of a report, by this fact or else by the record itself. */
  maxAgeDays: Type.Optional(Type.Integer({ minimum: 1 })),
  ageFrom: Type.Optional(Type.String({ minLength: 1 })),
  optional: Type.Optional(Type.Literal(true)),
});
export type FactNeed = Static<typeof FactNeedShape>;

/** What happens by which a duty arises: records of a kind that meet every condition. */
export const EventShape = Closed(
  {
    anyOf: Type.Array(Type.Enum([...EVIDENCE_KINDS]), { minItems: 1, uniqueItems: true }),
    where: Type.Optional(Type.Array(Condition, { minItems: 1 })),
  },
  { title: 'ClauseEvent' },
);

/** First days for classes of systems. */
export const ClassDatesShape = Closed(
  { annexIII: Type.Optional(DateShape), annexI: Type.Optional(DateShape), gpai: Type.Optional(DateShape) },
  { title: 'ClassDates' },
);

const ClauseNumberShape = Closed(
  {
    what: Text,
    value: Type.Union([Type.Number({ minimum: 0 }), Type.String({ pattern: DATE_PATTERN })]),
    unit: Type.Enum([...NUMBER_UNITS]),
    ref: Text,
  },
  { title: 'ClauseNumber' },
);

export const ClauseShape = Closed({
  clause: Type.String({ minLength: 1, maxLength: 100 }),
  requirement: Text,
  evidence: Type.Array(NeedShape, { minItems: 1 }),
  /** Under `evidence-rules/2`. */
  needs: Type.Array(FactNeedShape, { minItems: 1 }),
  /** Whose duty it is. */
  dutyHolder: Type.Array(Type.Enum([...DUTY_HOLDERS]), { minItems: 1, uniqueItems: true }),
  /** `event`: the duty arises when something happens, which `event` describes. */
  trigger: Type.Enum(['standing', 'event']),
  event: Type.Optional(EventShape),
  appliesFromByClass: Type.Optional(ClassDatesShape),
  derogation: Type.Optional(Text),
  legacyRule: Type.Optional(Text),
  /** What of the clause no record can show, or nobody checks. */
  neverChecked: Type.Array(Text, { minItems: 1 }),
  checkedAt: DateShape,
  /** First day on which any of it applies; null where that day is of no interest. */
  appliesFrom: Type.Union([Type.String({ pattern: DATE_PATTERN }), Type.Null()]),
  appliesNote: Type.Optional(Text),
  status: Type.Enum([...CLAUSE_STATUSES]),
  statusNote: Type.Optional(Text),
  numbers: Type.Array(ClauseNumberShape),
  source: Text,
  check: Type.Enum([...CHECK_MARKS]),
  /** What was read for this edition of the catalogue. */
  checked: Type.Optional(Text),
  /** What a record cannot show of it. */
  limits: Type.Optional(Text),
});
export type Clause = Static<typeof ClauseShape>;

export const FrameworkShape = Closed({
  id: Type.String({ pattern: FRAMEWORK_ID_PATTERN }),
  title: Text,
  edition: Type.Optional(Text),
  authority: Text,
  note: Type.Optional(Text),
  clauses: Type.Array(ClauseShape, { minItems: 1 }),
});
export type Framework = Static<typeof FrameworkShape>;

/** What is said of the catalogue as a whole. A version, once published, never gets other content. */
export const CatalogueHeadShape = Closed({
  catalogueVersion: Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}\\.[1-9]\\d*$' }),
  asOf: Type.String({ pattern: DATE_PATTERN }),
  checkLegend: Closed({ V: Text, S: Text, K: Text }),
  disclaimer: Text,
});

export const CatalogueShape = Closed({
  ...CatalogueHeadShape.properties,
  frameworks: Type.Array(FrameworkShape, { minItems: 1 }),
});
export type Catalogue = Static<typeof CatalogueShape>;

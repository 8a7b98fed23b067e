import Type, { type Static } from 'typebox';
import { catalogue } from '../frameworks/catalogue.ts';
import { Closed, OrNull, TimestampShape } from '../shapes.ts';

/** Stands where the documented rules tell nothing: an item is never guessed to be anything. */
export const UNCLASSIFIED = 'unclassified';

export const INSTRUMENT_TYPES = [
  'law',
  'regulation',
  'guidance',
  'standard',
  'consultation',
  'enforcement',
  'court-order',
  UNCLASSIFIED,
] as const;
export type InstrumentType = (typeof INSTRUMENT_TYPES)[number];

export const REG_STATUSES = [
  'proposed',
  'adopted',
  'in-force',
  'amended',
  'postponed',
  'stayed',
  'repealed',
  'withdrawn',
  UNCLASSIFIED,
] as const;
export type RegStatus = (typeof REG_STATUSES)[number];

/** `new`: first seen. `changed`: its source says something else now. `corrected`: the operator does. */
export const CHANGE_TYPES = ['new', 'changed', 'corrected'] as const;
export type ChangeType = (typeof CHANGE_TYPES)[number];

/** A country or bloc, perhaps with a part of it (`US-CO`), or `unclassified`. */
export const JURISDICTION_PATTERN = '^(unclassified|[A-Z]{2,3}(-[A-Z0-9]{1,3})?)$';
export const REG_FRAMEWORKS: readonly string[] = [...catalogue.frameworks.map(({ id }) => id), UNCLASSIFIED];

/** Characters and entries at most. */
export const MAX_TITLE = 500;
export const MAX_SUMMARY = 1000;
export const MAX_AUTHORITY = 200;
export const MAX_CITATION = 200;
export const MAX_URL = 2000;
export const MAX_LABELS = 20;
const MAX_DATE_LABEL = 100;

export const REG_ITEM_ID_PATTERN = '^rgi_[0-9a-f]{32}$';
/** Derived from source and identity: every revision of an item has the same, on every node. */
export const RegItemIdShape = Type.String({ pattern: REG_ITEM_ID_PATTERN });

const labels = { minItems: 1, maxItems: MAX_LABELS };

/** What an item says. Titles and summaries are plain text, whatever the source wrote them in. */
export const RegContentShape = Closed({
  title: Type.String({ minLength: 1, maxLength: MAX_TITLE }),
  summary: Type.String({ maxLength: MAX_SUMMARY }),
  jurisdictions: Type.Array(Type.String({ pattern: JURISDICTION_PATTERN }), labels),
  frameworks: Type.Array(Type.Enum([...REG_FRAMEWORKS]), labels),
  authority: Type.String({ minLength: 1, maxLength: MAX_AUTHORITY }),
  instrumentType: Type.Enum([...INSTRUMENT_TYPES]),
  status: Type.Enum([...REG_STATUSES]),
  citation: OrNull(Type.String({ minLength: 1, maxLength: MAX_CITATION })),
  /** A source that gives only a day is taken at its midnight in UTC. Null: it gives no date. */
  publishedAt: OrNull(TimestampShape),
  effectiveAt: OrNull(TimestampShape),
  keyDates: Type.Array(
    Closed({
      date: Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$' }),
      label: Type.String({ minLength: 1, maxLength: MAX_DATE_LABEL }),
    }),
    { maxItems: MAX_LABELS },
  ),
  sourceUrl: OrNull(Type.String({ pattern: '^https?://', maxLength: MAX_URL })),
});
export type RegContent = Readonly<Static<typeof RegContentShape>>;

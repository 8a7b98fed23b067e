import Type, { type Static } from 'typebox';
import { catalogue } from '../frameworks/catalogue.ts';
import { Closed, OrNull, TimestampShape } from '../shapes.ts';
import {
  INSTRUMENT_TYPES,
  JURISDICTION_PATTERN,
  MAX_AUTHORITY,
  MAX_CITATION,
  MAX_LABELS,
  MAX_SUMMARY,
  MAX_TITLE,
  MAX_URL,
  REG_ITEM_ID_PATTERN,
  REG_STATUSES,
  UNCLASSIFIED,
} from './regwatch-words.ts';

/** Ids of the catalogue, and `unclassified`. */
export const REG_FRAMEWORKS: readonly string[] = [...catalogue.frameworks.map(({ id }) => id), UNCLASSIFIED];

const MAX_DATE_LABEL = 100;

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

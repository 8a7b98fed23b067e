import Type, { type Static } from 'typebox';
import { SERVICES } from '../payments/prices.ts';
import { Closed, CountShape, CursorShape, OrNull, RecordIdShape, Sha256Shape, TimestampShape } from '../shapes.ts';
import { EXAMPLE_HASH, EXAMPLE_IDS, EXAMPLE_SUBMITTED_AT } from './example-ids.ts';
import { PaidShape, paidTailExample } from './paid-answer.ts';
import { REG_FRAMEWORKS, RegContentShape, RegItemIdShape } from './regwatch-item.ts';
import { TimeOrDayShape } from './times.ts';
import { CHANGE_TYPES, JURISDICTION_PATTERN, REG_STATUSES } from './regwatch-words.ts';

/** Items of one page, where no number is asked for and at most. */
export const DEFAULT_REGWATCH_PAGE = 50;
export const MAX_REGWATCH_PAGE = 100;
const MAX_LIST = 400;

const JURISDICTION = JURISDICTION_PATTERN.slice(1, -1);
const FRAMEWORK = `(${REG_FRAMEWORKS.join('|')})`;

/** `GET /v1/x402/regwatch-feed`. */
export const RegwatchQueryShape = Closed({
  since: Type.Optional(TimeOrDayShape),
  until: Type.Optional(TimeOrDayShape),
  jurisdiction: Type.Optional(Type.String({ pattern: `^${JURISDICTION}(,${JURISDICTION})*$`, maxLength: MAX_LIST })),
  framework: Type.Optional(Type.String({ pattern: `^${FRAMEWORK}(,${FRAMEWORK})*$`, maxLength: MAX_LIST })),
  status: Type.Optional(Type.Enum([...REG_STATUSES])),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_REGWATCH_PAGE })),
  cursor: Type.Optional(CursorShape),
});

const ItemShape = Closed(
  {
    itemId: RegItemIdShape,
    /** Written for trying this out: it tells of nothing that happened. */
    sample: Type.Boolean(),
    ...RegContentShape.properties,
    /** Of the document that the item was read in; of what an operator wrote, its canonical text. */
    sourceHash: Sha256Shape,
    /** The record of the revision that this one stands in the place of. */
    supersedes: Type.Array(RecordIdShape),
    changeType: Type.Enum([...CHANGE_TYPES]),
    ingestedAt: TimestampShape,
    /** The record that attests this item. */
    attestationId: RecordIdShape,
  },
  { title: 'RegwatchItem' },
);
export type RegwatchItem = Static<typeof ItemShape>;

const PAGE = {
  items: Type.Array(ItemShape, { maxItems: MAX_REGWATCH_PAGE }),
  count: CountShape,
  /** Null on the last page. */
  nextCursor: OrNull(Type.String()),
  /** SHA-256 of the RFC 8785 text of `items`. */
  feedHash: Sha256Shape,
  generatedAt: TimestampShape,
};
const PageShape = Closed(PAGE);
export type RegwatchPage = Static<typeof PageShape>;

/** A page that found nothing in all that it looked at, and leads on, is not charged, and not recorded. */
export const RegwatchAnswerShape = Type.Union([
  PaidShape(PAGE),
  Closed({
    success: Type.Literal(true),
    ...PAGE,
    items: Type.Array(ItemShape, { maxItems: 0 }),
    nextCursor: Type.String(),
    charged: Type.Literal(false),
  }),
]);

export const REGWATCH_EXAMPLE = {
  success: true,
  items: [
    {
      itemId: 'rgi_38ff0a32b5fc165f568fe3d28c81a471',
      sample: false,
      title:
        'Regulation (EU) 2026/1744 of the European Parliament and of the Council amending Regulation (EU) 2024/1689',
      summary: '',
      jurisdictions: ['EU'],
      frameworks: ['EU_AI_ACT'],
      authority: 'European Parliament and Council',
      instrumentType: 'regulation',
      status: 'adopted',
      citation: 'CELEX 32026R1744',
      publishedAt: '2026-07-23T22:00:00.000Z',
      effectiveAt: null,
      keyDates: [{ date: '2026-07-24', label: 'published' }],
      sourceUrl: 'https://eur-lex.europa.eu/legal-content/AUTO/?uri=CELEX:32026R1744',
      sourceHash: EXAMPLE_HASH,
      supersedes: [],
      changeType: 'new',
      ingestedAt: EXAMPLE_SUBMITTED_AT,
      attestationId: EXAMPLE_IDS.decision,
    },
  ],
  count: 1,
  nextCursor: null,
  feedHash: EXAMPLE_HASH,
  generatedAt: EXAMPLE_SUBMITTED_AT,
  ...paidTailExample(SERVICES['regwatch-feed'].usd),
} as const;

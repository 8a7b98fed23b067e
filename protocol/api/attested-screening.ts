import Type, { type Static } from 'typebox';
import { SCREENING_DISCLAIMER } from '../screening/disclaimer.ts';
import { INSIDE_WORDS, NORMALIZATION } from '../screening/name-key.ts';
import { Closed, CountShape, OrNull, Sha256Shape, TimestampShape } from '../shapes.ts';
import { WarningsShape } from './envelope.ts';
import { EXAMPLE_HASH, EXAMPLE_SUBMITTED_AT } from './example-ids.ts';
import { TextShape } from './fields.ts';
import { PaidShape, paidTailExample } from './paid-answer.ts';
import { EXAMPLE_SALT, SaltShape } from './paid-tiered-attest.ts';

/** Bounds on a name without the white space around it. In code points. */
export const MIN_NAME = 2;
export const MAX_NAME = 500;
/** Bound on a name with it. */
export const MAX_GIVEN_NAME = 600;
const MAX_QUERY_ID = 128;
const MATCH_TYPES = ['exact', 'substring'] as const;

/** `POST /v1/x402/attested-screening` (api-rules §4.1). Closed: what would not be acted on is refused. */
export const ScreeningRequestShape = Closed({
  name: TextShape(MIN_NAME, MAX_GIVEN_NAME),
  queryId: Type.Optional(TextShape(1, MAX_QUERY_ID)),
});
export type ScreeningRequest = Static<typeof ScreeningRequestShape>;

const ScreeningMatchShape = Closed({
  entryId: Type.String(),
  name: Type.String({ description: 'Title of the entry.' }),
  matchedOn: Type.Enum(['primary', 'strong-alias', 'weak-alias', 'original-script', 'reordered'], {
    description:
      'What the name that was found is to the entry. `reordered`: "Given SURNAME Jr." of an individual ' +
      'whom OFAC names "SURNAME, Given, Jr.".',
  }),
  matchedName: Type.String({ description: 'The name that was found, as the list writes it, or turned round.' }),
  matchType: Type.Enum([...MATCH_TYPES]),
  entryType: Type.Enum(['individual', 'entity', 'vessel', 'aircraft', 'unknown']),
  programs: Type.Array(Type.String()),
  remarks: Type.Optional(Type.String({ description: 'Cut after 300 characters.' })),
});

const ScreenedListShape = Closed({
  listId: Type.String(),
  authority: Type.String(),
  title: Type.String(),
  entryCount: CountShape,
  fileHash: Sha256Shape,
  fileDate: OrNull(Type.String()),
  retrievedAt: TimestampShape,
  stale: Type.Boolean({
    description:
      'Last compared with its source, or imported by hand, more than 48 hours ago. `fileDate` is the day of its files.',
  }),
  sample: Type.Boolean({ description: 'Made-up entries, to try things out with; never a real list.' }),
  result: Type.Enum(['match', 'no-match']),
  matchCount: CountShape,
  matches: Type.Array(ScreeningMatchShape, { maxItems: 50 }),
  truncated: Type.Boolean({ description: 'Whether there are more matches than are given.' }),
});

export const ScreeningAnswerShape = PaidShape({
  queryId: OrNull(Type.String()),
  queryHash: Sha256Shape,
  salt: SaltShape,
  screenedAt: TimestampShape,
  result: Type.Enum(['match', 'no-match']),
  matchCount: CountShape,
  matchMethod: Closed({
    normalization: Type.Literal(NORMALIZATION),
    insideWords: Closed(
      { listed: Type.Literal(INSIDE_WORDS.listed), asked: Type.Literal(INSIDE_WORDS.asked) },
      {
        description:
          'What becomes, beside `normalization`, of signs between letters, in a listed name and in the one that is ' +
          'asked. Records of answers from before have no such member: there apostrophes and quotes were nothing, all ' +
          'other signs a space.',
      },
    ),
    rules: Type.Array(Type.Enum([...MATCH_TYPES])),
  }),
  totalEntries: CountShape,
  sample: Type.Boolean({ description: 'Whether any of the lists is a sample.' }),
  lists: Type.Array(ScreenedListShape),
  disclaimer: Type.Literal(SCREENING_DISCLAIMER),
  warnings: WarningsShape,
});

export const SCREENING_EXAMPLE = {
  request: { name: 'Northwind Shadow Trading LLC', queryId: 'onboarding-2291' },
  answer: {
    success: true,
    queryId: 'onboarding-2291',
    queryHash: EXAMPLE_HASH,
    salt: EXAMPLE_SALT,
    screenedAt: EXAMPLE_SUBMITTED_AT,
    result: 'match',
    matchCount: 1,
    matchMethod: { normalization: NORMALIZATION, insideWords: INSIDE_WORDS, rules: ['exact', 'substring'] },
    totalEntries: 31_201,
    sample: false,
    lists: [
      {
        listId: 'us-ofac-sdn',
        authority: 'US Department of the Treasury, Office of Foreign Assets Control',
        title: 'Specially Designated Nationals and Blocked Persons List',
        entryCount: 14_973,
        fileHash: EXAMPLE_HASH,
        fileDate: '2026-11-20',
        retrievedAt: '2026-11-21T06:00:00.000Z',
        stale: false,
        sample: false,
        result: 'match',
        matchCount: 1,
        matches: [
          {
            entryId: '90001',
            name: 'NORTHWIND SHADOW TRADING L.L.C.',
            matchedOn: 'strong-alias',
            matchedName: 'Northwind Shadow Trading LLC',
            matchType: 'exact',
            entryType: 'entity',
            programs: ['SDGT'],
          },
        ],
        truncated: false,
      },
    ],
    disclaimer: SCREENING_DISCLAIMER,
    warnings: [],
    ...paidTailExample('0.01'),
  },
};

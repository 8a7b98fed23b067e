import Type, { type Static } from 'typebox';
import { idPattern } from '../ids.ts';
import { Closed, CountShape, OrNull, TimestampShape } from '../shapes.ts';
import { EXAMPLE_IDS, EXAMPLE_SUBMITTED_AT } from './example-ids.ts';
import { TextShape } from './fields.ts';
import { OWNER, PersonIdShape } from './people.ts';

const MAX_NAME = 100;
/** Second factors of one person, and the codes that stand in for a lost one. */
export const MAX_SECOND_FACTORS = 5;
export const RECOVERY_CODES = 10;
/** Longest text that is taken for a code of an authenticator app, or a recovery code. */
export const MAX_CODE_CHARACTERS = 64;
/** How often a code is tried by one mailed link. */
export const MAX_CODE_TRIES = 5;

export const SecondFactorHolderShape = Type.Union([Type.Literal(OWNER), PersonIdShape], {
  title: 'SecondFactorHolder',
  description: 'The id of a person, or `owner`: whoever reads the mail of the account’s own address.',
});

export type SecondFactorId = string & { readonly __brand: 'SecondFactorId' };
const SECOND_FACTOR_ID_PATTERN = idPattern('sfa');
export const SecondFactorIdShape = Type.Unsafe<SecondFactorId>(Type.String({ pattern: SECOND_FACTOR_ID_PATTERN }));

const SECOND_FACTOR_ID = new RegExp(SECOND_FACTOR_ID_PATTERN);

export function isSecondFactorId(text: string): text is SecondFactorId {
  return SECOND_FACTOR_ID.test(text);
}

/** What a sign-in was made with beside its mail. */
export const SECOND_FACTOR_KINDS = ['passkey', 'recovery-code', 'totp'] as const;
export type SecondFactorKind = (typeof SECOND_FACTOR_KINDS)[number];

export const SecondFactorNameShape = TextShape(1, MAX_NAME);

const SecondFactorShape = Closed(
  {
    secondFactorId: SecondFactorIdShape,
    kind: Type.Enum(['passkey', 'totp']),
    name: SecondFactorNameShape,
    createdAt: TimestampShape,
    lastUsedAt: OrNull(TimestampShape),
  },
  { title: 'SecondFactor' },
);

const HolderShape = Closed(
  {
    holder: SecondFactorHolderShape,
    /** The oldest first. */
    factors: Type.Array(SecondFactorShape),
    /** Codes that are good once in the place of a lost factor. */
    recoveryCodesLeft: CountShape,
  },
  { title: 'SecondFactorsOfOne' },
);
export type SecondFactorsAnswer = Readonly<Static<typeof HolderShape>>;

const success = Type.Literal(true);

/** `GET /v1/second-factors`. */
export const SecondFactorListShape = Closed({ success, items: Type.Array(HolderShape) });
/** `DELETE /v1/second-factors/:holder`. */
export const RemovedSecondFactorsShape = Closed({ success, holder: SecondFactorHolderShape });

export const SECOND_FACTORS_EXAMPLE = {
  list: {
    success: true,
    items: [
      {
        holder: EXAMPLE_IDS.person,
        factors: [
          {
            secondFactorId: EXAMPLE_IDS.secondFactor,
            kind: 'totp',
            name: 'Telephone',
            createdAt: EXAMPLE_SUBMITTED_AT,
            lastUsedAt: null,
          },
        ],
        recoveryCodesLeft: RECOVERY_CODES,
      },
    ],
  },
  removed: { success: true, holder: EXAMPLE_IDS.person },
};

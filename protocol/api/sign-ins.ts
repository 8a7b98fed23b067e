import Type, { type Static } from 'typebox';
import { idPattern } from '../ids.ts';
import { Closed, OrNull, TimestampShape } from '../shapes.ts';
import { EXAMPLE_IDS, EXAMPLE_SUBMITTED_AT } from './example-ids.ts';
import { SECOND_FACTOR_KINDS, SecondFactorHolderShape } from './second-factors.ts';

/** How long somebody stays signed in at most. In hours. */
export const SIGN_IN_HOURS = 12;

/** `sin_eu_01J…`: names a sign-in and says nothing about its secret. */
export type SignInId = string & { readonly __brand: 'SignInId' };
const SIGN_IN_ID_PATTERN = idPattern('sin');
export const SignInIdShape = Type.Unsafe<SignInId>(Type.String({ pattern: SIGN_IN_ID_PATTERN }));

const SIGN_IN_ID = new RegExp(SIGN_IN_ID_PATTERN);

export function isSignInId(text: string): text is SignInId {
  return SIGN_IN_ID.test(text);
}

/** Somebody who is signed in at the console. */
export const SignInShape = Closed(
  {
    signInId: SignInIdShape,
    /** Id of the API key that it was made with: it may do what that key may, and ends with it. */
    by: Type.String(),
    /** Who came by a mailed link; null: the key itself was shown. */
    holder: OrNull(SecondFactorHolderShape),
    /** What was shown beside the link. */
    secondFactor: OrNull(Type.Enum([...SECOND_FACTOR_KINDS])),
    /** Where it was made from. */
    address: Type.String(),
    createdAt: TimestampShape,
    expiresAt: TimestampShape,
  },
  { title: 'SignIn' },
);
export type SignInAnswer = Readonly<Static<typeof SignInShape>>;

/** `GET /v1/sign-ins`: the newest first. */
export const SignInsAnswerShape = Closed({ success: Type.Literal(true), signIns: Type.Array(SignInShape) });
/** `DELETE /v1/sign-ins/:id`. */
export const EndedSignInAnswerShape = Closed({ success: Type.Literal(true), signInId: SignInIdShape });

export const SIGN_INS_EXAMPLE = {
  list: {
    success: true,
    signIns: [
      {
        signInId: EXAMPLE_IDS.signIn,
        by: EXAMPLE_IDS.key,
        holder: EXAMPLE_IDS.person,
        secondFactor: 'totp',
        address: '203.0.113.7',
        createdAt: EXAMPLE_SUBMITTED_AT,
        expiresAt: '2026-11-22T00:00:00.000Z',
      },
    ],
  },
  ended: { success: true, signInId: EXAMPLE_IDS.signIn },
};

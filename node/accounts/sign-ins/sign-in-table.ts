import { createHmac, hash, randomBytes } from 'node:crypto';
import Type, { type Static } from 'typebox';
import { SECOND_FACTOR_KINDS, SecondFactorHolderShape } from '../../../protocol/api/second-factors.ts';
import { isSignInId, type SignInAnswer, type SignInId, SignInIdShape } from '../../../protocol/api/sign-ins.ts';
import type { NodeId } from '../../../protocol/ids.ts';
import { Closed, TimestampShape } from '../../../protocol/shapes.ts';
import { freshId } from '../../records/record-id.ts';
import type { Operation } from '../../store/operation.ts';
import { jsonTable, Table, textCodec } from '../../store/table.ts';
import { KeyIdShape } from '../key-id.ts';

const SECRET_BYTES = 32;
const SECRET = /^[A-Za-z0-9_-]{43}$/;

const SignInRowShape = Closed({
  id: SignInIdShape,
  account: Type.String(),
  /** The API key that it was made with: it may do what that key may now, and ends with it. */
  key: KeyIdShape,
  /** Who came by a mailed link, and what they showed beside it. Absent: the key itself was shown. */
  holder: Type.Optional(SecondFactorHolderShape),
  secondFactor: Type.Optional(Type.Enum([...SECOND_FACTOR_KINDS])),
  address: Type.String(),
  createdAt: TimestampShape,
  expiresAt: TimestampShape,
});
/** What is known of somebody who is signed in. The secret is nowhere: rows stand under its digest. */
export type SignIn = Readonly<Static<typeof SignInRowShape>>;

/** (SHA-256 of a sign-in's secret, hex) → whose it is, and until when. */
export const signInTable = jsonTable('sign-in', SignInRowShape);
/** (account id, sign-in id) → SHA-256 of the secret, hex. */
export const accountSignInTable = new Table('account-sign-in', textCodec);

/** A sign-in and the digest that its row stands under. */
export interface HeldSignIn {
  readonly digest: string;
  readonly signIn: SignIn;
}

/** A fresh id of this moment. */
export function newSignInId(node: NodeId, epochMilliseconds: number): SignInId {
  return freshId('sin', node, epochMilliseconds, isSignInId);
}

/** A fresh secret: 256 random bits, base64url. */
export function newSignInSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url');
}

export function isSignInSecret(text: string): boolean {
  return SECRET.test(text);
}

/** SHA-256 of a sign-in's secret, hex: all that is kept of it. */
export function signInDigest(secret: string): string {
  return hash('sha256', `meridian/sign-in/1\0${secret}`, 'hex');
}

/** What the forms of a sign-in send beside its cookie: nobody derives it who has not the secret. */
export function formToken(secret: string): string {
  return createHmac('sha256', secret).update('meridian/form/1').digest('base64url');
}

/** The rows of a sign-in, for one atomic write. */
export function signInOperations({ digest, signIn }: HeldSignIn): Operation[] {
  return [signInTable.put([digest], signIn), accountSignInTable.put([signIn.account, signIn.id], digest)];
}

/** What takes those rows away. */
export function signInRemoval({ digest, signIn }: HeldSignIn): Operation[] {
  return [signInTable.del(digest), accountSignInTable.del(signIn.account, signIn.id)];
}

/** A sign-in as its account sees it. */
export function signInAnswer({ id, key, holder, secondFactor, address, createdAt, expiresAt }: SignIn): SignInAnswer {
  const shown = { holder: holder ?? null, secondFactor: secondFactor ?? null };
  return { signInId: id, by: key, ...shown, address, createdAt, expiresAt };
}

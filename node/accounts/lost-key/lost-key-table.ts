import { hash, randomBytes } from 'node:crypto';
import Type, { type Static } from 'typebox';
import { PersonIdShape } from '../../../protocol/api/people.ts';
import { Closed, CountShape, TimestampShape } from '../../../protocol/shapes.ts';
import { jsonTable } from '../../store/table.ts';

/** How long a link works. In milliseconds. */
export const LINK_MS = 900_000;

const TOKEN_BYTES = 32;

const LostKeyShape = Closed({
  account: Type.String(),
  expiresAt: TimestampShape,
  /** Absent: it replaces lost keys. */
  purpose: Type.Optional(Type.Literal('sign-in')),
  /** Who signs in, where it is not the owner of the account. */
  person: Type.Optional(PersonIdShape),
  /** Codes and passkeys that were shown beside it. */
  tries: Type.Optional(CountShape),
});
/** Whose keys a link replaces, or who signs in by it, and until when. */
export type LostKeyRow = Readonly<Static<typeof LostKeyShape>>;

/** (SHA-256 of a link's token, hex) → what the link is good for. The token itself stands in the mail alone. */
export const lostKeyTable = jsonTable('lost-key', LostKeyShape);

/** What a mailed link is for. */
export type LinkPurpose = 'lost-key' | 'sign-in';

/** A fresh token: 256 random bits, base64url. */
export function newToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url');
}

/** SHA-256 of a token, hex: all that is kept of it. */
export function tokenDigest(token: string): string {
  return hash('sha256', `meridian/lost-key/1\0${token}`, 'hex');
}

/** Whether a link has ended at a moment (epoch milliseconds). */
export function hasExpired({ expiresAt }: LostKeyRow, now: number): boolean {
  return Date.parse(expiresAt) <= now;
}

import { hash, randomBytes } from 'node:crypto';
import Type, { type Static } from 'typebox';
import type { ShareAnswer } from '../../../protocol/api/shares.ts';
import { Closed, OrNull, RecordIdShape, TimestampShape } from '../../../protocol/shapes.ts';
import { jsonTable, Table, textCodec } from '../../store/table.ts';

const TOKEN_BYTES = 32;

const ShareShape = Closed({
  id: Type.String(),
  account: Type.String(),
  record: RecordIdShape,
  /** Of the record: which keys see the link goes by them. */
  sourceId: Type.String(),
  submittedAt: TimestampShape,
  disclosure: Type.Boolean(),
  label: OrNull(Type.String()),
  /** Id of the API key that made it. */
  madeBy: Type.String(),
  /** SHA-256 of its token, hex. */
  digest: Type.String(),
  createdAt: TimestampShape,
  expiresAt: TimestampShape,
  revokedAt: OrNull(TimestampShape),
});
/** A link to one record. Its token is in the answer that made it alone. */
export type Share = Readonly<Static<typeof ShareShape>>;

/** (account, share id) → the link. */
export const shareTable = jsonTable('share', ShareShape);
/** (SHA-256 of a link's token, hex) → account and share id, separated by a slash. */
export const shareTokenTable = new Table('share-token', textCodec);

/** A fresh token: 256 random bits, base64url. */
export function newShareToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url');
}

/** SHA-256 of a token, hex: all that is kept of it. */
export function shareDigest(token: string): string {
  return hash('sha256', `meridian/share/1\0${token}`, 'hex');
}

/** What a link is worth at a moment (epoch milliseconds). */
export function shareStatus({ revokedAt, expiresAt }: Share, now: number): ShareAnswer['status'] {
  if (revokedAt !== null) return 'revoked';
  return Date.parse(expiresAt) <= now ? 'expired' : 'active';
}

import { createHmac, hash, randomBytes } from 'node:crypto';
import Type, { type Static } from 'typebox';
import {
  type ShareAnswer,
  type ShareId,
  ShareIdShape,
  isShareId,
  type ShareStatus,
} from '../../../protocol/api/shares.ts';
import type { NodeId } from '../../../protocol/ids.ts';
import { Closed, CountShape, OrNull, RecordIdShape, TimestampShape } from '../../../protocol/shapes.ts';
import { freshId } from '../../records/record-id.ts';
import type { Operation } from '../../store/operation.ts';
import { jsonTable, Table, textCodec } from '../../store/table.ts';
import { KeyIdShape } from '../key-id.ts';

const TOKEN_BYTES = 32;

const ShareShape = Closed({
  id: ShareIdShape,
  account: Type.String(),
  /** The record whose bundle it gives, its source, and when it was submitted. */
  record: RecordIdShape,
  sourceId: Type.String(),
  submittedAt: TimestampShape,
  /** The API key that made it: it gives what that key may have, and ends with it. */
  key: KeyIdShape,
  disclosure: Type.Boolean(),
  linked: Type.Boolean(),
  label: OrNull(Type.String()),
  createdAt: TimestampShape,
  expiresAt: TimestampShape,
  revokedAt: OrNull(TimestampShape),
  uses: CountShape,
  lastUsedAt: OrNull(TimestampShape),
  /** Of a request with an `Idempotency-Key`: hashes of that key, and of the request. */
  once: Type.Optional(Closed({ key: Type.String(), request: Type.String() })),
});
/** What is known of a link. Its secret is nowhere: rows stand under its digest. */
export type Share = Readonly<Static<typeof ShareShape>>;

/** (SHA-256 of a link's secret, hex) → what it gives, whose it is, and until when. */
export const shareTable = jsonTable('share', ShareShape);
/** (account id, share id) → SHA-256 of the link's secret, hex. */
export const accountShareTable = new Table('account-share', textCodec);

/** A link and the digest that its row stands under. */
export interface HeldShare {
  readonly digest: string;
  readonly share: Share;
}

/** A fresh id of this moment. */
export function newShareId(node: NodeId, epochMilliseconds: number): ShareId {
  return freshId('shr', node, epochMilliseconds, isShareId);
}

/** A fresh secret: 256 random bits, base64url. */
export function newShareToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url');
}

/**
 * The secret of a link that was asked for with an `Idempotency-Key`: the same for the same request, so that it can be
 * answered twice and stored never. Nobody derives it without the node's key file and the caller's key, of which the
 * store has neither.
 */
export function derivedShareToken(payloadKey: Uint8Array, id: ShareId, idempotencyKey: string): string {
  const secret = createHmac('sha256', payloadKey).update('meridian/share/1\0').digest();
  return createHmac('sha256', secret).update(id).update('\0').update(idempotencyKey).digest('base64url');
}

/** SHA-256 of a link's secret, hex: all that is kept of it. */
export function shareDigest(token: string): string {
  return hash('sha256', `meridian/share/1\0${token}`, 'hex');
}

/** What a link is worth at a moment (epoch milliseconds), by its own row and by whether its key is in force. */
export function shareStatus({ revokedAt, expiresAt }: Share, isKeyInForce: boolean, now: number): ShareStatus {
  if (revokedAt !== null) return 'revoked';
  if (Date.parse(expiresAt) <= now) return 'expired';
  return isKeyInForce ? 'active' : 'key-ended';
}

/** The rows of a link, for one atomic write. */
export function shareOperations({ digest, share }: HeldShare): Operation[] {
  return [shareTable.put([digest], share), accountShareTable.put([share.account, share.id], digest)];
}

/** What takes those rows away. */
export function shareRemoval({ digest, share }: HeldShare): Operation[] {
  return [shareTable.del(digest), accountShareTable.del(share.account, share.id)];
}

/** A link as its account sees it. */
export function shareAnswer(share: Share, status: ShareStatus): ShareAnswer {
  const { id, record, key, disclosure, linked, label, createdAt, expiresAt, revokedAt, uses, lastUsedAt } = share;
  const given = { shareId: id, attestationId: record, status, disclosure, linked, label, madeBy: key };
  return { ...given, createdAt, expiresAt, revokedAt, uses, lastUsedAt };
}

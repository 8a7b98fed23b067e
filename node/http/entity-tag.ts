import { createHash } from 'node:crypto';

/** Caches ask each time whether it is still the same: it changes as the node is started again, or moves. */
export const ASKED_AGAIN = { 'Cache-Control': 'public, no-cache' };

/** A body that a route keeps, and what it is known by, computed once. */
export interface HeldBody {
  readonly body: Uint8Array;
  /** `bodyHash` of it. */
  readonly bodyHash: string;
}

/** Bytes of SHA-256 that a validator is made of: nobody finds two bodies with the same. */
const HASH_BYTES = 24;
const LISTED_TAG = /(?:W\/)?("[\x21\x23-\x7e]*")/g;

/** What a body is known by: of its bytes as they are, before any compression. */
export function bodyHash(body: Uint8Array): string {
  return createHash('sha256').update(body).digest().subarray(0, HASH_BYTES).toString('base64url');
}

/** A text as it is sent, for a route that keeps it. */
export function heldBody(text: string): HeldBody {
  const body = Buffer.from(text);
  return { body, bodyHash: bodyHash(body) };
}

/**
 * `ETag` of a body in an encoding; null: as it is. Strong (RFC 9110 §8.8.3): the same one means the same bytes, so each
 * encoding has its own.
 */
export function entityTag(hash: string, encoding: string | null): string {
  return encoding === null ? `"${hash}"` : `"${hash}-${encoding}"`;
}

/**
 * The `ETag` under which a caller with this `If-None-Match` holds a body, in whichever of these encodings; null where
 * it does not. `*` is whatever there is.
 */
export function heldTag(ifNoneMatch: string, hash: string, encodings: readonly string[]): string | null {
  if (ifNoneMatch.trim() === '*') return entityTag(hash, null);
  const tags = new Set([null, ...encodings].map((encoding) => entityTag(hash, encoding)));
  for (const [, listed = ''] of ifNoneMatch.matchAll(LISTED_TAG)) if (tags.has(listed)) return listed;
  return null;
}

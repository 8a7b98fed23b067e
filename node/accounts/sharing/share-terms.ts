import { DEFAULT_SHARE_DAYS, MAX_SHARE_DAYS, type ShareRequest } from '../../../protocol/api/shares.ts';
import { readRfc3339, type Timestamp, TimeError, timestampOf } from '../../../protocol/time.ts';
import { AccountError } from '../account-error.ts';

export const DAY_MS = 86_400_000;

/**
 * When a new link ends. `now` and `keyEndsAt`, the end of the key that asks, are in epoch milliseconds. Throws
 * `AccountError` `terms-invalid`, or `beyond-maker` where it would outlive the key.
 */
export function shareEnd(
  { expiresInDays, expiresAt }: Pick<ShareRequest, 'expiresInDays' | 'expiresAt'>,
  keyEndsAt: number,
  now: number,
): Timestamp {
  if (expiresInDays !== undefined && expiresAt !== undefined) {
    throw new AccountError('terms-invalid', 'stands beside expiresInDays; one of the two is enough', 'expiresAt');
  }
  // The least that is asked for is cut at the end of the key: nobody asked for more.
  if (expiresInDays === undefined && expiresAt === undefined) {
    return timestampOf(Math.min(now + DEFAULT_SHARE_DAYS * DAY_MS, keyEndsAt));
  }
  const field = expiresAt === undefined ? 'expiresInDays' : 'expiresAt';
  const end = expiresAt === undefined ? now + (expiresInDays ?? 0) * DAY_MS : momentOf(expiresAt);
  if (end <= now) throw new AccountError('terms-invalid', 'has passed', field);
  if (end > now + MAX_SHARE_DAYS * DAY_MS) {
    throw new AccountError('terms-invalid', `is more than ${MAX_SHARE_DAYS} days ahead`, field);
  }
  if (end > keyEndsAt) throw new AccountError('beyond-maker', 'the key that asks ends before that itself', field);
  return timestampOf(end);
}

function momentOf(text: string): number {
  try {
    return readRfc3339(text);
  } catch (error) {
    if (!(error instanceof TimeError)) throw error;
    throw new AccountError('terms-invalid', 'must be an RFC 3339 time', 'expiresAt');
  }
}

import type { Logger } from 'pino';
import type { Timestamp } from '../../protocol/time.ts';
import { TimeSlices } from '../concurrency/time-slices.ts';
import type { Store } from '../store/store.ts';
import { apiKeyTable, keyState } from './api-key.ts';

/**
 * How many API keys of this node's accounts are in force at `now`, in epoch milliseconds, and as old as a copy of the
 * store: what was done to them since is not known to it, so one that was revoked is in force again.
 */
export async function countCopiedKeys(store: Store, copiedAt: Timestamp, now: number): Promise<number> {
  let count = 0;
  const slices = new TimeSlices();
  for await (const [, key] of apiKeyTable.under(store, [])) {
    if (slices.isOver) await slices.rest();
    if (Date.parse(key.createdAt) <= Date.parse(copiedAt) && keyState(key, now) === 'active') count++;
  }
  return count;
}

/** Tells the operator of a store that starts as a copy how many such keys there are. */
export async function tellCopiedKeys(
  store: Store,
  copiedAt: Timestamp,
  { now, log }: { readonly now: () => number; readonly log: Pick<Logger, 'warn'> },
): Promise<void> {
  const keys = await countCopiedKeys(store, copiedAt, now());
  if (keys === 0) return;
  log.warn(
    { keys, copiedAt },
    'THE API KEYS ARE THOSE OF A COPY OF THE STORE: keys that were revoked or rotated since are in force again, until you revoke them',
  );
}

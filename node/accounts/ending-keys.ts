import { TimeSlices } from '../concurrency/time-slices.ts';
import type { Reads } from '../store/store.ts';
import { type ApiKey, apiKeyTable, keyState } from './api-key.ts';

/** Rows that one look reads at most. */
const MAX_LOOKED_AT = 50_000;
const DAY_MS = 86_400_000;

export interface EndingKeys {
  /** The soonest first. */
  readonly keys: readonly ApiKey[];
  /** Whether all keys were looked at. */
  readonly isWhole: boolean;
}

/**
 * Whether a key in force ends within a time of `now` (milliseconds), and is missed then: not that of a sign-in by mail,
 * which nobody has the text of, and none that has another in its place.
 */
export function isEnding(key: ApiKey, now: number, within: number): boolean {
  const isMissed = key.signIn !== true && key.replacedBy === null;
  return isMissed && key.expiresAt !== null && endsAt(key) <= now + within && keyState(key, now) === 'active';
}

/** Keys of all accounts that are ending, but for those that were made for a day or less, which are meant to end. */
export async function endingKeys(store: Reads, now: number, within: number): Promise<EndingKeys> {
  const slices = new TimeSlices();
  const keys: ApiKey[] = [];
  let looked = 0;
  for await (const [, key] of apiKeyTable.under(store, [], { limit: MAX_LOOKED_AT })) {
    if (slices.isOver) await slices.rest();
    looked++;
    if (isEnding(key, now, within) && endsAt(key) - Date.parse(key.createdAt) > DAY_MS) keys.push(key);
  }
  return { keys: keys.toSorted((a, b) => endsAt(a) - endsAt(b)), isWhole: looked < MAX_LOOKED_AT };
}

function endsAt({ expiresAt }: ApiKey): number {
  return expiresAt === null ? Number.POSITIVE_INFINITY : Date.parse(expiresAt);
}

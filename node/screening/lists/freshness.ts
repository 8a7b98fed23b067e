import type { Edition } from './contract.ts';

/** From this age on an edition is stale: answers still stand on it, and say so. In milliseconds. */
export const STALE_AFTER_MS = 48 * 3_600_000;
/** From this age on an edition counts as missing. In milliseconds. */
export const MISSING_AFTER_MS = 7 * 24 * 3_600_000;

/** How far ahead of now an edition may be dated: clocks are set by a little. In milliseconds. */
const MAX_AHEAD_MS = 5 * 60_000;

export type Freshness = 'fresh' | 'stale' | 'too-old';

/**
 * How far an edition can be relied on at a time in epoch milliseconds (api-rules §4.1). Of one that is dated later than
 * now nobody knows how old it is: the clock was set back since. It counts as too old.
 */
export function freshnessOf({ retrievedAt }: Pick<Edition, 'retrievedAt'>, now: number): Freshness {
  const age = now - Date.parse(retrievedAt);
  if (age > MISSING_AFTER_MS || age < -MAX_AHEAD_MS) return 'too-old';
  return age > STALE_AFTER_MS ? 'stale' : 'fresh';
}

/** The text that names an edition in `referenceDatabase`; a sample can never be taken for the real list. */
export function editionVersion({
  fileDate,
  retrievedAt,
  sample,
}: Pick<Edition, 'fileDate' | 'retrievedAt' | 'sample'>): string {
  return `${sample ? 'sample ' : ''}${fileDate ?? `retrieved ${retrievedAt}`}`;
}

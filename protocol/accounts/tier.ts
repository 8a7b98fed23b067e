/** Lowest first. `unmetered` is granted by an operator only: no limit of any kind. */
export const TIERS = ['developer', 'standard', 'professional', 'enterprise', 'unmetered'] as const;
export type Tier = (typeof TIERS)[number];

/** The lower of two tiers. */
export function lowerTier(one: Tier, other: Tier): Tier {
  return TIERS.indexOf(one) <= TIERS.indexOf(other) ? one : other;
}

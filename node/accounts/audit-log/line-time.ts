/** How far after the closed days a line may be dated by a clock that is not known to be right. In milliseconds. */
export const UNSURE_MS = 7 * 86_400_000;

export interface LineClock {
  readonly now: () => number;
  /** Whether the clock is known to be right. */
  readonly isClockRight: () => boolean;
}

/**
 * The time of a line that is written now, in epoch milliseconds; never before `floor`, the end of the closed days. No
 * line is dated before the one before it, so a clock that is years ahead would date all later ones: of one that is not
 * known to be right a time long after the closed days is not taken, and the line is dated as early as it may be.
 */
export function lineTime({ now, isClockRight }: LineClock, floor: number): number {
  const at = now();
  if (at <= floor) return floor;
  return floor === 0 || at <= floor + UNSURE_MS || isClockRight() ? at : floor;
}

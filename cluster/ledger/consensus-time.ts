/** A point in time: nanoseconds since the Unix epoch. */
export type Nanos = bigint;
export type Clock = () => Nanos;

export const MILLISECOND: Nanos = 1_000_000n;
export const SECOND: Nanos = 1_000_000_000n;

const TIME_TEXT = /^(\d{1,10})(?:\.(\d{1,9}))?$/;

export const systemClock: Clock = () => BigInt(Date.now()) * MILLISECOND;

/** The mirror's spelling of a time: `seconds.nnnnnnnnn`. */
export function timeText(time: Nanos): string {
  return `${time / SECOND}.${String(time % SECOND).padStart(9, '0')}`;
}

/** Reads `seconds` or `seconds.nanos`, short fractions being filled with zeros; null if it is neither. */
export function parseTimeText(text: string): Nanos | null {
  const match = TIME_TEXT.exec(text);
  if (!match) return null;
  return BigInt(match[1] ?? '') * SECOND + BigInt((match[2] ?? '').padEnd(9, '0'));
}

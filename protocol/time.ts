/** RFC 3339 UTC with milliseconds and `Z`, e.g. `2026-11-21T09:30:00.000Z`: the one form that is signed. */
export type Timestamp = string & { readonly __brand: 'Timestamp' };

/** Ledger consensus time, `seconds.nanoseconds` with exactly nine decimals, e.g. `1763717400.000000001`. */
export type ConsensusTimestamp = string & { readonly __brand: 'ConsensusTimestamp' };

export const TIMESTAMP_PATTERN = '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z$';
export const CONSENSUS_TIMESTAMP_PATTERN = '^(0|[1-9]\\d{0,10})\\.\\d{9}$';

/** RFC 3339 §5.6, with nine decimals at most. */
export const RFC3339_PATTERN =
  '^([0-9]{4}-[0-9]{2}-[0-9]{2})[Tt]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\\.([0-9]{1,9}))?(?:[Zz]|([+-])([0-9]{2}):([0-9]{2}))$';

const RFC3339 = new RegExp(RFC3339_PATTERN);
const LEAP_SECOND = '60';
const STRICT = new RegExp(TIMESTAMP_PATTERN);
const CONSENSUS = new RegExp(CONSENSUS_TIMESTAMP_PATTERN);

export class TimeError extends Error {
  override readonly name = 'TimeError';
}

/** The last text that was one: all records of a group bear the same. */
let lastTimestamp: string | undefined;

/** True for the exact signed form of a date that exists (no 30 February, no hour 24). */
export function isTimestamp(text: string): text is Timestamp {
  if (text === lastTimestamp) return true;
  if (!STRICT.test(text)) return false;
  const at = Date.parse(text);
  if (!Number.isFinite(at) || new Date(at).toISOString() !== text) return false;
  lastTimestamp = text;
  return true;
}

function hasForm(text: string): text is Timestamp {
  return STRICT.test(text);
}

export function isConsensusTimestamp(text: string): text is ConsensusTimestamp {
  return CONSENSUS.test(text);
}

/** Milliseconds since the epoch, rounded down → the signed form. Throws `TimeError` outside years 0000–9999. */
export function timestampOf(epochMilliseconds: number): Timestamp {
  const at = new Date(Math.floor(epochMilliseconds));
  const text = Number.isNaN(at.getTime()) ? '' : at.toISOString();
  // A Date only writes times that exist, so the form is all that can be wrong: a year of more than four digits.
  if (!hasForm(text)) throw new TimeError('time outside the years 0000 to 9999');
  return text;
}

/** The last moment that the signed form writes, in epoch milliseconds. */
const LAST_MS = Date.parse('9999-12-31T23:59:59.999Z');

/**
 * The same of a moment that is reckoned from what others assert, as the end of a period is: one after the year 9999 is
 * its last, so that no record of anyone stops what reads it. Throws `TimeError` before the year 0000.
 */
export function cappedTimestampOf(epochMilliseconds: number): Timestamp {
  return timestampOf(Math.min(epochMilliseconds, LAST_MS));
}

/**
 * Reads any RFC 3339 time (offsets and 1–9 decimals allowed) from a caller. Returns epoch milliseconds, rounded down:
 * time here has no leap seconds, so one is the second after it. Throws `TimeError` on any other form, on dates that do
 * not exist, and on a second 60 anywhere but at the end of a month of UTC.
 */
export function readRfc3339(text: string): number {
  const match = RFC3339.exec(text);
  if (match === null) throw new TimeError('not an RFC 3339 time');
  const [, date, hour, minute, second, fraction = '', sign, offsetHour = '0', offsetMinute = '0'] = match;
  const isLeap = second === LEAP_SECOND;
  const local = `${date}T${hour}:${minute}:${isLeap ? '59' : second}.${fraction.slice(0, 3).padEnd(3, '0')}Z`;
  if (!isTimestamp(local) || Number(offsetHour) > 23 || Number(offsetMinute) > 59) {
    throw new TimeError('not a time that exists');
  }
  const offset = (Number(offsetHour) * 60 + Number(offsetMinute)) * 60_000;
  const at = Date.parse(local) - (sign === '-' ? -offset : offset);
  if (!isLeap) return at;
  if (!isMonthsFirstSecond(at + 1_000)) throw new TimeError('no leap second');
  return at + 1_000;
}

/** Leap seconds come before it (ITU-R TF.460-6). */
function isMonthsFirstSecond(epochMilliseconds: number): boolean {
  const at = new Date(epochMilliseconds);
  return at.getUTCDate() === 1 && at.toISOString().slice(11, 19) === '00:00:00';
}

/** A consensus time as a `Timestamp`, its nanoseconds cut to milliseconds. */
export function timestampOfConsensus(consensus: ConsensusTimestamp): Timestamp {
  const [seconds = '0', nanos = '0'] = consensus.split('.');
  return timestampOf(Number(seconds) * 1000 + Math.floor(Number(nanos) / 1_000_000));
}

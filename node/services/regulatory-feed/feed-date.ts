/** A point in time as a feed gives it. */
export interface FeedDate {
  /** Epoch milliseconds. */
  readonly at: number;
  /** The day, as it stands in the text. */
  readonly day: string;
}

interface Parts {
  readonly year: number;
  /** From 1. */
  readonly month: number;
  readonly day: number;
  readonly hour?: number;
  readonly minute?: number;
  readonly second?: number;
}

/** Texts longer than this are no dates. Characters. */
const MAX_DATE = 64;
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const MONTH = '(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*';
/** RFC 822 and 2822. The weekday may be wrong, and is not looked at. */
const RFC822 = new RegExp(
  `^(?:[a-z]+,?\\s+)?(\\d{1,2})\\s+${MONTH}\\s+(\\d{4}|\\d{2})(?:\\s+(\\d{1,2}):(\\d{2})(?::(\\d{2}))?\\s*([a-z]+|[+-]\\d{4})?)?$`,
  'i',
);
/** RFC 3339, and the shorter forms of ISO 8601 that feeds use. */
const ISO = /^(\d{4})-(\d{2})-(\d{2})(?:[t ](\d{2}):(\d{2})(?::(\d{2})(?:[.,]\d+)?)?\s*(z|[+-]\d{2}:?\d{2})?)?$/i;
/** `Monday, July 27, 2026 - 15:30`, as the FCA writes. */
const WORDS = new RegExp(`^(?:[a-z]+,\\s+)?${MONTH}\\s+(\\d{1,2}),\\s+(\\d{4})(?:\\s+-\\s+(\\d{1,2}):(\\d{2}))?$`, 'i');
/** RFC 822 §5.1, in hours. */
const ZONES: Readonly<Record<string, number>> = {
  z: 0,
  ut: 0,
  utc: 0,
  gmt: 0,
  est: -5,
  edt: -4,
  cst: -6,
  cdt: -5,
  mst: -7,
  mdt: -6,
  pst: -8,
  pdt: -7,
};

/**
 * Reads a date in one of the forms that regulators' feeds have. A plain day is its midnight in UTC. A time without zone
 * counts in `timeZone`, an IANA name; without one it is no date: an item is rather undated than wrongly dated.
 */
export function readFeedDate(text: string | undefined, timeZone?: string): FeedDate | null {
  const trimmed = text?.trim() ?? '';
  if (trimmed === '' || trimmed.length > MAX_DATE) return null;
  const [, ...rfc] = RFC822.exec(trimmed) ?? [];
  if (rfc.length > 0) {
    return dateOf(partsOf(fullYear(rfc[2]), monthOf(rfc[1]), rfc[0], rfc.slice(3, 6)), rfc[6], timeZone);
  }
  const [, ...iso] = ISO.exec(trimmed) ?? [];
  if (iso.length > 0) return dateOf(partsOf(iso[0], iso[1], iso[2], iso.slice(3, 6)), iso[6], timeZone);
  const [, ...words] = WORDS.exec(trimmed) ?? [];
  if (words.length === 0) return null;
  return dateOf(partsOf(words[2], monthOf(words[0]), words[1], words.slice(3, 5)), undefined, timeZone);
}

function partsOf(
  year: string | undefined,
  month: string | number | undefined,
  day: string | undefined,
  [hour, minute, second = '0']: readonly (string | undefined)[],
): Parts {
  const date = { year: Number(year), month: Number(month), day: Number(day) };
  if (hour === undefined || minute === undefined) return date;
  return { ...date, hour: Number(hour), minute: Number(minute), second: Number(second) };
}

function dateOf(parts: Parts, zone: string | undefined, timeZone: string | undefined): FeedDate | null {
  const { year, month, day, hour = 0, minute = 0, second = 0 } = parts;
  const midnight = new Date(Date.UTC(year, month - 1, day));
  if (midnight.getUTCMonth() !== month - 1 || midnight.getUTCDate() !== day || year < 1000) return null;
  if (hour > 23 || minute > 59 || second > 60) return null;
  const text = midnight.toISOString().slice(0, 10);
  if (parts.hour === undefined) return { at: midnight.getTime(), day: text };
  const local = midnight.getTime() + (hour * 60 + minute) * MINUTE_MS + second * 1000;
  const at = zone === undefined ? inZone(local, timeZone) : inOffset(local, zone);
  return at === null ? null : { at, day: text };
}

function inOffset(local: number, zone: string): number | null {
  const hours = ZONES[zone.toLowerCase()];
  if (hours !== undefined) return local - hours * 60 * MINUTE_MS;
  const [, sign, hour, minute] = /^([+-])(\d{2}):?(\d{2})$/.exec(zone) ?? [];
  if (sign === undefined) return null;
  const offset = (Number(hour) * 60 + Number(minute)) * MINUTE_MS;
  return Math.abs(offset) > DAY_MS ? null : local - (sign === '-' ? -offset : offset);
}

/**
 * The instant at which clocks in the zone show `local`; of two, the later; of none, as if the clocks had not changed.
 */
function inZone(local: number, timeZone: string | undefined): number | null {
  if (timeZone === undefined) return null;
  // No zone changes its clocks twice in two days.
  const before = local - offsetAt(local - DAY_MS, timeZone);
  const after = local - offsetAt(local + DAY_MS, timeZone);
  const shown = [before, after].filter((at) => at + offsetAt(at, timeZone) === local);
  return shown.length === 0 ? before : Math.max(...shown);
}

/** What clocks in the zone are ahead of UTC. In milliseconds. */
function offsetAt(at: number, timeZone: string): number {
  const format = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' });
  const name = format.formatToParts(at).find(({ type }) => type === 'timeZoneName')?.value ?? 'GMT';
  const [, sign, hour, minute] = /^GMT([+-])(\d{2}):(\d{2})/.exec(name) ?? [];
  const offset = (Number(hour ?? 0) * 60 + Number(minute ?? 0)) * MINUTE_MS;
  return sign === '-' ? -offset : offset;
}

function monthOf(name: string | undefined): number {
  return MONTHS.indexOf(name?.slice(0, 3).toLowerCase() ?? '') + 1;
}

/** RFC 2822 §4.3: two digits under 50 are of this century. */
function fullYear(text: string | undefined): string {
  if (text?.length !== 2) return text ?? '';
  return Number(text) < 50 ? `20${text}` : `19${text}`;
}

import Type, { type Static } from 'typebox';
import type { Asserted } from '../chain/asserted.ts';
import { Compile } from '../shape-check.ts';
import { Closed, OrNull } from '../shapes.ts';
import { REPORT_TYPES, type ReportType } from '../statement/vocabulary.ts';
import { cappedTimestampOf, type Timestamp } from '../time.ts';
import periods from './data/clocks.json' with { type: 'json' };
import { daysAfter } from './notification-clock.ts';

const HOUR_MS = 3_600_000;

const PeriodShape = Closed({
  regime: Type.String(),
  ref: Type.String(),
  /** In words. */
  trigger: Type.String(),
  /** The regime's own trigger, or a report of this type. */
  start: Type.Union([Type.Literal('trigger'), Type.Enum([...REPORT_TYPES])]),
  endedBy: Type.Enum([...REPORT_TYPES]),
  value: OrNull(Type.Integer({ minimum: 1 })),
  unit: Type.Enum(['hours', 'days', 'months', 'without-undue-delay']),
  recipient: Type.String(),
  source: Type.String(),
  check: Type.Enum(['V', 'S', 'K']),
});
export type RegimePeriod = Static<typeof PeriodShape>;

const compiled = Compile(Type.Array(PeriodShape));

/** Periods of other regimes: data, shown side by side. */
export const REGIME_PERIODS: readonly RegimePeriod[] = readPeriods(periods);

/** Regimes whose clocks start by a trigger of their own. */
export const TRIGGERED_REGIMES: readonly string[] = [...new Set(REGIME_PERIODS.map(({ regime }) => regime))];

/** A report under another regime: when it was sent, as its caller asserts it or as it was recorded. */
export interface RegimeReport {
  readonly regime: string;
  readonly type: ReportType;
  readonly at: Timestamp;
}

/**
 * A period starts by the regime's own trigger or by the first report of a type; the first report of its type or a later
 * one ends it.
 */
export function regimeTimes(
  period: RegimePeriod,
  { triggers }: Asserted,
  reports: readonly RegimeReport[],
): { readonly dueAt: Timestamp | null; readonly reportedAt: Timestamp | undefined } {
  const { regime, start, endedBy } = period;
  const ofRegime = reports.filter((report) => report.regime === regime);
  const from =
    start === 'trigger' ? triggerOf(triggers, regime) : timesOf(ofRegime.filter(({ type }) => type === start))[0];
  const least = REPORT_TYPES.indexOf(endedBy);
  const reportedAt = timesOf(ofRegime.filter(({ type }) => REPORT_TYPES.indexOf(type) >= least))[0];
  return { dueAt: from === undefined ? null : endOf(from, period), reportedAt };
}

/** The earliest that is asserted. */
function triggerOf(triggers: Asserted['triggers'] = [], regime: string): Timestamp | undefined {
  const times = triggers.filter((trigger) => trigger.regime === regime).map(({ at }) => at);
  return times.sort((one, other) => Date.parse(one) - Date.parse(other))[0];
}

function timesOf(reports: readonly RegimeReport[]): readonly Timestamp[] {
  return reports.map(({ at }) => at).sort((one, other) => Date.parse(one) - Date.parse(other));
}

function endOf(from: Timestamp, { value, unit }: RegimePeriod): Timestamp | null {
  if (value === null) return null;
  if (unit === 'hours') return cappedTimestampOf(Date.parse(from) + value * HOUR_MS);
  return unit === 'months' ? monthsAfter(from, value) : daysAfter(from, value);
}

/** The same day of a later month, or its last. */
function monthsAfter(from: Timestamp, months: number): Timestamp {
  const date = new Date(from);
  const day = date.getUTCDate();
  date.setUTCMonth(date.getUTCMonth() + months);
  if (date.getUTCDate() !== day) date.setUTCDate(0);
  return cappedTimestampOf(date.getTime());
}

/** Throws `TypeError` where the file holds anything but periods. */
function readPeriods(value: unknown): readonly RegimePeriod[] {
  if (compiled.Check(value)) return value;
  throw new TypeError(`the clocks: ${compiled.Errors(value)[0]?.message ?? 'other shape'}`);
}

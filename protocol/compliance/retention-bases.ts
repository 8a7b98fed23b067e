import bases from './data/retention-bases.json' with { type: 'json' };

/** A rule that sets a shortest retention period. */
export interface RetentionBasis {
  readonly basis: string;
  /** The shortest period, in days: that of the longest such span of the calendar. */
  readonly days: number;
  /** Set where the rule counts calendar years. */
  readonly years: number | null;
}

const BASES: readonly (RetentionBasis & { readonly names: RegExp })[] = bases.map(
  ({ basis, days, years, pattern }) => ({
    basis,
    days,
    years,
    names: new RegExp(pattern, 'i'),
  }),
);

/** The rules that a caller's words name. Words that name none are as good a basis as any: nothing is judged by them. */
export function namedBases(regulatoryBasis: string): readonly RetentionBasis[] {
  return BASES.filter(({ names }) => names.test(regulatoryBasis)).map(({ basis, days, years }) => ({
    basis,
    days,
    years,
  }));
}

/** Days that each rule asks for at least, by its name; null where the words name none. */
export function statutoryMinimumDays(regulatoryBasis: string | undefined): Readonly<Record<string, number>> | null {
  const named = regulatoryBasis === undefined ? [] : namedBases(regulatoryBasis);
  return named.length === 0 ? null : Object.fromEntries(named.map(({ basis, days }) => [basis, days]));
}

/** Of a period that is shorter than the calendar years of a rule that it is based on. */
export function calendarWarnings(regulatoryBasis: string | undefined, retentionPeriodDays: number): string[] {
  const named = regulatoryBasis === undefined ? [] : namedBases(regulatoryBasis);
  return named
    .filter(({ years, days }) => years !== null && retentionPeriodDays < days)
    .map(
      ({ basis, years, days }) =>
        `shorter-than-calendar-years: ${retentionPeriodDays} days are less than the ${years} calendar years of ` +
        `${basis}, which can be ${days} days`,
    );
}

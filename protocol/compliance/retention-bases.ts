import data from './data/retention-bases.json' with { type: 'json' };
import { lawsNamed, type NamedLaw } from './named-laws.ts';
import { daysOfLock, type LockPeriod, MIN_RETENTION_DAYS } from './retention.ts';

/** A rule that says how long something is to be kept. */
export interface RetentionBasis {
  readonly basis: string;
  /** The shortest period, in days: that of the longest such span of the calendar. Null: the law sets none. */
  readonly days: number | null;
  /** Set where the rule counts calendar years. */
  readonly years: number | null;
}

/** A rule of a law, and when a text means it. */
interface Rule extends RetentionBasis {
  /** Articles and annexes of the law that mean it; absent: any mention of the law does. */
  readonly references?: readonly string[];
  /** Meant too where the text names no article of the law that means another. */
  readonly otherwise?: boolean;
  /** What the text must have beside, and what it must not. */
  readonly where?: string;
  readonly unless?: string;
  /** How it was checked: V the text itself, S secondary sources that agree, K own knowledge. */
  readonly check: string;
}

interface Law extends NamedLaw {
  readonly rules: readonly Rule[];
}

/** As the file has it. */
interface WrittenLaw {
  readonly law: string;
  readonly names: string;
  readonly bareNames?: string;
  readonly rules: readonly Rule[];
}

const WRITTEN: readonly WrittenLaw[] = data.laws;
const LAWS: readonly Law[] = WRITTEN.map(({ law, names, bareNames, rules }) => ({
  law,
  names: new RegExp(names, 'gi'),
  bareNames: bareNames === undefined ? null : new RegExp(bareNames, 'gi'),
  rules,
}));
/** Words with which an "AI Act" is not that of the European Union. */
const ELSEWHERE = new RegExp(String.raw`\b(?:${data.elsewhere.join('|')})\b`, 'i');

/** The rules that a caller's words name. Words that name none are as good a basis as any: nothing is judged by them. */
export function namedBases(regulatoryBasis: string): readonly RetentionBasis[] {
  const named = lawsNamed(regulatoryBasis, LAWS, ELSEWHERE);
  return LAWS.flatMap(({ law, rules }) => {
    const references = named.get(law);
    return references === undefined ? [] : rulesMeant(rules, references, regulatoryBasis);
  }).map(({ basis, days, years }) => ({ basis, days, years }));
}

/**
 * Days that each rule asks for at least, by its name; null where the words name none. A law that sets no shortest
 * period is not among them.
 */
export function statutoryMinimumDays(regulatoryBasis: string | undefined): Readonly<Record<string, number>> | null {
  const named = basesOf(regulatoryBasis).flatMap(({ basis, days }) => (days === null ? [] : [[basis, days] as const]));
  return named.length === 0 ? null : Object.fromEntries(named);
}

/** What whoever places a lock should know of its period and of the basis that is named for it. */
export function lockWarnings(regulatoryBasis: string | undefined, period: LockPeriod): string[] {
  if (regulatoryBasis === undefined || regulatoryBasis.trim() === '') {
    return [
      'no-basis-given: regulatoryBasis says nothing; until the lock runs out, erasure through this service is ' +
        'refused, of personal data too',
    ];
  }
  return [...calendarWarnings(regulatoryBasis, period.days), ...lengthWarnings(regulatoryBasis, period)];
}

/** Of a period that is shorter than the calendar years of a rule that it is based on. */
export function calendarWarnings(regulatoryBasis: string | undefined, retentionPeriodDays: number): string[] {
  return basesOf(regulatoryBasis).flatMap(({ basis, years, days }) =>
    years === null || days === null || retentionPeriodDays >= days
      ? []
      : [
          `shorter-than-calendar-years: ${retentionPeriodDays} days are less than the ${years} calendar years of ` +
            `${basis}, which can be ${days} days`,
        ],
  );
}

/** Of a lock that runs longer than any rule asks for that it is based on. */
function lengthWarnings(regulatoryBasis: string, period: LockPeriod): string[] {
  const [longest] = namedBases(regulatoryBasis).toSorted((a, b) => (b.days ?? 0) - (a.days ?? 0));
  const days = daysOfLock(period);
  if (longest === undefined || days <= (longest.days ?? 0)) return [];
  const asked =
    longest.days === null
      ? `${longest.basis} sets no shortest period`
      : `${days} days are more than the ${longest.days} days that ${longest.basis} asks for`;
  return [`longer-than-named-basis: ${asked}; no lock of this service is shorter than ${MIN_RETENTION_DAYS} days`];
}

function basesOf(regulatoryBasis: string | undefined): readonly RetentionBasis[] {
  return regulatoryBasis === undefined ? [] : namedBases(regulatoryBasis);
}

function rulesMeant(rules: readonly Rule[], references: ReadonlySet<string>, text: string): readonly Rule[] {
  const fits = rules.filter(
    ({ where, unless }) =>
      (where === undefined || new RegExp(where, 'i').test(text)) &&
      (unless === undefined || !new RegExp(unless, 'i').test(text)),
  );
  const meant = fits.filter((rule) => rule.references?.some((number) => references.has(number)) ?? true);
  return meant.length > 0 ? meant : fits.filter(({ otherwise }) => otherwise === true);
}

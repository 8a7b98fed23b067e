import type { Asserted } from '../chain/asserted.ts';
import type { Claims } from '../chain/claims.ts';
import type { Timestamp } from '../time.ts';
import { type ClockedRecord, clockStartOf, daysAfter, notificationDueAt } from './notification-clock.ts';
import { REGIME_PERIODS, type RegimeReport, regimeTimes } from './regime-clocks.ts';

/** Regime of the EU AI Act's own clocks, and of the service's clock, which is no law. */
export const EU_AI_ACT_REGIME = 'eu-ai-act';
export const SERVICE_REGIME = 'service';
/** Ref of the service's own clock (api-rules §4.2). */
export const SERVICE_REF = 'service';

const SERVICE_SOURCE = 'the service’s own clock, by severity; no article of a law';

/** Periods of EU AI Act Art. 73, and what of an incident has to be asserted for each. */
const ARTICLE_73 = [
  { ref: '73(2)', days: 15, isAsserted: () => true, source: 'Regulation (EU) 2024/1689 Art. 73(2)' },
  {
    ref: '73(3)',
    days: 2,
    isAsserted: (criteria: readonly string[]) =>
      criteria.includes('widespread-infringement') || criteria.includes('critical-infrastructure'),
    source: 'Regulation (EU) 2024/1689 Art. 73(3)',
  },
  {
    ref: '73(4)',
    days: 10,
    isAsserted: (criteria: readonly string[]) => criteria.includes('death'),
    source: 'Regulation (EU) 2024/1689 Art. 73(4)',
  },
] as const;

/** The end of a clock, and which clock it is. */
export interface ClockEnd {
  readonly dueAt: Timestamp;
  readonly ref: string;
}

/** One clock of an incident beside what was reported. Which of them applies is for its reporter to say. */
export type IncidentClock = {
  readonly regime: string;
  readonly ref: string;
  /** Null where the regime's own trigger is not asserted, or the law names no period. */
  readonly dueAt: Timestamp | null;
  /** Whether the report that ends it was sent after `dueAt`; null while there is none, or no end. */
  readonly reportedAfterDueAt: boolean | null;
  readonly source: string;
};

/**
 * The earliest end among the service's clock, every period of Article 73 whose criterion is asserted, and those of what
 * the incident corrects. A deployer is bound by Article 73 where the provider cannot be reached: Art. 26(5).
 */
export function earliestDue(record: ClockedRecord): ClockEnd {
  const { asserted = {} } = record.claims;
  const ends: ClockEnd[] = [{ dueAt: notificationDueAt(record), ref: SERVICE_REF }];
  const { inheritedDueAt, inheritedRef = SERVICE_REF } = asserted;
  if (inheritedDueAt !== undefined) ends.push({ dueAt: inheritedDueAt, ref: inheritedRef });
  const start = clockStartOf(record).at;
  const { criteria = [] } = record.claims;
  if (isBoundByArticle73(asserted)) {
    for (const { ref, days, isAsserted } of ARTICLE_73) {
      if (isAsserted(criteria)) ends.push({ dueAt: daysAfter(start, days), ref });
    }
  }
  return ends.reduce((earliest, end) => (Date.parse(end.dueAt) < Date.parse(earliest.dueAt) ? end : earliest));
}

/** What a correction says itself, of what it would otherwise take over. */
export interface Correction {
  readonly awareness: Timestamp | undefined;
  readonly criteria: Claims['criteria'];
  readonly asserted: Pick<Asserted, 'memberStates' | 'triggers'>;
}

/**
 * What a correction takes over from the incident that it supersedes: the earlier start and the earliest end of a clock, the
 * earliest trigger of each regime, and the criteria and Member States that it does not assert anew.
 */
export function inheritedClock(corrected: ClockedRecord, { awareness, criteria, asserted }: Correction) {
  const { at } = clockStartOf(corrected);
  const isEarlier = awareness === undefined || Date.parse(at) < Date.parse(awareness);
  const { dueAt: inheritedDueAt, ref: inheritedRef } = earliestDue(corrected);
  const before = corrected.claims.asserted ?? {};
  const memberStates = asserted.memberStates ?? before.memberStates;
  const triggers = [...(before.triggers ?? []), ...(asserted.triggers ?? [])];
  const earliest = [...Map.groupBy(triggers, ({ regime }) => regime).values()].flatMap((same) =>
    same.toSorted((one, other) => Date.parse(one.at) - Date.parse(other.at)).slice(0, 1),
  );
  return {
    clockStart: isEarlier ? at : awareness,
    criteria: criteria ?? corrected.claims.criteria,
    asserted: {
      inheritedDueAt,
      inheritedRef,
      ...(isEarlier ? { clockInherited: true as const } : {}),
      ...(memberStates === undefined ? {} : { memberStates }),
      ...(triggers.length === 0 ? {} : { triggers: earliest }),
    },
  };
}

/** What was reported of an incident. */
export interface Reports {
  /** When the report was sent that ends the clocks of the EU AI Act; absent while there is none. */
  readonly own?: Timestamp | undefined;
  readonly others: readonly RegimeReport[];
}

/** Every clock of an incident, side by side. */
export function incidentClocks(record: ClockedRecord, { own, others }: Reports): IncidentClock[] {
  const { asserted = {} } = record.claims;
  const start = clockStartOf(record).at;
  const article73 = isBoundByArticle73(asserted)
    ? ARTICLE_73.map(({ ref, days, source }) => clock(EU_AI_ACT_REGIME, ref, daysAfter(start, days), own, source))
    : ARTICLE_73.map(({ ref, source }) => clock(EU_AI_ACT_REGIME, ref, null, own, source));
  return [
    clock(SERVICE_REGIME, SERVICE_REF, notificationDueAt(record), own, SERVICE_SOURCE),
    ...article73,
    ...(asserted.role === 'deployer' ? [deployerClock()] : []),
    ...REGIME_PERIODS.map((period) => {
      const { dueAt, reportedAt } = regimeTimes(period, asserted, others);
      return clock(period.regime, period.ref, dueAt, reportedAt, period.source);
    }),
  ];
}

/** "Immediately" is no number of days: nothing is due at a time that the law does not name. */
function deployerClock(): IncidentClock {
  const source = 'Regulation (EU) 2024/1689 Art. 26(5): the provider is to be told immediately, then the authority';
  return clock(EU_AI_ACT_REGIME, '26(5)', null, undefined, source);
}

function isBoundByArticle73({ role, providerUnreachable }: Asserted): boolean {
  return role !== 'deployer' || providerUnreachable === true;
}

function clock(
  regime: string,
  ref: string,
  dueAt: Timestamp | null,
  reportedAt: Timestamp | undefined,
  source: string,
): IncidentClock {
  const isLater = dueAt === null || reportedAt === undefined ? null : Date.parse(reportedAt) > Date.parse(dueAt);
  return { regime, ref, dueAt, reportedAfterDueAt: isLater, source };
}

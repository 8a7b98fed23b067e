import { type AuditDay, dayEnd, dayStart } from '../audit/day.ts';
import type { AttestationRecord } from '../chain/record.ts';
import { lockEnd, periodOf } from '../compliance/retention.ts';
import type { RecordId } from '../ids.ts';
import { assertionSubject } from './assertion-subject.ts';
import type { FactNeed } from './catalogue-shape.ts';
import { type EvidenceKind, isListed } from './evidence-kinds.ts';
import { NOT_APPLICABLE_EVENT } from './event-types.ts';
import { shownFacts } from './shown-facts.ts';
import { type FacetTally, holds, Tallies } from './tallies.ts';

/** Ids shown of each need. */
const SAMPLE_IDS = 3;
const DAY_MS = 86_400_000;

/** Days of a report, both included. */
export interface EvidencePeriod {
  readonly from: AuditDay;
  readonly to: AuditDay;
}

/** Records, or counted ones, that count for a need. */
export interface Found {
  readonly count: number;
  readonly sampleIds: readonly RecordId[];
}

const NONE: Found = { count: 0, sampleIds: [] };

/** What says that another record is replaced, whether or not it counts itself. */
export type Superseding = Pick<AttestationRecord, 'account' | 'id' | 'kind' | 'links' | 'submittedAt'>;

/** What a view is of, beside its period and its records. */
export interface ViewOptions {
  /** Records that do not count, and may replace some that do. */
  readonly besides?: readonly Superseding[];
  /** Kinds of which there are more records than are looked at. */
  readonly incomplete?: ReadonlySet<string>;
  /** Sources of decisions, each of which a lock of decisions has to be of; none: one of any source will do. */
  readonly lockedSources?: readonly string[];
}

interface Entry {
  readonly record: AttestationRecord;
  readonly shown: ReadonlySet<string>;
  /** Epoch milliseconds of the record, and of the first one that supersedes it. */
  readonly at: number;
  readonly supersededAt: number;
}

/**
 * What is on record within and before a period: records of governance one by one, all others as counts of the period.
 * What comes after its end is not looked at, so that a later record changes no answer about an earlier day.
 */
export class EvidenceView {
  readonly #byKind = new Map<string, Entry[]>();
  readonly #counted: Tallies;
  readonly #start: number;
  readonly #end: number;
  readonly #incomplete: ReadonlySet<string>;
  readonly #lockedSources: readonly string[];

  /** `records`: of governance and of the event `NOT_APPLICABLE`, in any order. `counted`: of the period alone. */
  constructor(
    { from, to }: EvidencePeriod,
    records: readonly AttestationRecord[],
    counted: readonly FacetTally[],
    { besides = [], incomplete = new Set(), lockedSources = [] }: ViewOptions = {},
  ) {
    this.#incomplete = incomplete;
    this.#lockedSources = lockedSources;
    this.#start = dayStart(from);
    this.#end = dayEnd(to);
    this.#counted = new Tallies(counted.filter(({ facet }) => facet.shown === null || !facet.shown.has('emptyData')));
    const isBefore = ({ submittedAt }: Superseding): boolean => Date.parse(submittedAt) < this.#end;
    const before = records.filter(isBefore);
    const superseded = supersededTimes(before, besides.filter(isBefore));
    for (const record of before) {
      const entry: Entry = {
        record,
        shown: shownFacts(record),
        at: Date.parse(record.submittedAt),
        supersededAt: superseded.get(record.id) ?? Number.POSITIVE_INFINITY,
      };
      const kind = record.claims.eventType === NOT_APPLICABLE_EVENT ? NOT_APPLICABLE_EVENT : record.kind;
      const same = this.#byKind.get(kind);
      if (same === undefined) this.#byKind.set(kind, [entry]);
      else same.push(entry);
    }
  }

  /** Whether more was recorded of one of these kinds than is looked at. */
  isIncomplete({ anyOf }: Pick<FactNeed, 'anyOf'>): boolean {
    return anyOf.some((kind) => this.#incomplete.has(kind));
  }

  /** What happened by which a duty arises, recorded one by one or counted. */
  happened(event: Pick<FactNeed, 'anyOf' | 'where'>): Found {
    return joined(event.anyOf.map((kind) => this.#found(kind, event, [], this.#events(kind, event))));
  }

  /** Records of the kinds and conditions of a need, whatever facts they show and however old they are. */
  about({ anyOf, standing, where }: FactNeed): Found {
    const terms = { ...(standing && { standing }), ...(where && { where }) };
    return joined(anyOf.map((kind) => this.#found(kind, terms, [])));
  }

  /** Those that also show every fact, and are not too old. */
  showing(need: FactNeed): Found {
    return joined(need.anyOf.map((kind) => this.#found(kind, need, need.facts)));
  }

  /** Records of governance that count for a need, oldest first. */
  recordsShowing(need: FactNeed): readonly AttestationRecord[] {
    return need.anyOf.flatMap((kind) => this.#entries(kind, need, need.facts).map(({ record }) => record));
  }

  /**
   * Records of governance of a kind within the period that meet every condition, oldest first. In the place of an
   * incident that was corrected stands its correction; what else was revised has happened all the same.
   */
  events(need: Pick<FactNeed, 'anyOf' | 'where'>): readonly AttestationRecord[] {
    return need.anyOf.flatMap((kind) => this.#events(kind, need).map(({ record }) => record));
  }

  /** Whether a record, which nothing replaced by the end of the period, meets every condition. */
  meets({ id, kind }: AttestationRecord, conditions: readonly string[]): boolean {
    const entry = this.#byKind.get(kind)?.find(({ record }) => record.id === id);
    return entry !== undefined && entry.supersededAt >= this.#end && showsAll(entry.shown, conditions);
  }

  /** An incident and those that it corrects, one after the other: what was told of one is told of the others. */
  corrections({ id, kind, account, links }: AttestationRecord): ReadonlySet<RecordId> {
    const known = new Map((this.#byKind.get(kind) ?? []).map(({ record }) => [record.id, record]));
    const ids = new Set([id]);
    for (let before = links.supersedes; before !== undefined && !ids.has(before);) {
      const corrected = known.get(before);
      if (corrected?.account !== account) break;
      ids.add(before);
      before = corrected.links.supersedes;
    }
    return ids;
  }

  /** Assertions that a clause does not apply: with who says so, why, and a review that is not overdue. */
  notApplicable(framework: string, clause: string): readonly AttestationRecord[] {
    const latest = new Map<string, AttestationRecord>();
    for (const { record } of this.#byKind.get(NOT_APPLICABLE_EVENT) ?? []) {
      const { claims } = record;
      const about = assertionSubject(record);
      if (about === undefined || claims.framework !== framework || claims.clause !== clause) continue;
      const known = latest.get(about);
      if (known === undefined || known.submittedAt <= record.submittedAt) latest.set(about, record);
    }
    return [...latest.values()].filter(({ claims: { asserted = {} } }) => {
      const { assertedBy, reasonGiven, reviewDueAt } = asserted;
      const isWhole = assertedBy !== undefined && reasonGiven === true && reviewDueAt !== undefined;
      return isWhole && Date.parse(reviewDueAt) >= this.#end - DAY_MS;
    });
  }

  #found(
    kind: EvidenceKind,
    need: Partial<FactNeed>,
    facts: readonly string[],
    entries = this.#entries(kind, need, facts),
  ): Found {
    if (entries.length > 0) {
      return { count: entries.length, sampleIds: entries.slice(-SAMPLE_IDS).map(({ record }) => record.id) };
    }
    const asked = [...(need.where ?? []), ...facts];
    const counted = this.#counted.of(kind).filter(({ facet: { shown } }) => showsAll(shown, asked));
    if (counted.length === 0 || isListed(kind)) return NONE;
    return {
      count: counted.reduce((sum, { count }) => sum + count, 0),
      sampleIds: counted
        .flatMap(({ first }) => first)
        .sort()
        .slice(0, SAMPLE_IDS),
    };
  }

  #entries(kind: EvidenceKind, need: Partial<FactNeed>, facts: readonly string[]): readonly Entry[] {
    const asked = [...(need.where ?? []), ...facts];
    const found = (this.#byKind.get(kind) ?? []).filter((entry) => {
      if (!showsAll(entry.shown, asked) || !this.#isCurrent(entry)) return false;
      if (need.standing === true ? !this.#isInForce(entry) : entry.at < this.#start) return false;
      return need.maxAgeDays === undefined || this.#ageOf(entry, need.ageFrom) <= need.maxAgeDays * DAY_MS;
    });
    return kind === 'retention_lock' && !this.#isOfEverySource(found, asked) ? [] : found;
  }

  /** Events of a kind within the period. */
  #events(kind: EvidenceKind, { where = [] }: Pick<FactNeed, 'where'>): readonly Entry[] {
    return (this.#byKind.get(kind) ?? []).filter(
      ({ shown, at, supersededAt }) =>
        at >= this.#start && (kind !== 'incident' || supersededAt >= this.#end) && showsAll(shown, where),
    );
  }

  /** Nothing replaced it by the end of the period, and it does not begin only after that. */
  #isCurrent({ record, supersededAt }: Entry): boolean {
    const { validFrom, from } = record.claims.asserted ?? {};
    const begins = validFrom ?? from;
    return supersededAt >= this.#end && (begins === undefined || Date.parse(begins) < this.#end);
  }

  /** At the end of the period. */
  #isInForce({ record }: Entry): boolean {
    const until = endOf(record);
    return until === undefined || until >= this.#end - DAY_MS;
  }

  /** Where locks of decisions are asked for, whether each source of decisions has one. */
  #isOfEverySource(locks: readonly Entry[], asked: readonly string[]): boolean {
    if (!asked.some((condition) => condition.split('|').includes('scope=decisions'))) return true;
    const locked = new Set(locks.map(({ record }) => record.sourceId));
    return this.#lockedSources.every((source) => locked.has(source));
  }

  /** At the end of the period, in milliseconds. A fact that is not there is of no age that counts. */
  #ageOf({ record, at }: Entry, ageFrom: string | undefined): number {
    if (ageFrom === undefined) return this.#end - at;
    const facts: Readonly<Record<string, unknown>> = { ...record.claims.asserted };
    const value = facts[ageFrom];
    return typeof value === 'string' ? this.#end - Date.parse(value) : Number.POSITIVE_INFINITY;
  }
}

function showsAll(shown: ReadonlySet<string> | null, asked: readonly string[]): boolean {
  return shown !== null && asked.every((condition) => ALWAYS.has(condition) || holds(condition, shown));
}

/** What every record shows by being one. */
const ALWAYS: ReadonlySet<string> = new Set(['signature', 'submittedAt', 'sourceSeq', 'startTime', 'endTime']);

/** When what a record says ceases to hold, in epoch milliseconds; undefined where it does not say. */
function endOf(record: AttestationRecord): number | undefined {
  const { kind, claims } = record;
  if (kind === 'retention_lock') return lockEnd(periodOf(record));
  const { validUntil, until } = claims.asserted ?? {};
  const end = validUntil ?? until;
  return end === undefined ? undefined : Date.parse(end);
}

/** When each record was first superseded: by a record of the same kind and account. */
function supersededTimes(
  records: readonly AttestationRecord[],
  besides: readonly Superseding[],
): ReadonlyMap<RecordId, number> {
  const kinds = new Map(records.map((record) => [record.id, record]));
  const times = new Map<RecordId, number>();
  for (const { kind, account, links, submittedAt } of [...records, ...besides]) {
    const before = links.supersedes === undefined ? undefined : kinds.get(links.supersedes);
    if (before === undefined || before.kind !== kind || before.account !== account) continue;
    times.set(before.id, Math.min(times.get(before.id) ?? Number.POSITIVE_INFINITY, Date.parse(submittedAt)));
  }
  return times;
}

function joined(found: readonly Found[]): Found {
  return {
    count: found.reduce((sum, { count }) => sum + count, 0),
    sampleIds: found.flatMap(({ sampleIds }) => sampleIds).slice(0, SAMPLE_IDS),
  };
}

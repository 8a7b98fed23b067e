import type { AttestationRecord } from '../chain/record.ts';
import type { RecordId } from '../ids.ts';
import type { Clause, FactNeed } from './catalogue-shape.ts';
import { spoken } from './condition.ts';
import type { SystemClass } from './system-class.ts';
import type { EvidencePeriod, EvidenceView, Found } from './evidence-view.ts';

export const RULE_SET_2 = 'evidence-rules/2';

/** What is on record for a clause; of several that apply, the first. Never whether the clause is met. */
export const EVIDENCE_STATUSES = [
  'asserted-not-applicable',
  'not-yet-applicable',
  'no-event-recorded',
  'recorded',
  'partly-recorded',
  'nothing-recorded',
] as const;
export type EvidenceStatus = (typeof EVIDENCE_STATUSES)[number];

/** What a report asks of every row. */
export interface EvidenceQuestion extends EvidencePeriod {
  readonly framework: string;
  /** Of the system that the report is about; null: of none, or of one whose class nobody asserted. */
  readonly systemClass: SystemClass | null;
  /** Whether an assertion that a clause does not apply is about all that the report is about. */
  readonly covers: (assertions: readonly AttestationRecord[]) => boolean;
}

/** One need of a clause beside what shows it. */
export interface NeedEvidence extends Found {
  readonly anyOf: readonly string[];
  readonly facts: readonly string[];
  readonly isOptional: boolean;
  readonly isRecorded: boolean;
  /** What was never recorded, in words; null where nothing is missing. */
  readonly missing: string | null;
}

/** A clause beside what is on record for it. */
export interface ClauseEvidence {
  readonly evidenceStatus: EvidenceStatus;
  readonly needs: readonly NeedEvidence[];
  /** Of the needs that are not optional, those that are recorded. */
  readonly recordedNeeds: number;
  readonly requiredNeeds: number;
  /** What happened by which the duty arises, recorded one by one or counted; null where it stands by itself. */
  readonly events: Found | null;
  readonly assertedNotApplicable: Found;
}

/** Ids shown of events and assertions. */
const SAMPLE_IDS = 3;

/** What is on record for a clause under `evidence-rules/2`, as of the end of a period. */
export function clauseEvidence(clause: Clause, question: EvidenceQuestion, view: EvidenceView): ClauseEvidence {
  const { event } = clause;
  const happened = event === undefined ? null : view.happened(event);
  const needs = clause.needs.map((need) => needEvidence(need, event, view));
  const required = needs.filter(({ isOptional }) => !isOptional);
  const recorded = required.filter(({ isRecorded }) => isRecorded).length;
  const assertions = view.notApplicable(question.framework, clause.clause);
  const evidence = {
    needs,
    recordedNeeds: recorded,
    requiredNeeds: required.length,
    events: happened,
    assertedNotApplicable: foundOf(assertions),
  };
  const isIncomplete = event !== undefined && view.isIncomplete(event);
  return { ...evidence, evidenceStatus: statusOf(clause, question, { ...evidence, isIncomplete }, assertions) };
}

/** The first day on which a clause applies to what a report is about; null where that day is of no interest. */
export function appliesFrom(clause: Clause, systemClass: SystemClass | null): string | null {
  const ofClass = systemClass === null ? undefined : clause.appliesFromByClass?.[systemClass];
  return ofClass ?? clause.appliesFrom;
}

type Judged = Omit<ClauseEvidence, 'evidenceStatus'> & { readonly isIncomplete: boolean };

function statusOf(
  clause: Clause,
  question: EvidenceQuestion,
  { needs, events, recordedNeeds, requiredNeeds, isIncomplete }: Judged,
  assertions: readonly AttestationRecord[],
): EvidenceStatus {
  if (assertions.length > 0 && question.covers(assertions)) return 'asserted-not-applicable';
  const from = appliesFrom(clause, question.systemClass);
  if (from !== null && from > question.to) return 'not-yet-applicable';
  // Among what is not looked at there may be an event, and one that nobody was told of.
  if (events !== null && events.count === 0 && !isIncomplete) return 'no-event-recorded';
  if (requiredNeeds > 0 && recordedNeeds === requiredNeeds && !isIncomplete) return 'recorded';
  return needs.some(({ count, isRecorded }) => count > 0 || isRecorded) ? 'partly-recorded' : 'nothing-recorded';
}

/**
 * A need of a duty that arises by events is recorded where it is of every one of them: of every incident that somebody is
 * to be told of, and of every record that is itself the event.
 */
function needEvidence(need: FactNeed, event: Clause['event'], view: EvidenceView): NeedEvidence {
  const { anyOf, facts, where = [] } = need;
  const isOptional = need.optional === true;
  const shape = { anyOf, facts, isOptional };
  const about = view.about(need);
  const events = event === undefined ? [] : view.events(event);
  const ofEvents = (of: readonly AttestationRecord[], isMet: (one: AttestationRecord) => boolean): NeedEvidence => {
    const met = of.filter(isMet).length;
    const isRecorded = of.length > 0 && met === of.length;
    const missing = `${words(anyOf)}: of ${met} of ${of.length} events`;
    return { ...shape, ...about, isRecorded, missing: isRecorded || isOptional ? null : missing };
  };
  if (event !== undefined && facts.includes('incidentId')) {
    const reports = view.recordsShowing(need);
    return ofEvents(events, (incident) => isTold(need, incident, reports, view.corrections(incident)));
  }
  const own = anyOf.every((kind) => event?.anyOf.includes(kind)) ? events.filter((one) => view.meets(one, where)) : [];
  if (own.length > 0 && need.standing !== true) return ofEvents(own, (one) => view.meets(one, facts));
  const shown = view.showing(need);
  const isRecorded = shown.count > 0;
  return {
    ...shape,
    ...(isRecorded ? shown : about),
    isRecorded,
    missing: isRecorded || isOptional ? null : missingOf(need, about, view),
  };
}

/** Where an authority is to be told, that of every Member State which the incident asserts, or the AI Office. */
function isTold(
  { where = [] }: FactNeed,
  incident: AttestationRecord,
  reports: readonly AttestationRecord[],
  ids: ReadonlySet<RecordId>,
): boolean {
  const told = reports.flatMap(({ links, claims: { asserted = {} } }) =>
    links.incident !== undefined && ids.has(links.incident) ? [asserted] : [],
  );
  const isToAuthority = where.some((condition) => condition.split('|').includes('to=authority'));
  const { memberStates = [] } = incident.claims.asserted ?? {};
  if (!isToAuthority || memberStates.length === 0 || told.some(({ to }) => to === 'ai-office')) return told.length > 0;
  return memberStates.every((state) => told.some(({ memberState }) => memberState === state));
}

function missingOf(need: FactNeed, about: Found, view: EvidenceView): string {
  const { anyOf, where, facts, maxAgeDays } = need;
  const kinds = words(anyOf);
  if (about.count === 0) return `no ${kinds}${where === undefined ? '' : ` with ${spoken(where)}`}`;
  const lacks = facts.filter((fact) => view.showing({ ...need, facts: [fact] }).count === 0);
  const age = maxAgeDays === undefined ? '' : ` that is at most ${maxAgeDays} days old`;
  return lacks.length === 0
    ? `${kinds}: no single one with ${spoken(facts)}${age}`
    : `${kinds}: none with ${spoken(lacks)}${age}`;
}

function foundOf(records: readonly AttestationRecord[]): Found {
  const sampleIds: RecordId[] = records.slice(-SAMPLE_IDS).map(({ id }) => id);
  return { count: records.length, sampleIds };
}

function words(kinds: readonly string[]): string {
  return kinds.join(' or ');
}

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
  const happened = event === undefined ? null : view.about({ ...event, facts: [] });
  const events = event === undefined ? null : view.events(event);
  const needs = clause.needs.map((need) => needEvidence(need, events, view));
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
  return { ...evidence, evidenceStatus: statusOf(clause, question, evidence, assertions) };
}

/** The first day on which a clause applies to what a report is about; null where that day is of no interest. */
export function appliesFrom(clause: Clause, systemClass: SystemClass | null): string | null {
  const ofClass = systemClass === null ? undefined : clause.appliesFromByClass?.[systemClass];
  return ofClass ?? clause.appliesFrom;
}

function statusOf(
  clause: Clause,
  question: EvidenceQuestion,
  { needs, events, recordedNeeds, requiredNeeds }: Omit<ClauseEvidence, 'evidenceStatus'>,
  assertions: readonly AttestationRecord[],
): EvidenceStatus {
  if (assertions.length > 0 && question.covers(assertions)) return 'asserted-not-applicable';
  const from = appliesFrom(clause, question.systemClass);
  if (from !== null && from > question.to) return 'not-yet-applicable';
  if (events !== null && events.count === 0) return 'no-event-recorded';
  if (requiredNeeds > 0 && recordedNeeds === requiredNeeds) return 'recorded';
  return needs.some(({ count, isRecorded }) => count > 0 || isRecorded) ? 'partly-recorded' : 'nothing-recorded';
}

/** A need of a duty that arises by incidents is recorded where it is of every one of them. */
function needEvidence(need: FactNeed, events: readonly AttestationRecord[] | null, view: EvidenceView): NeedEvidence {
  const { anyOf, facts } = need;
  const isOptional = need.optional === true;
  const shape = { anyOf, facts, isOptional };
  const about = view.about(need);
  if (events !== null && facts.includes('incidentId')) {
    const told = new Set(view.recordsShowing(need).map(({ links }) => links.incident));
    const met = events.filter((incident) =>
      view
        .corrections(incident)
        .values()
        .some((id) => told.has(id)),
    );
    const isRecorded = events.length > 0 && met.length === events.length;
    const missing = `${words(anyOf)}: of ${met.length} of ${events.length} events`;
    return { ...shape, ...about, isRecorded, missing: isRecorded || isOptional ? null : missing };
  }
  const shown = view.showing(need);
  const isRecorded = shown.count > 0;
  return {
    ...shape,
    ...(isRecorded ? shown : about),
    isRecorded,
    missing: isRecorded || isOptional ? null : missingOf(need, about, view),
  };
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

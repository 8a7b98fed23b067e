import type { RecordId } from '../ids.ts';
import type { Clause, Framework, Need } from './catalogue-shape.ts';
import { alternativesOf, spoken } from './condition.ts';
import { type EvidenceKind, visibility } from './evidence-kinds.ts';
import { type FacetTally, holds, isAbout, summaryOf, type Tallies } from './tallies.ts';

/** What is on record for a clause. Never whether the clause is met. */
export const GAP_STATUSES = ['present', 'partial', 'absent', 'asserted-not-applicable'] as const;
export type GapStatus = (typeof GAP_STATUSES)[number];

/** A clause beside the records that can evidence it. */
export interface ClauseGap {
  readonly clause: Clause;
  readonly framework: string;
  readonly status: GapStatus;
  /** Records about the clause, of each kind that it names. */
  readonly counts: Readonly<Record<string, number>>;
  /** The first ids of each kind. */
  readonly sampleIds: readonly RecordId[];
  /** What was never recorded, in words. */
  readonly missing: readonly string[];
  /** Fields that evidence the clause and stay in payloads, where no count can see them. */
  readonly notVisible: readonly string[];
  /** Records by which their caller holds the clause not to apply. */
  readonly assertedNotApplicable: { readonly count: number; readonly sampleIds: readonly RecordId[] };
}

/**
 * What is on record for a clause. `present`: every need that is not optional has a record with all fields that a record
 * can be seen to have. `partial`: records about the clause, but not that. `absent`: none. `asserted-not-applicable`:
 * none but its caller's word that the clause does not apply.
 */
export function clauseGap({ id: framework }: Framework, clause: Clause, tallies: Tallies): ClauseGap {
  const kinds = [...new Set(clause.evidence.flatMap(({ anyOf }) => anyOf))];
  const about = kinds.map((kind) => [kind, talliesAbout(clause, kind, tallies)] as const);
  const asserted = summaryOf(tallies.notApplicable(framework, clause.clause));
  const missing = clause.evidence.flatMap((need) => missingOf(need, tallies));
  const records = about.reduce((sum, [, own]) => sum + summaryOf(own).count, 0);
  return {
    clause,
    framework,
    status: statusOf(records, missing.length, asserted.count),
    counts: Object.fromEntries(about.map(([kind, own]) => [kind, summaryOf(own).count])),
    sampleIds: about.flatMap(([, own]) => summaryOf(own).sampleIds),
    missing,
    notVisible: fieldsOf(clause, (kind, field) => visibility(kind, field) === 'unseen'),
    assertedNotApplicable: asserted,
  };
}

/** Every field that a clause names, without its values. */
export function fieldsOf(
  { evidence }: Clause,
  accepts: (kind: EvidenceKind, field: string) => boolean = () => true,
): string[] {
  const names = new Set<string>();
  for (const { anyOf, where = [], fields } of evidence) {
    for (const { field } of [...where, ...fields].flatMap(alternativesOf)) {
      if (anyOf.some((kind) => accepts(kind, field))) names.add(field);
    }
  }
  return [...names];
}

function statusOf(records: number, missing: number, asserted: number): GapStatus {
  if (records === 0) return asserted > 0 ? 'asserted-not-applicable' : 'absent';
  return missing === 0 ? 'present' : 'partial';
}

function talliesAbout({ evidence }: Clause, kind: EvidenceKind, tallies: Tallies): FacetTally[] {
  const needs = evidence.filter(({ anyOf }) => anyOf.includes(kind));
  return tallies.of(kind).filter(({ facet }) => needs.some((need) => isAbout(need, facet)));
}

/** What a need lacks, in words; nothing where it lacks nothing or may lack everything. */
function missingOf(need: Need, tallies: Tallies): string[] {
  const kinds = need.anyOf;
  if (need.optional === true) return [];
  const about = kinds.flatMap((kind) =>
    tallies
      .of(kind)
      .filter(({ facet }) => isAbout(need, facet))
      .map((tally) => ({ tally, asked: need.fields.filter((field) => isTold(kind, field)) })),
  );
  const names = kinds.join(' or ');
  if (about.length === 0) return [`no ${names}${need.where === undefined ? '' : ` with ${spoken(need.where)}`}`];
  if (about.some(({ tally, asked }) => asked.every((field) => isShown(field, tally)))) return [];
  const unseen = about.reduce((sum, { tally }) => sum + (tally.facet.shown === null ? tally.count : 0), 0);
  const told = need.fields.filter((field) => kinds.some((kind) => isTold(kind, field)));
  const never = told.filter((field) => !about.some(({ tally }) => isShown(field, tally)));
  const lacks = never.length > 0 ? `never with ${spoken(never)}` : `no single one with ${spoken(told)}`;
  return [`${names}: ${lacks}${unseen === 0 ? '' : ` (the fields of ${unseen} were not kept apart)`}`];
}

/** Whether records of a kind can be seen to have a field, or to lack it. */
function isTold(kind: EvidenceKind, condition: string): boolean {
  return alternativesOf(condition).some(({ field }) => visibility(kind, field) === 'told');
}

function isShown(condition: string, { facet: { shown } }: FacetTally): boolean {
  return shown !== null && holds(condition, shown);
}

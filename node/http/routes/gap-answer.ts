import { type GapReportAnswer, MAX_UNMAPPED_EVENTS } from '../../../protocol/api/gap-report.ts';
import { catalogue } from '../../../protocol/frameworks/catalogue.ts';
import type { Framework } from '../../../protocol/frameworks/catalogue-shape.ts';
import { type ClauseGap, clauseGap } from '../../../protocol/frameworks/gap.ts';
import { type FacetTally, Tallies } from '../../../protocol/frameworks/tallies.ts';
import type { TallyReading } from '../../records/counts/tally-reader.ts';

/** What a report was asked to be about. */
type Asked = Pick<GapReportAnswer, 'framework' | 'sourceId' | 'from' | 'to' | 'includeTest'>;

/** The report on counts that were read. Records of test and staging count where that was asked for. */
export function gapReportAnswer(
  frameworks: readonly Framework[],
  { tallies: all, truncated, through }: TallyReading,
  asked: Asked,
): GapReportAnswer {
  const counted = asked.includeTest ? all : all.filter((tally) => !isOfTest(tally));
  const left = asked.includeTest ? [] : all.filter(isOfTest);
  const tallies = new Tallies(counted);
  const { catalogueVersion, asOf, disclaimer } = catalogue;
  return {
    success: true,
    catalogueVersion,
    asOf,
    disclaimer,
    ...asked,
    records: recordsOf(counted),
    excluded: {
      test: recordsOf(left.filter(({ facet }) => facet.environment === 'test')),
      staging: recordsOf(left.filter(({ facet }) => facet.environment === 'staging')),
    },
    truncated,
    through,
    clauses: frameworks.flatMap((framework) =>
      framework.clauses.map((clause) => clauseAnswer(clauseGap(framework, clause, tallies))),
    ),
    unmappedEvents: tallies
      .unmapped(catalogue)
      .slice(0, MAX_UNMAPPED_EVENTS)
      .map(({ eventType, count, sampleIds }) => ({ eventType, count, sampleIds: [...sampleIds] })),
  };
}

/** A record that does not say where it was made counts as one of production. */
function isOfTest({ facet: { environment } }: FacetTally): boolean {
  return environment === 'test' || environment === 'staging';
}

function recordsOf(tallies: readonly FacetTally[]): number {
  return tallies.reduce((sum, { count }) => sum + count, 0);
}

function clauseAnswer(gap: ClauseGap): GapReportAnswer['clauses'][number] {
  const { clause, assertedNotApplicable } = gap;
  const { appliesFrom, appliesNote = null, status: legalStatus, numbers, source, check, limits = null } = clause;
  return {
    framework: gap.framework,
    clause: clause.clause,
    requirement: clause.requirement,
    status: gap.status,
    counts: { ...gap.counts },
    sampleIds: [...gap.sampleIds],
    missing: [...gap.missing],
    notVisible: [...gap.notVisible],
    assertedNotApplicable: { count: assertedNotApplicable.count, sampleIds: [...assertedNotApplicable.sampleIds] },
    appliesFrom,
    appliesNote,
    legalStatus,
    numbers,
    source,
    check,
    limits,
  };
}

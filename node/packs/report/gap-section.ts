import { dayOf } from '../../../protocol/audit/day.ts';
import type { AttestationRecord } from '../../../protocol/chain/record.ts';
import type { Clause, Framework } from '../../../protocol/frameworks/catalogue-shape.ts';
import { catalogue, frameworksInUse } from '../../../protocol/frameworks/catalogue.ts';
import { isListed } from '../../../protocol/frameworks/evidence-kinds.ts';
import { clauseEvidence, RULE_SET_2 } from '../../../protocol/frameworks/evidence-status.ts';
import { EvidenceView } from '../../../protocol/frameworks/evidence-view.ts';
import { clauseGap } from '../../../protocol/frameworks/gap.ts';
import { isOfTest } from '../../../protocol/frameworks/record-view.ts';
import { Tallies } from '../../../protocol/frameworks/tallies.ts';
import { GOVERNANCE_SOURCE } from '../../../protocol/governance/declaration.ts';
import type { PackQuestion } from '../../../protocol/pack/manifest.ts';
import { timestampOf } from '../../../protocol/time.ts';
import type { PackTally } from './pack-tally.ts';
import { cutWords, type ReportSection, tableOf } from './report-document.ts';

const COLUMNS = ['Clause', 'Requirement', 'Status', 'Needs on record', 'Missing', 'Records', 'Never checked'];

/** Frameworks of the catalogue that a question is about. */
export function askedFrameworks({ frameworks }: Pick<PackQuestion, 'frameworks'>): readonly Framework[] {
  if (frameworks === null) return catalogue.frameworks;
  return catalogue.frameworks.filter(({ id }) => frameworks.includes(id));
}

/** The same, as reports show them: of one that is not asked for by its id no clause is shown that is not in use. */
function shownFrameworks(question: Pick<PackQuestion, 'frameworks'>): readonly Framework[] {
  if (question.frameworks !== null) return askedFrameworks(question);
  return frameworksInUse.filter(({ clauses }) => clauses.length > 0);
}

/** What of the pack's own records is about each clause, and what is missing. Never whether a clause is met. */
export function gapSection(question: PackQuestion, tally: PackTally): ReportSection {
  const { from, to, kinds } = question;
  const period = { from: dayOf(from), to: dayOf(timestampOf(Math.max(Date.parse(from), Date.parse(to) - 1))) };
  const isAsked = ({ kind }: Pick<AttestationRecord, 'kind'>) => kinds === null || kinds.includes(kind);
  const counted = tally.counts().filter(({ facet }) => isAsked(facet));
  const lookedAt = tally.lookedAt.filter((record) => isAsked(record) && !isOfTest(record) && isRead(record));
  const incomplete = new Set([...tally.cutKinds].filter((kind) => isRead({ kind })));
  const view = new EvidenceView(period, lookedAt, counted, { incomplete, lockedSources: question.sources });
  const tallies = new Tallies(counted);
  const rowOf = (framework: Framework, clause: Clause): readonly string[] => {
    const terms = { ...period, framework: framework.id, systemClass: null, covers: coverage(question) };
    const { evidenceStatus, needs, recordedNeeds, requiredNeeds } = clauseEvidence(clause, terms, view);
    const gap = clauseGap(framework, clause, tallies);
    const records = Object.values(gap.counts).reduce((sum, count) => sum + count, 0);
    return [
      clause.clause,
      clause.requirement,
      evidenceStatus,
      `${recordedNeeds} of ${requiredNeeds}`,
      needs.flatMap(({ missing }) => missing ?? []).join('; '),
      String(records),
      clause.neverChecked.join('; '),
    ];
  };
  return {
    id: 'gaps',
    title: 'Clauses and what is on record',
    paragraphs: [
      `${catalogue.disclaimer} By ${RULE_SET_2} and edition ${catalogue.catalogueVersion} of the catalogue, on the ` +
        'records of this pack alone: records before the period, or of other sources, do not count here.',
      ...cutWords([...incomplete].toSorted()),
      ...(tally.ofTest === 0 ? [] : [`${tally.ofTest} records of test and staging are not counted.`]),
    ],
    tables: shownFrameworks(question).map((framework) =>
      tableOf(framework.title, COLUMNS, framework.clauses, (clause) => rowOf(framework, clause)),
    ),
  };
}

/**
 * Whether assertions are about all of a pack: about everything, about each of its sources, or about each of the systems
 * that it was asked for. One that names a system is about that one alone.
 */
function coverage({ sources, systems }: Pick<PackQuestion, 'sources' | 'systems'>) {
  return (assertions: readonly AttestationRecord[]): boolean => {
    const named = new Set(assertions.map(({ claims }) => claims.systemId));
    if (systems !== null && systems.length > 0 && systems.every((system) => named.has(system))) return true;
    const unnamed = assertions.filter(({ claims }) => claims.systemId === undefined);
    const asserted = new Set(unnamed.map(({ sourceId }) => sourceId));
    return asserted.has(GOVERNANCE_SOURCE) || sources.every((source) => asserted.has(source));
  };
}

/** Whether the rules look at a record by itself: overrides, which a table shows, they count. */
function isRead({ kind }: Pick<AttestationRecord, 'kind'>): boolean {
  return isListed(kind) || kind === 'decision';
}

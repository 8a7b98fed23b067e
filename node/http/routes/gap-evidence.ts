import type { ClauseEvidenceAnswer } from '../../../protocol/api/gap-report.ts';
import type { AttestationRecord } from '../../../protocol/chain/record.ts';
import type { Clause, Framework } from '../../../protocol/frameworks/catalogue-shape.ts';
import { clauseEvidence } from '../../../protocol/frameworks/evidence-status.ts';
import { type EvidencePeriod, EvidenceView } from '../../../protocol/frameworks/evidence-view.ts';
import { isOfTest as isOfTestRecord } from '../../../protocol/frameworks/record-view.ts';
import { type SystemClass, systemClassOf } from '../../../protocol/frameworks/system-class.ts';
import type { FacetTally } from '../../../protocol/frameworks/tallies.ts';
import { GOVERNANCE_SOURCE } from '../../../protocol/governance/declaration.ts';
import { type Caller, reaches } from '../../accounts/caller.ts';
import { TimeSlices } from '../../concurrency/time-slices.ts';
import type { GovernanceRecords } from '../../governance/governance-records.ts';
import { fieldProblem } from '../problem.ts';

/** Records of each kind that one report looks at, the newest. */
export const MAX_LISTED = 2_000;

/** What a report is about: all of an account, one source, or one system with its sources. */
export interface ReportScope {
  readonly sourceId: string | null;
  readonly systemRef: string | null;
  /** Sources whose records are counted; null: all of the account. */
  readonly sources: readonly string[] | null;
  readonly systemClass: SystemClass | null;
  /** Names of the systems whose records of governance are about it; null: of any. */
  readonly systems: ReadonlySet<string> | null;
}

/** What `evidence-rules/2` says of clauses, and what it looked at. */
export interface GapEvidence {
  readonly of: (framework: Framework, clause: Clause) => ClauseEvidenceAnswer;
  /** Records of governance that were looked at. */
  readonly listed: number;
  /** Whether there are more of a kind than a report looks at. */
  readonly truncated: boolean;
}

type Services = Pick<GovernanceRecords, 'listed' | 'page' | 'system'>;

/** A system by its name, and the one source of it that is asked for; `field`: the parameter that names it. */
interface SystemAsked {
  readonly systemRef: string;
  readonly sourceId?: string | undefined;
  readonly field?: string;
}

/** A system with its sources, or with one that is asked for. Throws `Problem` 404 `system-not-found`. */
export async function systemScope(
  governance: Services,
  { account, key }: Caller,
  { systemRef, sourceId, field = 'systemRef' }: SystemAsked,
): Promise<ReportScope> {
  const entry = await governance.system(account.id, systemRef);
  if (entry === undefined || !reaches(key, entry.sourceId)) {
    throw fieldProblem(field, 'unknown', 'is no system in the register of this node', 'system-not-found');
  }
  const { asserted = {} } = entry.claims;
  const named = asserted.sources ?? [];
  if (sourceId !== undefined && !named.includes(sourceId)) {
    throw fieldProblem('sourceId', 'unknown', `is no source of the system ${systemRef}`, 'source-not-found');
  }
  const sources = sourceId === undefined ? named.filter((source) => reaches(key, source)) : [sourceId];
  return { sourceId: null, systemRef, sources, systemClass: systemClassOf(asserted), systems: new Set([systemRef]) };
}

/** One source, and the systems that name it as theirs. */
export async function sourceScope(
  governance: Services,
  { account, key }: Caller,
  sourceId: string,
  sources: readonly string[] | null,
): Promise<ReportScope> {
  const { records } = await governance.page({
    account: account.id,
    kind: 'system',
    accepts: (record) => reaches(key, record.sourceId) && record.claims.asserted?.sources?.includes(sourceId) === true,
    currentOnly: true,
    before: undefined,
    limit: MAX_LISTED,
  });
  const entries = records.flatMap(({ record }) => record.claims.asserted ?? []);
  return {
    sourceId,
    systemRef: null,
    sources,
    systemClass: firstClass(entries.map(systemClassOf)),
    systems: new Set(entries.flatMap(({ systemRef }) => systemRef ?? [])),
  };
}

/** Evaluates a catalogue's clauses on the records of governance of a scope and the counts of the period. */
export async function readEvidence(
  governance: Services,
  { account, key }: Caller,
  scope: ReportScope,
  { includeTest, ...period }: EvidencePeriod & { readonly includeTest: boolean },
  counted: readonly FacetTally[],
): Promise<GapEvidence> {
  const { records, besides, truncated } = await governance.listed(
    account.id,
    MAX_LISTED,
    (record) =>
      reaches(key, record.sourceId) && isAboutSystem(scope, record) && (includeTest || !isOfTestRecord(record)),
  );
  const lockedSources = scope.systemRef === null ? [] : (scope.sources ?? []);
  const view = new EvidenceView(period, records, counted, { besides, incomplete: truncated, lockedSources });
  const question = { ...period, systemClass: scope.systemClass, covers: coverage(scope) };
  return {
    listed: records.length,
    truncated: truncated.size > 0,
    of: ({ id: framework }, clause) => answerOf(clause, clauseEvidence(clause, { ...question, framework }, view)),
  };
}

/** The rows of several frameworks, so many at a time that nobody else waits for all of them. */
export async function rowsOf<Row>(
  frameworks: readonly Framework[],
  row: (framework: Framework, clause: Clause) => Row,
): Promise<Row[]> {
  const rows: Row[] = [];
  const slices = new TimeSlices();
  for (const framework of frameworks) {
    await slices.each(framework.clauses, (clause) => void rows.push(row(framework, clause)));
  }
  return rows;
}

/** Whether a record of governance is about what a report is about: by the systems that it names, else by its source. */
export function isAboutSystem(
  { sourceId, sources, systems }: ReportScope,
  { sourceId: of, claims }: AttestationRecord,
): boolean {
  if (systems === null || of === sourceId) return true;
  const { systemRef, systems: named = [] } = claims.asserted ?? {};
  const about = [systemRef, claims.systemId, ...named].filter((name) => name !== undefined);
  if (about.length > 0) return about.some((name) => systems.has(name));
  return sourceId === null && sources?.includes(of) === true;
}

/**
 * The class of several systems that share a source: the one that the law applies to first; null where one of them has
 * none, to which every clause applies from its own first day.
 */
function firstClass(classes: readonly (SystemClass | null)[]): SystemClass | null {
  const [first = null] = classes;
  if (classes.every((one) => one === first)) return first;
  return classes.includes('annexIII') && !classes.includes(null) && !classes.includes('gpai') ? 'annexIII' : null;
}

/**
 * An assertion is about its source, or about the system that it names, where it is of one of its sources or of the source
 * `governance`; one of the source `governance` that names no system is about everything.
 */
function coverage({ sourceId, sources, systemRef }: ReportScope) {
  return (assertions: readonly AttestationRecord[]): boolean => {
    const unnamed = assertions.filter(({ claims }) => claims.systemId === undefined);
    const asserted = new Set(unnamed.map((record) => record.sourceId));
    if (asserted.has(GOVERNANCE_SOURCE)) return true;
    const own = new Set([GOVERNANCE_SOURCE, ...(sources ?? [])]);
    const isOfSystem = ({ claims, sourceId: of }: AttestationRecord): boolean =>
      claims.systemId === systemRef && own.has(of);
    if (systemRef !== null && assertions.some(isOfSystem)) return true;
    const asked = sourceId === null ? sources : [sourceId];
    return asked !== null && asked.length > 0 && asked.every((source) => asserted.has(source));
  };
}

function answerOf(clause: Clause, evidence: ReturnType<typeof clauseEvidence>): ClauseEvidenceAnswer {
  const { needs, events, assertedNotApplicable: asserted, evidenceStatus, recordedNeeds, requiredNeeds } = evidence;
  const { appliesFromByClass = null, derogation = null, legacyRule = null } = clause;
  return {
    evidenceStatus,
    dutyHolder: [...clause.dutyHolder],
    trigger: clause.trigger,
    recordedNeeds,
    requiredNeeds,
    needs: needs.map(({ anyOf, facts, isOptional, isRecorded, count, sampleIds, missing }) => ({
      anyOf: [...anyOf],
      facts: [...facts],
      optional: isOptional,
      recorded: isRecorded,
      count,
      sampleIds: [...sampleIds],
      missing,
    })),
    events: events === null ? null : { count: events.count, sampleIds: [...events.sampleIds] },
    notApplicableWithReason: { count: asserted.count, sampleIds: [...asserted.sampleIds] },
    neverChecked: [...clause.neverChecked],
    appliesFromByClass,
    derogation,
    legacyRule,
    checkedAt: clause.checkedAt,
  };
}

import { EXAMPLE_IDS } from '../../../protocol/api/example-ids.ts';
import type { Static } from 'typebox';
import {
  type ClauseEvidenceAnswer,
  DEFAULT_REPORT_DAYS,
  GAP_REPORT_EXAMPLE,
  type GapReportAnswer,
  GapReportAnswerShape,
  GapReportQueryShape,
  MAX_REPORT_DAYS,
  MAX_UNMAPPED_EVENTS,
} from '../../../protocol/api/gap-report.ts';
import { type AuditDay as UtcDay, dayOf, dayStart, isAuditDay as isUtcDay } from '../../../protocol/audit/day.ts';
import type { Framework } from '../../../protocol/frameworks/catalogue-shape.ts';
import { catalogue, frameworksInUse } from '../../../protocol/frameworks/catalogue.ts';
import { RULE_SET_2 } from '../../../protocol/frameworks/evidence-status.ts';
import { type ClauseGap, clauseGap } from '../../../protocol/frameworks/gap.ts';
import { type FacetTally, Tallies } from '../../../protocol/frameworks/tallies.ts';
import type { NodeId } from '../../../protocol/ids.ts';
import { readRfc3339, TimeError, timestampOf } from '../../../protocol/time.ts';
import { AUDIT_SOURCE } from '../../accounts/audit-log/daily-head-draft.ts';
import { type Caller, hasPeriod, reaches } from '../../accounts/caller.ts';
import { KeyedLock } from '../../concurrency/keyed-lock.ts';
import { readTallies, type TallyReading } from '../../records/counts/tally-reader.ts';
import type { GovernanceRecords } from '../../governance/governance-records.ts';
import type { RecordCounters } from '../../records/record-counters.ts';
import { hasRecords } from '../../records/sources/sources.ts';
import type { Store } from '../../store/store.ts';
import { fieldProblem, Problem } from '../problem.ts';
import { queryReader } from '../query.ts';
import type { KeyRoute, ParameterDocumentation } from '../route.ts';
import { type GapEvidence, readEvidence, type ReportScope, rowsOf, sourceScope, systemScope } from './gap-evidence.ts';
import { requireFramework } from './frameworks.ts';

export interface GapReportServices {
  readonly store: Store;
  readonly counters: Pick<RecordCounters, 'flush'>;
  readonly governanceRecords: Pick<GovernanceRecords, 'listed' | 'page' | 'system'>;
  readonly node: NodeId;
  readonly now: () => number;
}

interface Range {
  readonly from: UtcDay;
  readonly to: UtcDay;
}

const DAY_MS = 86_400_000;
/** No time of a record lies before it. */
const FIRST_DAY = Date.parse('0000-01-01T00:00:00.000Z');
const { properties } = GapReportQueryShape;

const QUERY: Readonly<Record<string, ParameterDocumentation>> = {
  framework: {
    description: 'Id of a framework; none: all of them.',
    shape: properties.framework,
    example: 'EU_AI_ACT',
  },
  sourceId: {
    description: 'One source; none: all that the key reaches.',
    shape: properties.sourceId,
    example: 'loan-model',
  },
  from: {
    description: 'First UTC day: a date, or an RFC 3339 time on it.',
    shape: properties.from,
    example: '2025-11-22',
  },
  to: { description: 'Last UTC day, included. Default: today.', shape: properties.to, example: '2026-11-21' },
  includeTest: {
    description: 'Whether records of test and staging count.',
    shape: properties.includeTest,
    example: 'false',
  },
  systemRef: {
    description: 'One system of the register, with its sources, or with the one of `sourceId`.',
    shape: properties.systemRef,
    example: EXAMPLE_IDS.systemRef,
  },
  role: { description: 'Clauses whose duty is of this role.', shape: properties.role, example: 'deployer' },
};

/**
 * `GET /v1/reports/gap` (api-rules §10 item 2): what is on record for each clause, from counts that are kept with the
 * records. An account's reports are made one after the other.
 */
export function gapReportRoute({ store, counters, governanceRecords, node, now }: GapReportServices): KeyRoute {
  const readQuery = queryReader(GapReportQueryShape);
  const locks = new KeyedLock();
  return {
    method: 'GET',
    path: '/v1/reports/gap',
    access: 'key',
    scope: 'export:read',
    documentation: {
      summary: 'What is on record for each clause of a framework, and what is missing',
      description:
        'Of records made on this node. `present`: a record with every field that records can be seen to have, for ' +
        'each need that is not optional. `partial`: records about the clause, but not that; `missing` says what. ' +
        '`absent`: none. `asserted-not-applicable`: none, but records of the event `NOT_APPLICABLE` with ' +
        '`data.framework` and `data.clause`. It tells what was recorded and determines nothing. Whole UTC days, by ' +
        `default the last ${DEFAULT_REPORT_DAYS}, at most ${MAX_REPORT_DAYS}. The heads of the key-use log, which is ` +
        'of the whole account, also count for one source, where the key reaches all. `status` is by `evidence-rules/1`; ' +
        '`evidenceStatus` is by `evidence-rules/2`: the first that applies of `asserted-not-applicable` (with a reason, ' +
        'a person and a date of review), `not-yet-applicable`, `no-event-recorded`, `recorded`, `partly-recorded`, ' +
        '`nothing-recorded`. Its needs ask for signed facts, say what they rest on, and look at records of governance ' +
        'one by one as of the last day. With `systemRef` it is of one system of the register and its sources.',
      query: QUERY,
      answer: { shape: GapReportAnswerShape, example: GAP_REPORT_EXAMPLE },
      problems: ['invalid-field', 'time-order', 'framework-not-found', 'source-not-found', 'system-not-found'],
    },
    async answer({ query }, caller) {
      const asked = readQuery(query);
      const range = rangeOf(asked, now());
      const frameworks = asked.framework === undefined ? frameworksInUse : [requireFramework(asked.framework)];
      const scope = await scopeOf(store, governanceRecords, caller, asked);
      const account = caller.account.id;
      const { reading, evidence } = await locks.exclusive(account, async () => {
        await counters.flush();
        const read = await readTallies(store, { account, sources: scope.sources, ...range });
        const includeTest = asked.includeTest === 'true';
        const counted = includeTest ? read.tallies : read.tallies.filter((tally) => !isOfTest(tally));
        const terms = { ...range, includeTest };
        return { reading: read, evidence: await readEvidence(governanceRecords, caller, scope, terms, counted) };
      });
      const body = await gapReportAnswer(frameworks, reading, evidence, {
        ...range,
        node,
        framework: asked.framework ?? null,
        sourceId: asked.sourceId ?? null,
        systemRef: asked.systemRef ?? null,
        systemClass: scope.systemClass,
        role: asked.role ?? null,
        includeTest: asked.includeTest === 'true',
      });
      return { body };
    },
  };
}

type Asking = Static<typeof GapReportQueryShape>;

/** Throws `Problem` 400, 403 and 404. */
async function scopeOf(
  store: Store,
  governance: GapReportServices['governanceRecords'],
  caller: Caller,
  { sourceId, systemRef }: Asking,
): Promise<ReportScope> {
  const sources = await sourcesOf(store, caller, sourceId);
  if (systemRef !== undefined) return systemScope(governance, caller, { systemRef, sourceId });
  if (sourceId !== undefined) return sourceScope(governance, caller, sourceId, sources);
  return { sourceId: null, systemRef: null, sources, systemClass: null, systems: null };
}

/** Null: all of the account's. Throws `Problem` 403 and 404. */
async function sourcesOf(
  store: Store,
  { account, key }: Caller,
  asked: string | undefined,
): Promise<readonly string[] | null> {
  if (hasPeriod(key)) throw new Problem('scope-forbidden', 'This key sees the records of a period alone.');
  if (asked === undefined) return key.sources === null ? null : [...new Set(key.sources)];
  if (!reaches(key, asked)) throw new Problem('scope-forbidden', 'This key is limited to other sources.');
  if (!(await hasRecords(store, { account: account.id, sourceId: asked }))) {
    throw fieldProblem('sourceId', 'unknown', 'has no record on this node', 'source-not-found');
  }
  return key.sources === null && asked !== AUDIT_SOURCE ? [asked, AUDIT_SOURCE] : [asked];
}

/** Throws `Problem` 400. */
function rangeOf(asked: { readonly from?: string; readonly to?: string }, now: number): Range {
  const last = asked.to === undefined ? dayOf(timestampOf(now)) : dayNamed('to', asked.to);
  const first = asked.from === undefined ? daysBefore(last, DEFAULT_REPORT_DAYS - 1) : dayNamed('from', asked.from);
  if (first > last) throw fieldProblem('to', 'time-order', 'is before from', 'time-order');
  if ((dayStart(last) - dayStart(first)) / DAY_MS >= MAX_REPORT_DAYS) {
    throw fieldProblem('from', 'maximum', `is more than ${MAX_REPORT_DAYS} days before to`);
  }
  return { from: first, to: last };
}

function dayNamed(field: string, text: string): UtcDay {
  if (isUtcDay(text)) return text;
  try {
    return dayOf(timestampOf(readRfc3339(text)));
  } catch (error) {
    if (!(error instanceof TimeError)) throw error;
    throw fieldProblem(field, 'format', 'is neither a date nor an RFC 3339 time');
  }
}

function daysBefore(day: UtcDay, days: number): UtcDay {
  return dayOf(timestampOf(Math.max(dayStart(day) - days * DAY_MS, FIRST_DAY)));
}

/** What a report was asked to be about. */
type Asked = Pick<
  GapReportAnswer,
  'framework' | 'from' | 'includeTest' | 'node' | 'role' | 'sourceId' | 'systemClass' | 'systemRef' | 'to'
>;

/** The report on counts that were read. Records of test and staging count where that was asked for. */
async function gapReportAnswer(
  frameworks: readonly Framework[],
  { tallies: all, truncated, through }: TallyReading,
  evidence: GapEvidence,
  asked: Asked,
): Promise<GapReportAnswer> {
  const counted = asked.includeTest ? all : all.filter((tally) => !isOfTest(tally));
  const left = asked.includeTest ? [] : all.filter(isOfTest);
  const tallies = new Tallies(counted);
  const { catalogueVersion, asOf, disclaimer } = catalogue;
  return {
    success: true,
    catalogueVersion,
    asOf,
    disclaimer,
    ruleSet: RULE_SET_2,
    ...asked,
    listed: evidence.listed,
    listedTruncated: evidence.truncated,
    records: recordsOf(counted),
    excluded: {
      test: recordsOf(left.filter(({ facet }) => facet.environment === 'test')),
      staging: recordsOf(left.filter(({ facet }) => facet.environment === 'staging')),
    },
    truncated,
    through,
    clauses: await rowsOf(dutiesOf(frameworks, asked.role), (framework, clause) => ({
      ...clauseAnswer(clauseGap(framework, clause, tallies)),
      ...evidence.of(framework, clause),
    })),
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

/** The clauses whose duty is of a role; null: all. */
function dutiesOf(frameworks: readonly Framework[], role: Asked['role']): readonly Framework[] {
  if (role === null) return frameworks;
  return frameworks.map((framework) => ({
    ...framework,
    clauses: framework.clauses.filter(({ dutyHolder }) => dutyHolder.includes(role)),
  }));
}

function clauseAnswer(gap: ClauseGap): Omit<GapReportAnswer['clauses'][number], keyof ClauseEvidenceAnswer> {
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

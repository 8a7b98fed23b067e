import { dayEnd, dayStart } from '../audit/day.ts';
import type { AttestationRecord } from '../chain/record.ts';
import { NOT_APPLICABLE_EVENT } from './event-types.ts';
import { isListed } from './evidence-kinds.ts';
import { type EvidencePeriod, EvidenceView } from './evidence-view.ts';
import { facetText, readFacet } from './facet.ts';
import type { FacetTally } from './tallies.ts';

/**
 * The view of a period on records that somebody holds, all of them, in any order: what a node has from its counts and
 * its index of governance. Records of test and staging count where `includeTest` says so.
 */
export function viewOfRecords(
  period: EvidencePeriod,
  records: readonly AttestationRecord[],
  { includeTest = false }: { readonly includeTest?: boolean } = {},
): EvidenceView {
  const lookedAt = records.filter((record) => isLookedAt(record) && (includeTest || !isOfTest(record)));
  return new EvidenceView(period, lookedAt, countsOf(period, records, includeTest));
}

/** Whether a record says that it was made in a test or staging environment. */
export function isOfTest({ claims: { environment } }: Pick<AttestationRecord, 'claims'>): boolean {
  return environment === 'test' || environment === 'staging';
}

/** Whether the rules look at a record by itself. */
function isLookedAt({ kind, claims }: AttestationRecord): boolean {
  return isListed(kind) || (kind === 'decision' && claims.eventType === NOT_APPLICABLE_EVENT);
}

/** Records of the period, counted by their facets. */
function countsOf(
  { from, to }: EvidencePeriod,
  records: readonly AttestationRecord[],
  includeTest: boolean,
): readonly FacetTally[] {
  const byFacet = new Map<string, AttestationRecord[]>();
  for (const record of records) {
    const at = Date.parse(record.submittedAt);
    if (at < dayStart(from) || at >= dayEnd(to) || (!includeTest && isOfTest(record))) continue;
    const text = facetText(record);
    const same = byFacet.get(text);
    if (same === undefined) byFacet.set(text, [record]);
    else same.push(record);
  }
  return [...byFacet].map(([text, same]) => tallyOf(text, same));
}

function tallyOf(text: string, records: readonly AttestationRecord[]): FacetTally {
  const facet = readFacet(text);
  const ids = records.map(({ id }) => id).sort();
  const last = ids.at(-1);
  if (facet === undefined || last === undefined) throw new RangeError(`${text} is no facet of records`);
  return { facet, count: ids.length, first: ids.slice(0, FIRST_IDS), last };
}

/** First ids that a count keeps. */
const FIRST_IDS = 3;

import type { RecordId } from '../../../protocol/ids.ts';
import { nodeOfRecord } from '../../../protocol/ids.ts';
import { isIdOf, recordOfAnyId } from '../../../protocol/object-ids.ts';
import type { RecordReport } from '../../pages/page.ts';
import type { Pages } from '../../pages/pages.ts';
import type { FederationKeys } from '../../log/members/federation-keys.ts';
import { EvidenceDamagedError } from '../../verification/evidence.ts';
import type { VerifiedRecord, Verifier } from '../../verification/verifier.ts';
import type { PageRoute } from '../route.ts';
import { payloadStateAnswer } from '../routes/verdict-answer.ts';
import { pageAnswer } from './page-answer.ts';

export interface RecordPageSources {
  readonly pages: Pages;
  readonly verifier: Pick<Verifier, 'verifyRecord'>;
  readonly keys: Pick<FederationKeys, 'rosters'>;
  readonly baseUrl: () => string;
}

/** `GET /v?id=…`: the form of the first page, which leads to the page of a record. */
export function recordLookupRoute(): PageRoute {
  return {
    method: 'GET',
    path: '/v',
    access: 'free',
    isPage: true,
    async answer({ query }) {
      const id = (query.get('id') ?? '').trim();
      return { status: 303, headers: { Location: `./v/${encodeURIComponent(id === '' ? '-' : id)}` }, body: '' };
    },
  };
}

/** `GET /v/:id`: one record for people. */
export function recordPageRoute(sources: RecordPageSources): PageRoute {
  return {
    method: 'GET',
    path: '/v/:id',
    access: 'free',
    isPage: true,
    async answer({ params: { id: given = '' } }) {
      const id = recordOfAnyId(given);
      const report = id === undefined ? null : await reportOf(sources, id, given);
      const { genesis, current } = sources.keys.rosters;
      const url = `${sources.baseUrl()}/v/${id ?? ''}`;
      const page = {
        name: 'record',
        id: report === null || id === undefined ? given : id,
        fingerprint: genesis,
        federation: current.name,
        url,
        report,
      } as const;
      return pageAnswer(sources.pages, page, '../', { status: report === null ? 404 : 200 });
    },
  };
}

/** Null where nobody at hand knows the record, or it is of another kind than the given id says. */
async function reportOf(
  { verifier, keys }: RecordPageSources,
  id: RecordId,
  given: string,
): Promise<RecordReport | null> {
  try {
    const verified = await verifier.verifyRecord(id);
    if (verified === undefined || !isIdOf(given, verified.evidence.record)) return null;
    return reportOn(verified, keys.rosters.current.members.length);
  } catch (error) {
    if (!(error instanceof EvidenceDamagedError)) throw error;
    return damagedReport(id);
  }
}

function reportOn({ verdict, evidence: { record }, links }: VerifiedRecord, members: number): RecordReport {
  const { word, checks, problems, ledger, witnesses, facts } = verdict;
  return {
    kind: record.kind,
    node: record.node,
    submittedAt: record.submittedAt,
    word,
    checks,
    problems,
    ledger,
    witnesses,
    members,
    payloadState: payloadStateAnswer(facts.payload),
    links,
  };
}

/** What was recorded is there, and cannot be read any more. */
function damagedReport(id: RecordId): RecordReport {
  return {
    kind: 'unreadable',
    node: nodeOfRecord(id),
    submittedAt: null,
    word: 'not-signed',
    checks: {
      leafRederived: false,
      payloadHashMatch: false,
      proofWalk: false,
      bundleBinding: false,
      sigValid: false,
    },
    problems: [],
    ledger: null,
    witnesses: [],
    members: null,
    payloadState: null,
    links: { overrides: 0, incidents: 0, session: false },
  };
}

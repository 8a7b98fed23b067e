import Type from 'typebox';
import { RECORD_FILTERS } from '../../../protocol/api/attestations.ts';
import { EXAMPLE_IDS } from '../../../protocol/api/example-ids.ts';
import type { AttestationRecord } from '../../../protocol/chain/record.ts';
import { recordOfObject } from '../../../protocol/object-ids.ts';
import type { RecordKind } from '../../../protocol/statement/vocabulary.ts';
import { type Timestamp, timestampOf } from '../../../protocol/time.ts';
import { OrdinalShape } from '../../../protocol/shapes.ts';
import type { Caller } from '../../accounts/caller.ts';
import type { Place, RecordFilter, RecordLists } from '../../records/sources/record-page.ts';
import { sourceKey } from '../../records/sources/sources.ts';
import { proofWindowOpensAt } from '../../verification/attestation/attestation-answer.ts';
import { fieldProblem } from '../problem.ts';
import { type Period, readPeriod } from '../query.ts';
import { FilteredCursor, type Filters } from '../page-cursor.ts';
import { requireReach } from '../recording/recording.ts';
import type { ParameterDocumentation } from '../route.ts';

/** The key part of a source. */
export const SourceKeyShape = Type.String({ pattern: '^[0-9a-f]{32}$' });
const DEFAULT_PAGE = 50;

/** By a source, and a number in it. */
export const RECORD_CURSOR = new FilteredCursor(Type.Tuple([SourceKeyShape, OrdinalShape]), [
  sourceKey(EXAMPLE_IDS.source),
  1,
]);

/** What every list of records takes. */
export interface ListQuery {
  readonly sourceId?: string | undefined;
  readonly from?: string;
  readonly to?: string;
  readonly cursor?: string;
  readonly limit?: number;
}

/** What else a list is narrowed by. */
export interface Narrowing {
  readonly accepts?: ((record: AttestationRecord) => boolean) | undefined;
  /** What tells these records apart from those of other lists: a cursor is bound to it. */
  readonly by: Filters;
}

/** One page of a list. */
export interface ListedPage {
  readonly records: readonly AttestationRecord[];
  /** Places whose records cannot be read; the source where request or key names it. */
  readonly unreadable: readonly { readonly sourceId: string | null; readonly sourceSeq: number }[];
  readonly listedFrom: Timestamp | null;
  readonly nextCursor: string | null;
}

/**
 * Which of an account's records a caller is shown: of the sources and the period of the key, and within the proof window
 * of the tier. Throws `Problem` 400 and 403.
 */
export function listFilter(
  caller: Caller,
  { sourceId, ...times }: Pick<ListQuery, 'from' | 'sourceId' | 'to'>,
  now: number,
  accepts?: (record: AttestationRecord) => boolean,
): { readonly filter: RecordFilter; readonly listedFrom: number | null } {
  requireReach(caller, sourceId);
  const listedFrom = proofWindowOpensAt(caller.account.tier, now);
  const period = shownOf(seenBy(caller, readPeriod(times)), listedFrom);
  const sources = sourceId === undefined ? caller.key.sources : [sourceId];
  return { filter: { account: caller.account.id, sources, accepts, ...period }, listedFrom };
}

/**
 * A page of the caller's records on this node, of those that are accepted: within the sources and the period of the key
 * and the proof window of the tier. Throws `Problem` 400 and 403.
 */
export async function listRecords(
  { lists, now }: { readonly lists: Pick<RecordLists, 'page'>; readonly now: () => number },
  caller: Caller,
  { sourceId, cursor, limit = DEFAULT_PAGE, ...times }: ListQuery,
  { accepts, by }: Narrowing,
): Promise<ListedPage> {
  const filters = { ...by, sourceId, ...readPeriod(times) };
  const [source, sourceSeq] = RECORD_CURSOR.read(cursor, filters) ?? [];
  const place = source === undefined || sourceSeq === undefined ? undefined : { source, sourceSeq };
  const { filter, listedFrom } = listFilter(caller, { sourceId, ...times }, now(), accepts);
  const { records, unreadable, next } = await lists.page(filter, place, limit);
  return {
    records,
    unreadable: unreadable.map((at) => ({ sourceId: nameOf(at, caller, sourceId), sourceSeq: at.sourceSeq })),
    listedFrom: listedFrom === null ? null : timestampOf(listedFrom),
    nextCursor: next === null ? null : RECORD_CURSOR.write([next.source, next.sourceSeq], filters),
  };
}

/** As much of a period as the key may see: its end is the first moment that is not. */
function seenBy({ key: { from: first = null, to: last = null } }: Caller, { from, to }: Period): Period {
  const begin = first === null ? from : Math.max(from ?? 0, Date.parse(first));
  const end = last === null ? to : Math.min(to ?? Number.POSITIVE_INFINITY, Date.parse(last) + 1);
  return { from: begin, to: end };
}

/** A period that lies before the proof window is refused; one that begins before it is cut. Throws `Problem` 403. */
function shownOf({ from, to }: Period, listedFrom: number | null): Period {
  if (listedFrom === null) return { from, to };
  if (to === undefined || to > listedFrom) return { from: Math.max(from ?? listedFrom, listedFrom), to };
  throw fieldProblem(
    'to',
    'proof-window',
    `is before ${timestampOf(listedFrom)}, from when on the tier lists records`,
    'proof-window-expired',
  );
}

/** The source of a record that cannot be read, where the request or the key names it. */
function nameOf({ source }: Place, { key }: Caller, sourceId: string | undefined): string | null {
  const names = sourceId === undefined ? (key.sources ?? []) : [sourceId];
  return names.find((name) => sourceKey(name) === source) ?? null;
}

/** Facts that a list of records is narrowed by. */
export interface RecordFacts {
  readonly kind?: RecordKind | undefined;
  readonly modelId?: string | undefined;
  readonly riskLevel?: string | undefined;
  readonly agentId?: string | undefined;
  readonly sessionId?: string | undefined;
}

/** Whether a record has all of these facts; undefined where none is asked for. Throws `Problem` 400. */
export function acceptanceOf(facts: RecordFacts): ((record: AttestationRecord) => boolean) | undefined {
  const { kind, modelId, riskLevel, agentId, sessionId } = facts;
  if (Object.values(facts).every((fact) => fact === undefined)) return undefined;
  const session = sessionId === undefined ? undefined : recordOfObject('session', sessionId);
  if (sessionId !== undefined && session === undefined) {
    throw fieldProblem('sessionId', 'pattern', 'is not the id of a session');
  }
  return ({ kind: own, claims, links }) =>
    (kind ?? own) === own &&
    (modelId ?? claims.modelId) === claims.modelId &&
    (riskLevel ?? claims.riskLevel) === claims.riskLevel &&
    (agentId ?? claims.agentId) === claims.agentId &&
    (session ?? links.session) === links.session;
}

/** What the documentation says of these parameters. */
export const FACT_PARAMETERS = {
  modelId: { description: 'Records of one model.', shape: RECORD_FILTERS.modelId, example: 'model-7' },
  riskLevel: { description: 'Records of one level of risk.', shape: RECORD_FILTERS.riskLevel, example: 'high' },
  agentId: { description: 'Records of one agent.', shape: RECORD_FILTERS.agentId, example: EXAMPLE_IDS.agent },
  sessionId: {
    description: 'Records within one session.',
    shape: RECORD_FILTERS.sessionId,
    example: EXAMPLE_IDS.session,
  },
} satisfies Readonly<Record<string, ParameterDocumentation>>;

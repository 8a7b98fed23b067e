import type { Static, TSchema } from 'typebox';
import { MAX_ATTESTATIONS_PAGE } from '../../../protocol/api/attestations.ts';
import { EXAMPLE_IDS } from '../../../protocol/api/example-ids.ts';
import {
  type AssessmentItem,
  AssessmentsAnswerShape,
  type CorrectiveActionItem,
  CorrectiveActionsAnswerShape,
  RECORD_LIST_EXAMPLES,
  RecordListQueryShape,
  type ReviewItem,
  ReviewsAnswerShape,
  type SessionItem,
  SessionsAnswerShape,
} from '../../../protocol/api/record-lists.ts';
import type { AttestationRecord } from '../../../protocol/chain/record.ts';
import type { NodeId, RecordId } from '../../../protocol/ids.ts';
import type { JsonObject } from '../../../protocol/json/value.ts';
import { objectId } from '../../../protocol/object-ids.ts';
import type { RecordKind } from '../../../protocol/statement/vocabulary.ts';
import { sessionCountTable } from '../../governance/sessions.ts';
import { linkingIds, type LinkName } from '../../records/link-tables.ts';
import { readRecord } from '../../records/record-reader.ts';
import type { RecordLists } from '../../records/sources/record-page.ts';
import type { Reads } from '../../store/store.ts';
import { queryReader } from '../query.ts';
import type { KeyRoute, ParameterDocumentation } from '../route.ts';
import { listRecords, type Narrowing, RECORD_CURSOR } from './record-listing.ts';

export interface KindListServices {
  readonly store: Reads;
  readonly node: NodeId;
  readonly lists: Pick<RecordLists, 'page'>;
  readonly now: () => number;
}

/** A list of the records of some kinds, and what an item of it is. */
interface KindList {
  readonly path: `/v1/${string}`;
  readonly summary: string;
  readonly description: string;
  readonly kinds: readonly RecordKind[];
  readonly shape: TSchema;
  readonly example: JsonObject;
  readonly item: (services: KindListServices, record: AttestationRecord) => Promise<JsonObject>;
}

const { sourceId: SOURCE, from: FROM, to: TO, limit: LIMIT } = RecordListQueryShape.properties;
const QUERY: Readonly<Record<keyof Static<typeof RecordListQueryShape>, ParameterDocumentation>> = {
  sourceId: { description: 'One source.', shape: SOURCE, example: EXAMPLE_IDS.source },
  from: { description: 'Records from this time or day on.', shape: FROM, example: '2026-11-20T00:00:00Z' },
  to: { description: 'Records before this time or day.', shape: TO, example: '2026-11-22T00:00:00Z' },
  cursor: RECORD_CURSOR.parameter,
  limit: { description: `At most ${MAX_ATTESTATIONS_PAGE}.`, shape: LIMIT, example: '50' },
};

const LISTS: readonly KindList[] = [
  {
    path: '/v1/sessions',
    summary: 'The sessions of use of the account on this node',
    description: 'Each by the record of its start, with the record of its end once there is one.',
    kinds: ['session_start'],
    shape: SessionsAnswerShape,
    example: RECORD_LIST_EXAMPLES.sessions,
    item: sessionItem,
  },
  {
    path: '/v1/reviews',
    summary: 'The reviews by people of the account on this node',
    description: 'What a person looked at again, under a pseudonym: the same person has the same one.',
    kinds: ['human_override'],
    shape: ReviewsAnswerShape,
    example: RECORD_LIST_EXAMPLES.reviews,
    item: async (_services, record) => reviewItem(record),
  },
  {
    path: '/v1/assessments',
    summary: 'The risk and impact assessments of the account on this node',
    description: 'All revisions, each with the one before it and the one after it.',
    kinds: ['risk_assessment', 'impact_assessment'],
    shape: AssessmentsAnswerShape,
    example: RECORD_LIST_EXAMPLES.assessments,
    item: assessmentItem,
  },
  {
    path: '/v1/corrective-actions',
    summary: 'The corrective actions of the account on this node',
    description: 'All revisions: those of one action have the same `correctiveActionId`.',
    kinds: ['corrective_action'],
    shape: CorrectiveActionsAnswerShape,
    example: RECORD_LIST_EXAMPLES.correctiveActions,
    item: async (_services, record) => correctiveActionRow(record),
  },
];

/** `GET /v1/sessions`, `/v1/reviews`, `/v1/assessments` and `/v1/corrective-actions` (api-rules §10 item 7). */
export function kindListRoutes(services: KindListServices): readonly KeyRoute[] {
  return LISTS.map((list) => kindListRoute(services, list));
}

function kindListRoute(services: KindListServices, list: KindList): KeyRoute {
  const readQuery = queryReader(RecordListQueryShape);
  const narrowing: Narrowing = { accepts: ({ kind }) => list.kinds.includes(kind), by: { list: list.path } };
  return {
    method: 'GET',
    path: list.path,
    access: 'key',
    scope: 'proof:read',
    documentation: {
      summary: list.summary,
      description:
        `${list.description} Of one source in its own order, the newest last; without \`sourceId\` source after source. ` +
        'A page looks at a bounded number of records: it may hold few, or none, and still have a `nextCursor`.',
      query: QUERY,
      answer: { shape: list.shape, example: list.example },
      problems: ['invalid-field', 'time-order', 'proof-window-expired'],
    },
    async answer({ query }, caller) {
      const { records, listedFrom, nextCursor } = await listRecords(services, caller, readQuery(query), narrowing);
      const items: JsonObject[] = [];
      for (const record of records) items.push({ ...commonOf(record), ...(await list.item(services, record)) });
      return { body: { success: true, items, listedFrom, nextCursor } };
    },
  };
}

type Common = 'attestationId' | 'sourceId' | 'sourceSeq' | 'submittedAt';

function commonOf({ id, sourceId, sourceSeq, submittedAt }: AttestationRecord): Pick<SessionItem, Common> {
  return { attestationId: id, sourceId, sourceSeq, submittedAt };
}

async function sessionItem(services: KindListServices, { id }: AttestationRecord): Promise<Omit<SessionItem, Common>> {
  const end = await linkedBy(services, id, 'session', 'session_end');
  const ended = end && (await readRecord(services.store, end));
  return {
    sessionId: objectId('session', id),
    endedAt: ended?.record.submittedAt ?? null,
    endAttestationId: end ?? null,
    recordedDecisionCount: (await sessionCountTable.get(services.store, id)) ?? 0,
  };
}

function reviewItem({ id, links, claims }: AttestationRecord): Omit<ReviewItem, Common> {
  return {
    overrideId: objectId('override', id),
    originalAttestationId: links.original ?? null,
    reviewer: claims.reviewer ?? null,
    reviewOutcome: claims.reviewOutcome ?? null,
  };
}

async function assessmentItem(
  services: KindListServices,
  { id, kind, links, claims }: AttestationRecord,
): Promise<Omit<AssessmentItem, Common>> {
  const isRisk = kind === 'risk_assessment';
  return {
    assessmentId: objectId(isRisk ? 'riskAssessment' : 'impactAssessment', id),
    type: isRisk ? 'risk' : 'impact',
    rating: (isRisk ? claims.residualRisk : claims.overallRating) ?? null,
    reviewDueAt: claims.asserted?.reviewDueAt ?? null,
    supersedes: links.supersedes ?? null,
    supersededBy: (await linkedBy(services, id, 'supersedes', kind)) ?? null,
  };
}

/** A revision of a corrective action as lists have it. */
export function correctiveActionRow(record: AttestationRecord): CorrectiveActionItem {
  const { id, links, claims } = record;
  return {
    ...commonOf(record),
    correctiveActionId: objectId('correctiveAction', links.correctiveAction ?? id),
    revision: claims.revision ?? 1,
    actionStatus: claims.actionStatus ?? 'planned',
    incidentId: links.incident === undefined ? null : objectId('incident', links.incident),
    dueAt: claims.asserted?.dueAt ?? null,
  };
}

/** The first own record of a kind that links to one. */
async function linkedBy(
  { store, node }: KindListServices,
  target: RecordId,
  name: LinkName,
  kind: RecordKind,
): Promise<RecordId | undefined> {
  return (await linkingIds(store, { target, name, kind }, 1, node))[0];
}

import {
  ATTESTATIONS_EXAMPLE,
  type AttestationsAnswer,
  AttestationsAnswerShape,
  AttestationsQueryShape,
  MAX_ATTESTATIONS_PAGE,
} from '../../../protocol/api/attestations.ts';
import { EXAMPLE_IDS } from '../../../protocol/api/example-ids.ts';
import type { AttestationRecord } from '../../../protocol/chain/record.ts';
import { readSeeds } from '../../records/payload/payload-keys.ts';
import type { RecordLists } from '../../records/sources/record-page.ts';
import { BatchStatuses, type BatchStatusSources } from '../../verification/batch-statuses.ts';
import { queryReader } from '../query.ts';
import type { KeyRoute } from '../route.ts';
import { acceptanceOf, FACT_PARAMETERS, listRecords, RECORD_CURSOR } from './record-listing.ts';

interface AttestationsServices extends BatchStatusSources {
  readonly lists: RecordLists;
  readonly now: () => number;
}

const { sourceId: SOURCE, from: FROM, to: TO, kind: KIND, limit: LIMIT } = AttestationsQueryShape.properties;

/** `GET /v1/attestations`: the records of the caller's account on this node. */
export function attestationsRoute(services: AttestationsServices): KeyRoute {
  const readQuery = queryReader(AttestationsQueryShape);
  return {
    method: 'GET',
    path: '/v1/attestations',
    access: 'key',
    scope: 'proof:read',
    documentation: {
      summary: 'The records of the account on this node',
      description:
        'Of one source in its own order, the newest last; without `sourceId` source after source, in an order of ' +
        'theirs that stays the same and says nothing. A page looks at a bounded number of records: with a filter it ' +
        'may hold few, or none, and still have a `nextCursor`. A key that is limited to some sources lists those. The ' +
        'Developer tier is shown seven days.',
      query: {
        sourceId: { description: 'One source.', shape: SOURCE, example: EXAMPLE_IDS.source },
        from: { description: 'Records from this time or day on.', shape: FROM, example: '2026-11-20T00:00:00Z' },
        to: { description: 'Records before this time or day.', shape: TO, example: '2026-11-22T00:00:00Z' },
        kind: { description: 'Records of one kind.', shape: KIND, example: 'decision' },
        ...FACT_PARAMETERS,
        cursor: RECORD_CURSOR.parameter,
        limit: { description: `At most ${MAX_ATTESTATIONS_PAGE}.`, shape: LIMIT, example: '50' },
      },
      answer: { shape: AttestationsAnswerShape, example: ATTESTATIONS_EXAMPLE },
      problems: ['invalid-field', 'time-order', 'proof-window-expired'],
    },
    async answer({ query }, caller) {
      const { kind, modelId, riskLevel, agentId, sessionId, ...asked } = readQuery(query);
      const by = { kind, modelId, riskLevel, agentId, sessionId };
      const narrowing = { accepts: acceptanceOf(by), by };
      const { records, unreadable, listedFrom, nextCursor } = await listRecords(services, caller, asked, narrowing);
      const items = await itemsOf(services, records);
      const body: AttestationsAnswer = { success: true, items, unreadable: [...unreadable], listedFrom, nextCursor };
      return { body };
    },
  };
}

async function itemsOf(
  services: AttestationsServices,
  records: readonly AttestationRecord[],
): Promise<AttestationsAnswer['items']> {
  const statuses = new BatchStatuses(services);
  const seeds = await readSeeds(services.store, records);
  const items: AttestationsAnswer['items'] = [];
  for (const [index, record] of records.entries()) {
    items.push({
      attestationId: record.id,
      recordKind: record.kind,
      sourceId: record.sourceId,
      sourceSeq: record.sourceSeq,
      submittedAt: record.submittedAt,
      status: await statuses.of(record),
      eventType: record.claims.eventType ?? null,
      modelId: record.claims.modelId ?? null,
      riskLevel: record.claims.riskLevel ?? null,
      payloadState: seeds[index] === undefined ? 'erased' : 'available',
    });
  }
  return items;
}

import {
  ATTESTATIONS_EXAMPLE,
  type AttestationsAnswer,
  AttestationsAnswerShape,
  AttestationsQueryShape,
  DEFAULT_ATTESTATIONS_PAGE,
  MAX_ATTESTATIONS_PAGE,
} from '../../../protocol/api/attestations.ts';
import { EXAMPLE_IDS } from '../../../protocol/api/example-ids.ts';
import type { AttestationRecord } from '../../../protocol/chain/record.ts';
import { timestampOf } from '../../../protocol/time.ts';
import type { Caller } from '../../accounts/caller.ts';
import { readSeeds } from '../../records/payload/payload-keys.ts';
import type { Place, RecordLists } from '../../records/sources/record-page.ts';
import { sourceKey } from '../../records/sources/sources.ts';
import { proofWindowOpensAt } from '../../verification/attestation/attestation-answer.ts';
import { BatchStatuses, type BatchStatusSources } from '../../verification/batch-statuses.ts';
import { fieldError, Problem } from '../problem.ts';
import { type Period, queryReader, readCursor, readPeriod, writeCursor } from '../query.ts';
import { requireReach } from '../recording/recording.ts';
import type { KeyRoute } from '../route.ts';

interface AttestationsServices extends BatchStatusSources {
  readonly lists: RecordLists;
  readonly now: () => number;
}

const {
  sourceId: SOURCE,
  from: FROM,
  to: TO,
  kind: KIND,
  cursor: CURSOR,
  limit: LIMIT,
} = AttestationsQueryShape.properties;
const SOURCE_KEY = /^[0-9a-f]{32}$/;

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
        cursor: {
          description: '`nextCursor` of the page before.',
          shape: CURSOR,
          example: writeCursor([sourceKey(EXAMPLE_IDS.source), 1]),
        },
        limit: { description: `At most ${MAX_ATTESTATIONS_PAGE}.`, shape: LIMIT, example: '50' },
      },
      answer: { shape: AttestationsAnswerShape, example: ATTESTATIONS_EXAMPLE },
      problems: ['invalid-field', 'time-order', 'proof-window-expired'],
    },
    async answer({ query }, caller) {
      const { sourceId, kind, cursor, limit = DEFAULT_ATTESTATIONS_PAGE, ...times } = readQuery(query);
      requireReach(caller, sourceId);
      const place = cursor === undefined ? undefined : placeOf(cursor);
      const listedFrom = proofWindowOpensAt(caller.account.tier, services.now());
      const period = shownOf(seenBy(caller, readPeriod(times)), listedFrom);
      const sources = sourceId === undefined ? caller.key.sources : [sourceId];
      const filter = { account: caller.account.id, sources, kind, ...period };
      const { records, unreadable, next } = await services.lists.page(filter, place, limit);
      const body: AttestationsAnswer = {
        success: true,
        items: await itemsOf(services, records),
        unreadable: unreadable.map((at) => ({ sourceId: nameOf(at, caller, sourceId), sourceSeq: at.sourceSeq })),
        listedFrom: listedFrom === null ? null : timestampOf(listedFrom),
        nextCursor: next === null ? null : writeCursor([next.source, next.sourceSeq]),
      };
      return { body };
    },
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
  const message = `is before ${timestampOf(listedFrom)}, from when on the tier lists records`;
  throw new Problem('proof-window-expired', `to ${message}`, { errors: [fieldError(['to'], 'proof-window', message)] });
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
      payloadState: seeds[index] === undefined ? 'erased' : 'available',
    });
  }
  return items;
}

function placeOf(cursor: string): Place {
  const [source, sourceSeq] = readCursor(cursor, 2);
  if (typeof source === 'string' && SOURCE_KEY.test(source) && typeof sourceSeq === 'number' && sourceSeq >= 1) {
    return { source, sourceSeq };
  }
  throw invalid('cursor', 'cursor', 'is no cursor of this list');
}

/** The source of a record that cannot be read, where the request or the key names it. */
function nameOf({ source }: Place, { key }: Caller, sourceId: string | undefined): string | null {
  const names = sourceId === undefined ? (key.sources ?? []) : [sourceId];
  return names.find((name) => sourceKey(name) === source) ?? null;
}

function invalid(field: string, code: string, message: string): Problem {
  return new Problem('invalid-field', `${field} ${message}`, { errors: [fieldError([field], code, message)] });
}

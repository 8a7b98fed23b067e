import Type from 'typebox';
import {
  CONTINUITY_EXAMPLE,
  type ContinuityAnswer,
  ContinuityAnswerShape,
  ContinuityQueryShape,
} from '../../../protocol/api/continuity.ts';
import { EXAMPLE_IDS } from '../../../protocol/api/example-ids.ts';
import { SourceIdShape } from '../../../protocol/api/fields.ts';
import type { NodeId } from '../../../protocol/ids.ts';
import { OrdinalShape } from '../../../protocol/shapes.ts';
import type { Caller } from '../../accounts/caller.ts';
import { checkContinuity, type Range } from '../../records/sources/continuity.ts';
import type { RecordLists } from '../../records/sources/record-page.ts';
import type { SourceRecords } from '../../records/sources/source-records.ts';
import { placesOf } from '../../records/sources/stretches.ts';
import { fieldProblem, Problem } from '../problem.ts';
import { queryReader } from '../query.ts';
import { PageCursor } from '../page-cursor.ts';
import { requireReach } from '../recording/recording.ts';
import type { KeyRoute } from '../route.ts';

/** By the first and the last number that are left to look at. */
const CURSOR = new PageCursor(Type.Tuple([OrdinalShape, OrdinalShape]), [1, 1042], '`nextCursor` of the call before.');
/** Every source's counter begins with it. */
const FIRST_SEQ = 1;

/** `GET /v1/sources/:id/continuity`: whether anything of a source is missing (api-rules §10 item 6). */
export function continuityRoute(lists: RecordLists, node: NodeId): KeyRoute {
  const readQuery = queryReader(ContinuityQueryShape);
  const { from, to } = ContinuityQueryShape.properties;
  return {
    method: 'GET',
    path: '/v1/sources/:id/continuity',
    access: 'key',
    scope: 'proof:read',
    documentation: {
      summary: 'Whether anything of a source is missing',
      description:
        'Each record of a source has the next number and names the leaf hash of the one before. The node derives that ' +
        'again from what it has stored: a record that is not there or cannot be read is a gap, one that does not ' +
        'follow the one before is a fork. A call looks at a bounded number of records; `nextCursor` leads to the rest. ' +
        'Shown whole to every tier. To a key that is limited to a period, the places of the source in it: `firstSeq` and ' +
        '`lastSeq` are its first and last record of the period, and `head` is null where records follow.',
      params: {
        id: { description: 'The `sourceId`, percent-encoded.', shape: SourceIdShape, example: EXAMPLE_IDS.source },
      },
      query: {
        from: { description: 'First `sourceSeq` to look at.', shape: from, example: '1' },
        to: { description: 'Last `sourceSeq` to look at.', shape: to, example: '1042' },
        cursor: CURSOR.parameter,
      },
      answer: { shape: ContinuityAnswerShape, example: CONTINUITY_EXAMPLE },
      problems: ['invalid-field', 'source-not-found'],
    },
    async answer({ params, query }, caller) {
      const { id: sourceId = '' } = params;
      requireReach(caller, sourceId);
      const asked = rangeOf(readQuery(query));
      const records = lists.source(caller.account.id, sourceId);
      const end = await records.end(sourceId);
      const seen = await placesSeen(records, end.last, caller);
      if (seen.from > seen.to) throw new Problem('source-not-found', 'The account has no such source on this node.');
      const within = { from: Math.max(asked.from, seen.from), to: Math.min(asked.to, seen.to) };
      const { checked, ranges, gaps, forks, next } = await checkContinuity(records, end, within);
      const body: ContinuityAnswer = {
        success: true,
        sourceId,
        node,
        firstSeq: seen.from,
        lastSeq: seen.to,
        head: seen.to === end.last ? (end.head?.leaf ?? null) : null,
        checked: checked && { ...checked },
        ranges: [...ranges],
        gaps: [...gaps],
        forks: [...forks],
        nextCursor: next === null ? null : CURSOR.write([next, asked.to]),
      };
      return { body };
    },
  };
}

/**
 * The places of a source from the first record that a key may see to the last one, of those from `opensAt` on (epoch
 * milliseconds; null: all); none where `from` is after `to`.
 */
export async function placesSeen(
  records: SourceRecords,
  last: number,
  { key }: Caller,
  opensAt: number | null = null,
): Promise<Range> {
  const { from = null, to = null } = key;
  if (from === null && to === null && opensAt === null) return { from: FIRST_SEQ, to: last };
  return placesOf(records, last, {
    from: Math.max(from === null ? Number.NEGATIVE_INFINITY : Date.parse(from), opensAt ?? Number.NEGATIVE_INFINITY),
    to: to === null ? Number.POSITIVE_INFINITY : Date.parse(to) + 1,
  });
}

/** Throws `Problem` 400. A cursor says both where to go on and where to end. */
function rangeOf(asked: { readonly from?: number; readonly to?: number; readonly cursor?: string }): Range {
  const place = CURSOR.read(asked.cursor);
  const [from, to] = place ?? [asked.from ?? FIRST_SEQ, asked.to ?? Number.MAX_SAFE_INTEGER];
  if (from <= to) return { from, to };
  throw place === undefined
    ? fieldProblem('to', 'order', 'is before from')
    : fieldProblem('cursor', 'cursor', 'is no cursor of this list');
}

import Type from 'typebox';
import { EXAMPLE_IDS } from '../../../protocol/api/example-ids.ts';
import {
  MAX_SOURCES_PAGE,
  SOURCES_EXAMPLE,
  type SourcesAnswer,
  SourcesAnswerShape,
  SourcesQueryShape,
} from '../../../protocol/api/sources.ts';
import { type Caller, hasPeriod } from '../../accounts/caller.ts';
import type { NamedSource, RecordLists } from '../../records/sources/record-page.ts';
import { sourceKey } from '../../records/sources/sources.ts';
import { Problem } from '../problem.ts';
import { queryReader } from '../query.ts';
import { PageCursor } from '../page-cursor.ts';
import type { KeyRoute } from '../route.ts';
import { SourceKeyShape } from './record-listing.ts';

const DEFAULT_PAGE = 50;
const LIMIT = SourcesQueryShape.properties.limit;
const CURSOR = new PageCursor(Type.Tuple([SourceKeyShape]), [sourceKey(EXAMPLE_IDS.source)]);

/** `GET /v1/sources`: under which sources the account has recorded something on this node. */
export function sourcesRoute({ lists }: { readonly lists: Pick<RecordLists, 'named'> }): KeyRoute {
  const readQuery = queryReader(SourcesQueryShape);
  return {
    method: 'GET',
    path: '/v1/sources',
    access: 'key',
    scope: 'proof:read',
    documentation: {
      summary: 'The sources of the account on this node',
      description:
        'Each with its number of records, its first and its last. In an order that stays the same and says nothing. A ' +
        'key that is limited to some sources lists those; one that is limited to a period is refused, for the list is ' +
        'of all times.',
      query: {
        cursor: CURSOR.parameter,
        limit: { description: `At most ${MAX_SOURCES_PAGE}.`, shape: LIMIT, example: '50' },
      },
      answer: { shape: SourcesAnswerShape, example: SOURCES_EXAMPLE },
      problems: ['invalid-field'],
    },
    async answer({ query }, caller) {
      const { cursor, limit = DEFAULT_PAGE } = readQuery(query);
      requireAllTimes(caller);
      const filter = { account: caller.account.id, sources: caller.key.sources };
      const [from] = CURSOR.read(cursor) ?? [];
      const { sources, next } = await lists.named(filter, from, limit);
      const nextCursor = next === null ? null : CURSOR.write([next]);
      const body: SourcesAnswer = { success: true, items: sources.map(itemOf), nextCursor };
      return { body };
    },
  };
}

/** Throws `Problem` 403. */
function requireAllTimes({ key }: Caller): void {
  if (!hasPeriod(key)) return;
  throw new Problem('scope-forbidden', 'The list of sources is of all times; this key is limited to a period.');
}

function itemOf({ last, first, newest }: NamedSource): SourcesAnswer['items'][number] {
  return {
    sourceId: newest?.sourceId ?? first?.sourceId ?? null,
    records: last,
    firstSubmittedAt: first?.submittedAt ?? null,
    lastSubmittedAt: newest?.submittedAt ?? null,
    lastAttestationId: newest?.id ?? null,
    lastRecordKind: newest?.kind ?? null,
  };
}

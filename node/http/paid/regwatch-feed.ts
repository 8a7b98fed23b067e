import Type, { type Static } from 'typebox';
import {
  DEFAULT_REGWATCH_PAGE,
  MAX_REGWATCH_PAGE,
  REGWATCH_EXAMPLE,
  RegwatchAnswerShape,
  type RegwatchItem,
  type RegwatchPage,
  RegwatchQueryShape,
} from '../../../protocol/api/regwatch-feed.ts';
import { hashText } from '../../../protocol/hash.ts';
import type { NodeId } from '../../../protocol/ids.ts';
import { canonicalize } from '../../../protocol/json/canonical.ts';
import type { JsonObject } from '../../../protocol/json/value.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { CountShape } from '../../../protocol/shapes.ts';
import type { PaidDraft } from '../../intake/draft.ts';
import { nativeSuite } from '../../keys/native-suite.ts';
import {
  FEED_PLACE_PATTERN,
  type FeedFilter,
  type FeedItem,
  type FeedPlace,
  type RegFeed,
} from '../../services/regulatory-feed/reg-feed.ts';
import { fieldProblem } from '../problem.ts';
import { boundOf, queryReader } from '../query.ts';
import { bindingOf, PageCursor } from '../page-cursor.ts';
import type { PaidRoute } from '../route.ts';
import { ATTESTATION_BLANKS, attestationTail, type VerifyUrl } from './attested-summary.ts';

/** What a page is asked for, understood. */
interface RegwatchQuery {
  readonly filter: FeedFilter;
  readonly limit: number;
  readonly place: FeedPlace | undefined;
  /** The filters as they are on record, in one order. */
  readonly told: JsonObject;
  /** What a cursor of these filters holds. */
  readonly binding: string;
}

/** How long a cursor leads on. In milliseconds. */
const CURSOR_MS = 24 * 3_600_000;
/** What it is bound to, when it was made, when the feed was as it shows it, and the last item of the page before. */
const CURSOR = new PageCursor(
  Type.Tuple([Type.String(), CountShape, CountShape, Type.String({ pattern: FEED_PLACE_PATTERN })]),
  [
    '9f86d081884c7d65',
    1_795_253_400_000,
    1_795_253_400_000,
    '0001795253400000/rgi_9f86d081884c7d659a2feaa0c55ad015/0000000000000042',
  ],
  '`nextCursor` of the page before, with the same filters. Good for a day.',
);

const readQuery = queryReader(RegwatchQueryShape);

/** Throws `Problem` `invalid-field` or `time-order`. `now` in epoch milliseconds. */
function readRegwatchQuery(query: URLSearchParams, node: NodeId, now: number): RegwatchQuery {
  const given = readQuery(query);
  const filter = filterOf(given);
  const told = toldOf(filter);
  const binding = bindingOf({ ...told, node });
  const { cursor, limit = DEFAULT_REGWATCH_PAGE } = given;
  const place = placeOf(cursor, binding, now);
  return { filter, limit, place, told, binding };
}

function filterOf({ since, until, jurisdiction, framework, status }: Static<typeof RegwatchQueryShape>): FeedFilter {
  const period = { since: boundOf('since', since), until: boundOf('until', until) };
  if (period.since !== undefined && period.until !== undefined && period.until < period.since) {
    throw fieldProblem('until', 'time-order', 'is before since', 'time-order');
  }
  return { ...period, jurisdictions: labelsOf(jurisdiction), frameworks: labelsOf(framework), status };
}

function toldOf({ since, until, jurisdictions, frameworks, status }: FeedFilter): JsonObject {
  return {
    ...(since === undefined ? {} : { since: timestampOf(since) }),
    ...(until === undefined ? {} : { until: timestampOf(until) }),
    ...(jurisdictions === undefined ? {} : { jurisdiction: jurisdictions }),
    ...(frameworks === undefined ? {} : { framework: frameworks }),
    ...(status === undefined ? {} : { status }),
  };
}

function placeOf(cursor: string | undefined, binding: string, now: number): FeedPlace | undefined {
  const place = CURSOR.read(cursor);
  if (place === undefined) return undefined;
  const [bound, at, asOf, after] = place;
  if (bound !== binding) throw fieldProblem('cursor', 'cursor', 'belongs to other filters, or to another node');
  if (at + CURSOR_MS < now) throw fieldProblem('cursor', 'cursor', 'is more than a day old');
  return { asOf, after };
}

function labelsOf(list: string | undefined): readonly string[] | undefined {
  return list === undefined ? undefined : [...new Set(list.split(','))].sort();
}

export interface RegwatchFeedServices {
  readonly regFeed: Pick<RegFeed, 'page'>;
  readonly config: { readonly id: NodeId };
  readonly now: () => number;
  readonly verifyUrl: VerifyUrl;
}

/** The source under which pages are recorded; items stand under sources of their own. */
const PAGE_SOURCE = 'meridian/regwatch-feed';
const { since, until, jurisdiction, framework, status, limit: LIMIT } = RegwatchQueryShape.properties;

/**
 * `GET /v1/x402/regwatch-feed` (api-rules §4.1): one page of the items that this node has ingested, the newest first.
 */
export function regwatchFeedRoute(services: RegwatchFeedServices): PaidRoute {
  return {
    method: 'GET',
    path: '/v1/x402/regwatch-feed',
    access: 'paid',
    service: 'regwatch-feed',
    documentation: {
      summary: 'Changes in AI regulation, each attested when it came in',
      description:
        'One payment is one page: in order of `ingestedAt`, the newest first, then of `itemId`. Following `nextCursor`, ' +
        'all pages are of one moment: what comes in meanwhile is not on them. Each item is on record by itself, under ' +
        '`attestationId`; where a source changes it, or an operator corrects it, a record stands in the place of the ' +
        'one before (`supersedes`), and only the last is told. Items are classified by documented rules alone: what ' +
        'these do not tell is `unclassified`. `publishedAt` is null where the source gives no date. The attested page ' +
        'has `feedHash` as its claim `rawHash`. A page that found nothing in the 5,000 items that it looked at, and ' +
        'leads on, is not charged.',
      query: {
        since: { description: 'Ingested at this time or later.', shape: since, example: '2026-11-01T00:00:00.000Z' },
        until: { description: 'Ingested before this time.', shape: until, example: '2026-12-01T00:00:00.000Z' },
        jurisdiction: {
          description: 'Any of these, separated by commas. A part of a country (`US-CO`) comes with the country too.',
          shape: jurisdiction,
          example: 'EU,US',
        },
        framework: {
          description: 'Any of these ids of the catalogue (`GET /v1/frameworks`), separated by commas.',
          shape: framework,
          example: 'EU_AI_ACT,US_STATE',
        },
        status: { description: 'Where the instrument stands.', shape: status, example: 'adopted' },
        limit: { description: `At most ${MAX_REGWATCH_PAGE}.`, shape: LIMIT, example: '50' },
        cursor: CURSOR.parameter,
      },
      answer: { shape: RegwatchAnswerShape, example: REGWATCH_EXAMPLE },
      problems: ['invalid-field', 'time-order'],
    },
    prepare({ query }) {
      const asked = readRegwatchQuery(query, services.config.id, services.now());
      return async ({ account, recording }) => {
        const page = await pageOf(services, asked);
        if (page.count === 0 && page.nextCursor !== null) return { body: { success: true, ...page }, charged: false };
        const record = await recording.prepareOne(pageDraft(account, asked, page));
        return {
          body: { success: true, ...page, attestation: attestationTail(record, services.verifyUrl) },
          blanks: ATTESTATION_BLANKS,
        };
      };
    },
  };
}

async function pageOf(
  { regFeed, now }: RegwatchFeedServices,
  { filter, limit, place, binding }: RegwatchQuery,
): Promise<RegwatchPage> {
  const { items: found, next } = await regFeed.page(filter, limit, place);
  const items = found.map(itemOf);
  const at = now();
  return {
    items,
    count: items.length,
    nextCursor: next === undefined ? null : CURSOR.write([binding, at, next.asOf, next.after]),
    feedHash: hashText(nativeSuite, canonicalize(items)),
    generatedAt: timestampOf(at),
  };
}

function itemOf({ record, ingestedAt, revision }: FeedItem): RegwatchItem {
  const { itemId, sample, content, sourceHash, supersedes, changeType } = revision;
  return { itemId, sample, ...content, sourceHash, supersedes, changeType, ingestedAt, attestationId: record };
}

/** The page by its hash: the items are public, and each has a record that says what it says. */
function pageDraft(
  account: string,
  { told }: RegwatchQuery,
  { count, feedHash, generatedAt }: RegwatchPage,
): PaidDraft {
  return {
    kind: 'reg_item',
    account,
    sourceId: PAGE_SOURCE,
    payload: canonicalize({ count, feedHash, filter: told, generatedAt }),
    claims: { channel: 'tiered', rawHash: feedHash },
    links: {},
  };
}

import { hash } from 'node:crypto';
import type { Static } from 'typebox';
import { DEFAULT_REGWATCH_PAGE, RegwatchQueryShape } from '../../../protocol/api/regwatch-feed.ts';
import type { NodeId } from '../../../protocol/ids.ts';
import { canonicalize } from '../../../protocol/json/canonical.ts';
import type { JsonObject } from '../../../protocol/json/value.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { FEED_PLACE_PATTERN, type FeedFilter, type FeedPlace } from '../../services/regulatory-feed/reg-feed.ts';
import { readCursor, writeCursor } from '../cursor.ts';
import { boundOf } from '../period.ts';
import { fieldError, Problem } from '../problem.ts';
import { queryReader } from '../query.ts';

/** What a page is asked for, understood. */
export interface RegwatchQuery {
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
const BINDING_DIGITS = 16;
const PLACE = new RegExp(FEED_PLACE_PATTERN);

const readQuery = queryReader(RegwatchQueryShape);

/** Throws `Problem` `invalid-field` or `time-order`. `now` in epoch milliseconds. */
export function readRegwatchQuery(query: URLSearchParams, node: NodeId, now: number): RegwatchQuery {
  const given = readQuery(query);
  const filter = filterOf(given);
  const told = toldOf(filter);
  const binding = hash('sha256', canonicalize({ ...told, node })).slice(0, BINDING_DIGITS);
  const { cursor, limit = DEFAULT_REGWATCH_PAGE } = given;
  const place = cursor === undefined ? undefined : placeOf(cursor, binding, now);
  return { filter, limit, place, told, binding };
}

/** Opaque to callers: bound to the filters and this node, and good for a day. */
export function writeRegwatchCursor({ asOf, after }: FeedPlace, binding: string, now: number): string {
  return writeCursor([binding, now, asOf, after]);
}

function filterOf({ since, until, jurisdiction, framework, status }: Static<typeof RegwatchQueryShape>): FeedFilter {
  const period = { since: boundOf('since', since), until: boundOf('until', until) };
  if (period.since !== undefined && period.until !== undefined && period.until < period.since) {
    const message = 'is before since';
    throw new Problem('time-order', `until ${message}`, { errors: [fieldError(['until'], 'time-order', message)] });
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

function placeOf(cursor: string, binding: string, now: number): FeedPlace {
  const [bound, at, asOf, after] = readCursor(cursor, 4);
  if (typeof at !== 'number' || typeof asOf !== 'number' || typeof after !== 'string' || !PLACE.test(after)) {
    throw invalid('cursor', 'cursor', 'is no cursor of this list');
  }
  if (bound !== binding) throw invalid('cursor', 'cursor', 'belongs to other filters, or to another node');
  if (at + CURSOR_MS < now) throw invalid('cursor', 'cursor', 'is more than a day old');
  return { asOf, after };
}

function labelsOf(list: string | undefined): readonly string[] | undefined {
  return list === undefined ? undefined : [...new Set(list.split(','))].sort();
}

function invalid(field: string, code: string, message: string): Problem {
  return new Problem('invalid-field', `${field} ${message}`, { errors: [fieldError([field], code, message)] });
}

import type { JsonObject } from '../../../protocol/json/value.ts';
import type { AnswerHeaderName, Route } from '../route.ts';
import { KEY_CHALLENGE, UNAUTHENTICATED } from '../authentication.ts';
import { holdsSecret, SECRET_PATH_HEADERS } from '../secret-paths.ts';
import { DEMAND_HEADERS, DEMAND_STATUS } from './payment.ts';
import { isRecording } from './problems.ts';

const text = { type: 'string' };
const integer = { type: 'integer', minimum: 0 };

/** Headers of some routes alone. */
const OWN_HEADERS = {
  'Accept-Ranges': {
    description: 'Parts of the file may be asked for.',
    schema: { type: 'string', const: 'bytes' },
  },
  'Content-Range': {
    description: 'Which part of the file it is, and of how many bytes.',
    schema: { type: 'string', pattern: '^bytes [0-9]+-[0-9]+/[0-9]+$' },
  },
  'X-Proof-Window-Ends-At': {
    description: 'Until when the tier of the account gives the proofs of the record out. Absent where it always does.',
    schema: { type: 'string', format: 'date-time' },
  },
  'X-Linked-Truncated': {
    description: 'Set where more records are linked than the bundle holds, or may be.',
    schema: { type: 'string', const: 'true' },
  },
  'Content-Disposition': {
    description: 'The name to save the file under.',
    schema: { type: 'string', pattern: '^(attachment|inline); filename=".+"$' },
  },
} satisfies Record<AnswerHeaderName, JsonObject>;

/** Every header that an answer may carry beside those of HTTP itself. */
export const ANSWER_HEADERS: JsonObject = {
  'X-Request-Id': {
    description: 'Names this request in the logs.',
    required: true,
    schema: { type: 'string', pattern: '^[A-Za-z0-9._-]{1,64}$' },
  },
  'RateLimit-Limit': { description: 'Requests that the account may make in any 60 seconds.', schema: integer },
  'RateLimit-Remaining': { description: 'Requests left of them now.', schema: integer },
  'RateLimit-Reset': { description: 'Seconds until one more is free.', schema: integer },
  'X-Daily-Limit': { description: 'Records that the account may make in a UTC day.', schema: integer },
  'X-Daily-Remaining': { description: 'Records left of them today.', schema: integer },
  ...DEMAND_HEADERS,
  'Payment-Replayed': {
    description: 'Set where the answer was given before.',
    schema: { type: 'string', const: 'true' },
  },
  'Preference-Applied': {
    description: 'The `Prefer` that was honoured.',
    schema: { type: 'string', pattern: '^wait=[0-9]{1,3}$' },
  },
  ...OWN_HEADERS,
  'Referrer-Policy': {
    description: 'The address holds a secret, and is told to nobody.',
    schema: { type: 'string', const: 'no-referrer' },
  },
  'X-Robots-Tag': {
    description: 'Not to be listed anywhere.',
    schema: { type: 'string', const: 'noindex' },
  },
  Allow: { description: 'The methods that the path takes.', required: true, schema: text },
  'WWW-Authenticate': {
    description: 'An API key is asked for, in the header `x-api-key`.',
    required: true,
    schema: { type: 'string', const: KEY_CHALLENGE },
  },
  'Retry-After': { description: 'Seconds after which the request may be sent again.', schema: integer },
};

const RATE = ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'];
const METERED = [...RATE, 'X-Daily-Limit', 'X-Daily-Remaining'];
const TOO_MANY = 429;
const NOT_ALLOWED = 405;
const NO_SUCH_RANGE = 416;
/** Statuses that say when to come back. */
const LATER: ReadonlySet<number> = new Set([429, 503, 507]);

/** Headers of an answer that was given. The metered ones are absent for accounts without limits. */
export function headersOf(route: Route): JsonObject {
  const paid = route.access === 'paid' ? ['PAYMENT-RESPONSE', 'Payment-Replayed'] : [];
  return references([
    'X-Request-Id',
    ...metered(route),
    ...paid,
    ...(isRecording(route) ? ['Preference-Applied'] : []),
    ...(route.documentation.headers ?? []),
    ...secret(route),
  ]);
}

/** Headers of a refusal. */
export function refusalHeaders(route: Route, status: number): JsonObject {
  const limits = route.access !== 'key' && status === TOO_MANY ? RATE : metered(route);
  const demand = route.access === 'paid' && status === DEMAND_STATUS ? Object.keys(DEMAND_HEADERS) : [];
  const later = LATER.has(status) ? ['Retry-After'] : [];
  const allowed = status === NOT_ALLOWED ? ['Allow'] : [];
  const challenge = status === UNAUTHENTICATED ? ['WWW-Authenticate'] : [];
  const range = status === NO_SUCH_RANGE ? ['Content-Range'] : [];
  return references([
    'X-Request-Id',
    ...limits,
    ...demand,
    ...later,
    ...allowed,
    ...challenge,
    ...secret(route),
    ...range,
  ]);
}

function secret({ path }: Route): readonly string[] {
  return holdsSecret(path) ? Object.keys(SECRET_PATH_HEADERS) : [];
}

function metered(route: Route): readonly string[] {
  return route.access === 'key' ? METERED : [];
}

function references(names: readonly string[]): JsonObject {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

import type { JsonObject } from '../../../protocol/json/value.ts';
import type { ProblemCode } from '../problem-codes.ts';
import type { Route } from '../route.ts';
import { ANSWER_HEADERS } from './headers.ts';
import { operationOf, pathTemplate } from './operation.ts';
import { DEMAND_SCHEMA, DEMAND_STATUS } from './payment.ts';
import { PROBLEM_SCHEMA, problemExample } from './problem-schema.ts';
import { NamedSchemas } from './schemas.ts';
import { tagList } from './tags.ts';
import { problemsByStatus } from './problems.ts';
import { shareResponses } from './shared-responses.ts';

export interface DocumentOptions {
  readonly version: string;
  /** Public address of the node, without a slash at its end. */
  readonly baseUrl: string;
}

export const OPENAPI_VERSION = '3.1.0';
const DESCRIPTION = [
  'Witnesses AI decisions with post-quantum signatures (ML-DSA-65, FIPS 204). It records what the caller asserts and',
  'never judges whether it is right; nothing here is legal advice.',
  '\n\nEvery refusal is an RFC 9457 problem with a stable `code`; `/problems/{code}` says what it means. A path that',
  'is none of these is refused with `route-not-found`.',
  '\n\nEndpoints below `/v1/x402` are paid for by the call (x402 version 2): without `PAYMENT-SIGNATURE` they answer 402',
  'and name the price; a call that is refused or fails is not charged.',
  '\n\nFree GET endpoints, paid endpoints and `POST /v1/bundles/verify` may be called by pages of any origin.',
].join(' ');

/** The OpenAPI 3.1 document of a node: every route, from the schemas that check requests. */
export function openApiDocument(routes: readonly Route[], { version, baseUrl }: DocumentOptions): JsonObject {
  const schemas = new NamedSchemas();
  schemas.add('Problem', PROBLEM_SCHEMA);
  schemas.add('PaymentRequired', DEMAND_SCHEMA);
  const paths = new Map<string, Map<string, JsonObject>>();
  for (const route of routes) {
    const path = pathTemplate(route.path);
    const methods = paths.get(path) ?? new Map<string, JsonObject>();
    methods.set(route.method.toLowerCase(), operationOf(route, { routes, schemas, baseUrl }));
    paths.set(path, methods);
  }
  const written = Object.fromEntries([...paths].map(([path, methods]) => [path, Object.fromEntries(methods)]));
  const shared = shareResponses(written);
  return {
    openapi: OPENAPI_VERSION,
    info: {
      title: 'Meridian',
      version,
      description: DESCRIPTION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: baseUrl }, { url: `${baseUrl}/verify` }],
    tags: tagList(),
    paths: shared.paths,
    components: {
      securitySchemes: { apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key' } },
      headers: ANSWER_HEADERS,
      responses: shared.responses,
      schemas: schemas.all(),
      examples: problemExamples(routes, baseUrl),
    },
  };
}

/** What a route answers as a problem: all but what is answered in the form of x402. */
function problemsOf(route: Route): ProblemCode[] {
  return [...problemsByStatus(route)].flatMap(([status, codes]) =>
    route.access === 'paid' && status === DEMAND_STATUS ? [] : codes,
  );
}

/** One for each code, whichever route refuses with it. */
function problemExamples(routes: readonly Route[], baseUrl: string): JsonObject {
  const codes = new Set(routes.flatMap(problemsOf));
  return Object.fromEntries([...codes].sort().map((code) => [code, { value: problemExample(code, baseUrl) }]));
}

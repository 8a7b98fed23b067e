import { isJsonObject, type JsonObject } from '../../../protocol/json/value.ts';
import { TimeSlices } from '../../concurrency/time-slices.ts';
import type { ProblemCode } from '../problem-codes.ts';
import type { Route } from '../route.ts';
import { ANSWER_HEADERS } from './headers.ts';
import { operationOf, pathTemplate, tagList } from './operation.ts';
import { DEMAND_SCHEMA, DEMAND_STATUS } from './payment.ts';
import { NamedSchemas, PROBLEM_SCHEMA, problemExample } from './problem-schema.ts';
import { problemsByStatus } from './problems.ts';

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

/** The OpenAPI 3.1 document of a node: every route, from the schemas that check requests. Written in time slices. */
export async function openApiDocument(
  routes: readonly Route[],
  { version, baseUrl }: DocumentOptions,
): Promise<JsonObject> {
  const slices = new TimeSlices();
  const schemas = new NamedSchemas();
  schemas.add('Problem', PROBLEM_SCHEMA);
  schemas.add('PaymentRequired', DEMAND_SCHEMA);
  const paths = new Map<string, Map<string, JsonObject>>();
  await slices.each(routes, (route) => {
    const path = pathTemplate(route.path);
    const methods = paths.get(path) ?? new Map<string, JsonObject>();
    methods.set(route.method.toLowerCase(), operationOf(route, { routes, schemas, baseUrl }));
    paths.set(path, methods);
  });
  const written = [...paths].map(([path, methods]) => [path, Object.fromEntries(methods)] as const);
  const shared = await shareResponses(written, slices);
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

interface Shared {
  readonly paths: JsonObject;
  /** Responses that several operations have, by the name that they go by. */
  readonly responses: JsonObject;
}

/**
 * Writes each refusal that several operations have in common once: most of the document would be repetition. Answers of
 * acceptance stay where they are.
 */
async function shareResponses(
  paths: readonly (readonly [path: string, methods: JsonObject])[],
  slices: TimeSlices,
): Promise<Shared> {
  const uses = new Map<string, number>();
  const count = (text: string): void => void uses.set(text, (uses.get(text) ?? 0) + 1);
  await slices.each(paths, ([, methods]) => {
    mapRefusals(methods, (_, response) => {
      count(JSON.stringify(response));
      return response;
    });
  });
  const names = new Map<string, string>();
  const responses = new Map<string, JsonObject>();
  const share = (status: string, response: JsonObject): JsonObject => {
    const text = JSON.stringify(response);
    if (uses.get(text) === 1) return response;
    const name = names.get(text) ?? freshName(`Refused${status}`, responses);
    names.set(text, name);
    responses.set(name, response);
    return { $ref: `#/components/responses/${name}` };
  };
  const shared: [path: string, methods: JsonObject][] = [];
  await slices.each(paths, ([path, methods]) => void shared.push([path, mapRefusals(methods, share)]));
  return { paths: Object.fromEntries(shared), responses: Object.fromEntries(responses) };
}

/** The methods of a path with every refusal of every operation replaced by what it is mapped to. */
function mapRefusals(methods: JsonObject, map: (status: string, response: JsonObject) => JsonObject): JsonObject {
  return mapMembers(methods, (operation) => {
    const { responses } = operation;
    if (!isJsonObject(responses)) return operation;
    const mapped = mapMembers(responses, (response, status) => (status < '400' ? response : map(status, response)));
    return { ...operation, responses: mapped };
  });
}

function mapMembers(object: JsonObject, map: (member: JsonObject, name: string) => JsonObject): JsonObject {
  const mapped = Object.entries(object).map(([name, member]) => [
    name,
    isJsonObject(member) ? map(member, name) : member,
  ]);
  return Object.fromEntries(mapped);
}

function freshName(wanted: string, taken: ReadonlyMap<string, unknown>): string {
  let name = wanted;
  for (let number = 2; taken.has(name); number++) name = `${wanted}-${number}`;
  return name;
}

import { DECLARATIONS } from '../../../protocol/governance/declarations.ts';
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../../../protocol/json/value.ts';
import { PAID_API_VERSION } from '../../../protocol/payments/prices.ts';
import { JSON_LINES_TYPE, JSON_TYPE } from '../body.ts';
import type { ProblemCode } from '../problem-codes.ts';
import type { ParameterDocumentation, Route } from '../route.ts';
import { exampleOf } from '../written-schema.ts';
import { headersOf, refusalHeaders } from './headers.ts';
import { DEMAND_STATUS, demandContent, PAID_REQUEST_HEADERS, paymentInfo } from './payment.ts';
import { type NamedSchemas, refusalSchema } from './problem-schema.ts';
import { isRecording, problemsByStatus } from './problems.ts';

/** An id in answers, and the parameter of other operations that takes it. */
interface Feed {
  /** Pointer into the answer. */
  readonly pointer: string;
  readonly parameter: string;
  /** What it leads to, by the name of the link: method and path of a route. */
  readonly to: Readonly<Record<string, string>>;
}

const OF_RECORDS = {
  verify: 'GET /v1/verify/:id',
  status: 'GET /v1/status/:id',
  bundle: 'GET /v1/bundles/:id',
  proof: 'GET /v1/proofs/:id',
  certificate: 'GET /v1/certificates/:id',
};
const OF_AGENTS = {
  agent: 'GET /v1/agents/:agentId',
  rotateAgent: 'POST /v1/agents/:agentId/rotate',
  deactivateAgent: 'POST /v1/agents/:agentId/deactivate',
  didDocument: 'GET /agents/:agentId/did.json',
};
const FEEDS: readonly Feed[] = [
  { pointer: '/attestationId', parameter: 'id', to: OF_RECORDS },
  { pointer: '/attestation/attestationId', parameter: 'id', to: OF_RECORDS },
  { pointer: '/didDocumentUrl', parameter: 'agentId', to: OF_AGENTS },
  {
    pointer: '/key/id',
    parameter: 'id',
    to: { rotateKey: 'POST /v1/keys/:id/rotate', revokeKey: 'POST /v1/keys/:id/revoke' },
  },
  {
    pointer: '/packId',
    parameter: 'id',
    to: {
      pack: 'GET /v1/evidence-packs/:id',
      packFile: 'GET /v1/evidence-packs/:id/file',
      deletePack: 'DELETE /v1/evidence-packs/:id',
    },
  },
  { pointer: '/share/shareId', parameter: 'id', to: { revokeShare: 'POST /v1/shares/:id/revoke' } },
  { pointer: '/lockId', parameter: 'sourceId', to: { retention: 'GET /v1/retention' } },
];
/** Where the value that is passed on is another one than that which tells the kind of answer. */
const PASSED_ON: Readonly<Record<string, string>> = { '/didDocumentUrl': '/agentId', '/lockId': '/sourceId' };

/** The operations that an answer of a route feeds: those of its ids, and its own next page. */
function linksOf(route: Route, routes: readonly Route[]): JsonObject {
  const { answer, query = {} } = route.documentation;
  if (!('shape' in answer)) return {};
  const links: [string, JsonObject][] = [];
  for (const { pointer, parameter, to } of FEEDS) {
    const passed = PASSED_ON[pointer] ?? pointer;
    if (valueAt(answer.example, pointer) === undefined || valueAt(answer.example, passed) === undefined) continue;
    for (const [name, target] of Object.entries(to)) {
      const found = routes.find(({ method, path }) => `${method} ${path}` === target);
      if (found !== undefined) links.push([name, linkTo(found, { [parameter]: `$response.body#${passed}` })]);
    }
  }
  const isList = query.cursor !== undefined && valueAt(answer.example, '/nextCursor') !== undefined;
  if (isList) {
    links.push(['nextPage', linkTo(route, { ...ownParameters(route), cursor: '$response.body#/nextCursor' })]);
  }
  return Object.fromEntries(links);
}

/** An empty requirement says that the key may be left out. */
function securityOf(route: Route): JsonValue {
  if (route.access !== 'key') return [];
  return route.withoutKey === undefined ? [{ apiKey: [] }] : [{ apiKey: [] }, {}];
}

function linkTo(route: Route, parameters: JsonObject): JsonObject {
  return { operationId: operationId(route), parameters };
}

/**
 * The next page is asked for with the same words as the one before. Of a parameter that was not given the expression
 * has no value, and nothing is passed (OpenAPI 3.1, Link Object).
 */
function ownParameters({ documentation: { params = {}, query = {} } }: Route): JsonObject {
  const inPath = Object.keys(params).map((name) => [name, `$request.path.${name}`]);
  const inQuery = Object.keys(query).map((name) => [name, `$request.query.${name}`]);
  return Object.fromEntries([...inPath, ...inQuery]);
}

function valueAt(example: JsonObject, pointer: string): JsonValue | undefined {
  let value: JsonValue | undefined = example;
  for (const name of pointer.split('/').slice(1)) {
    value = value !== undefined && isJsonObject(value) && !isJsonArray(value) ? value[name] : undefined;
  }
  return value;
}

/** The name of an operation in generated clients. It is what its method and path make it, and never changes. */
function operationId({ method, path }: Pick<Route, 'method' | 'path'>): string {
  const words = path.split(/[^A-Za-z0-9]+/).filter((word) => word !== '' && word !== 'v1');
  return method.toLowerCase() + words.map(capitalized).join('');
}

/** Name of a schema that belongs to one operation, as its request. */
function schemaName(route: Pick<Route, 'method' | 'path'>, part: 'Request' | 'Answer'): string {
  return capitalized(operationId(route)) + part;
}

function capitalized(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

/** The parts of the API, in the order in which they are shown. */
const TAGS = {
  decisions: 'Records of decisions, sessions and agents.',
  governance: 'Reviews, incidents, assessments, systems, documents, notices, locks and erasures.',
  proofs: 'Whether a record is proved, and the files that prove it.',
  reports: 'What is on record: lists, reports, the log of key uses.',
  accounts: 'Accounts, API keys and their use.',
  federation: 'The node, its federation and their public log.',
  paid: `Paid for by the call (x402 version 2). Version ${PAID_API_VERSION}.`,
  documents: 'What the API is: this document, the problems, what is sold.',
} as const;
type Tag = keyof typeof TAGS;

/** By the beginning of the path; the first that fits counts. */
const BEGINNINGS: readonly (readonly [beginning: string, tag: Tag])[] = [
  ['/v1/x402/', 'paid'],
  ['/v1/attestations', 'reports'],
  ['/v1/sessions', 'reports'],
  ['/v1/reviews', 'reports'],
  ['/v1/assessments', 'reports'],
  ['/v1/corrective-actions', 'reports'],
  ['/v1/attest', 'decisions'],
  ['/v1/tiered-attest', 'decisions'],
  ['/v1/session/', 'decisions'],
  ['/v1/agents/', 'decisions'],
  ['/agents/', 'decisions'],
  ['/v1/human-override', 'governance'],
  ['/v1/incidents', 'reports'],
  ['/v1/incident', 'governance'],
  ['/v1/retention', 'governance'],
  ['/v1/risk-assessment', 'governance'],
  ['/v1/impact-assessment', 'governance'],
  ['/v1/corrective-action', 'governance'],
  ['/v1/erasures', 'governance'],
  ...Object.values(DECLARATIONS).flatMap(({ path, listPath }): [string, Tag][] => [
    [listPath, 'reports'],
    [path, 'governance'],
  ]),
  ['/v1/status/', 'proofs'],
  ['/v1/verify/', 'proofs'],
  ['/v1/bundles/', 'proofs'],
  ['/v1/proofs/', 'proofs'],
  ['/v1/certificates/', 'proofs'],
  ['/v1/frameworks', 'reports'],
  ['/v1/reports/', 'reports'],
  ['/v1/templates/', 'reports'],
  ['/v1/audit-log', 'reports'],
  ['/v1/evidence-packs', 'reports'],
  ['/v1/sources', 'reports'],
  ['/v1/account', 'accounts'],
  ['/v1/keys', 'accounts'],
  ['/v1/lost-key', 'accounts'],
  ['/v1/shares', 'proofs'],
  ['/v1/shared/', 'proofs'],
  ['/v1/second-factors', 'accounts'],
  ['/v1/sign-ins', 'accounts'],
  ['/v1/sign-up', 'accounts'],
  ['/v1/people', 'accounts'],
  ['/v1/calendar', 'accounts'],
  ['/v1/webhooks', 'accounts'],
  ['/v1/mail-alerts', 'accounts'],
  ['/v1/oversight', 'governance'],
  ['/v1/overview', 'reports'],
  ['/v1/usage', 'accounts'],
  ['/v1/health', 'federation'],
  ['/v1/federation', 'federation'],
  ['/v1/chains/', 'federation'],
  ['/v1/signing-keys', 'federation'],
  ['/v1/revocations', 'federation'],
  ['/v1/rosters', 'federation'],
  ['/v1/equivocations', 'federation'],
  ['/v1/log/', 'federation'],
  ['/problems/', 'documents'],
  ['/.well-known/', 'documents'],
  ['/llms.txt', 'documents'],
  ['/openapi.json', 'documents'],
];

/** The part that a route belongs to. Throws `RangeError` where the table has none for its path. */
function tagOf({ path }: Pick<Route, 'path'>): Tag {
  const found = BEGINNINGS.find(([beginning]) => path.startsWith(beginning));
  if (found === undefined) throw new RangeError(`${path} has no tag: name it beside the others`);
  return found[1];
}

/** The parts as the document lists them. */
export function tagList(): JsonObject[] {
  return Object.entries(TAGS).map(([name, description]) => ({ name, description }));
}

/** What an operation is written into. */
export interface OperationPlace {
  /** All routes of the document: those that links lead to. */
  readonly routes: readonly Route[];
  /** Where its schemas are kept. */
  readonly schemas: NamedSchemas;
  /** Public address of the node. */
  readonly baseUrl: string;
}

/**
 * What OpenAPI says of one route. Throws `RangeError` where a path parameter is not documented, or the path has no tag.
 */
export function operationOf(route: Route, place: OperationPlace): JsonObject {
  const { schemas, baseUrl } = place;
  const { summary, description, params = {}, query = {} } = route.documentation;
  return {
    operationId: operationId(route),
    tags: [tagOf(route)],
    summary,
    description: description ?? `${summary}.`,
    // A payment names the one address of what it pays for.
    ...(route.access === 'paid' ? { servers: [{ url: baseUrl }] } : {}),
    security: securityOf(route),
    ...(route.access === 'key' && route.scope !== null ? { 'x-scope': route.scope } : {}),
    ...(route.access === 'paid' ? paymentInfo(route) : {}),
    parameters: [
      ...pathParameters(route, params, schemas),
      ...Object.entries(query).map(([name, parameter]) => parameterOf('query', name, parameter, schemas)),
      ...(isRecording(route) ? RECORDING_HEADERS : []),
      ...(route.access === 'key' && route.idempotent === true ? [IDEMPOTENCY_KEY] : []),
      ...(route.access === 'paid' ? PAID_REQUEST_HEADERS : []),
    ],
    ...requestBody(route, schemas),
    responses: {
      ...refusals(route, place),
      ...answers(route, place),
    },
  };
}

/** A parameter of a route's path: `:id` is one segment, `*tile` the rest of the path. */
const PATH_PARAMETER = /[:*]([A-Za-z]+)/g;

/** `/v1/status/:id` as OpenAPI writes it: `/v1/status/{id}`. */
export function pathTemplate(path: string): string {
  return path.replace(PATH_PARAMETER, '{$1}');
}

const IDEMPOTENCY_KEY: JsonObject = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: 'The same key with the same body is answered as the first time, for 24 hours.',
  schema: { type: 'string', minLength: 1, maxLength: 128 },
  example: 'decision-2026-11-21-0042',
};

/** Headers that every endpoint making records understands. */
const RECORDING_HEADERS: readonly JsonObject[] = [
  IDEMPOTENCY_KEY,
  {
    name: 'Prefer',
    in: 'header',
    required: false,
    description: '`wait=N` (RFC 7240): answer once the record is confirmed, or after N seconds, at most 120.',
    schema: { type: 'string', pattern: '^wait=[0-9]{1,6}$' },
    example: 'wait=10',
  },
];

const LINES_SCHEMA: JsonObject = { type: 'string', description: 'One item of the list a line, as JSON.' };

function pathParameters(
  route: Route,
  params: Readonly<Record<string, ParameterDocumentation>>,
  schemas: NamedSchemas,
): JsonObject[] {
  return [...route.path.matchAll(PATH_PARAMETER)].map(([, name = '']) => {
    const parameter = params[name];
    if (parameter === undefined) throw new RangeError(`${route.path}: the parameter ${name} is not documented`);
    return parameterOf('path', name, { ...parameter, required: true }, schemas);
  });
}

function parameterOf(
  place: 'path' | 'query',
  name: string,
  { description, shape, example, required = false }: ParameterDocumentation,
  schemas: NamedSchemas,
): JsonObject {
  const schema = schemas.write(shape);
  return { name, in: place, required, description, schema, example: exampleOf(schema, example) };
}

function requestBody(route: Route, schemas: NamedSchemas): JsonObject {
  const { request } = route.documentation;
  if (request === undefined) return {};
  const { shape, example, optional, lines } = request;
  const asLines = lines === undefined ? {} : { [JSON_LINES_TYPE]: { schema: LINES_SCHEMA, example: lines } };
  const content = { [JSON_TYPE]: { schema: schemas.write(shape, schemaName(route, 'Request')), example }, ...asLines };
  return { requestBody: { required: optional !== true, content } };
}

function answers(route: Route, { schemas, routes }: OperationPlace): JsonObject {
  const descriptions = { 200: 'Accepted and answered.', ...route.documentation.otherStatuses };
  const links = linksOf(route, routes);
  const rest = {
    headers: headersOf(route),
    content: answerContent(route, schemas),
    ...(Object.keys(links).length === 0 ? {} : { links }),
  };
  return Object.fromEntries(
    Object.entries(descriptions).map(([status, description]) => [status, { description, ...rest }]),
  );
}

function answerContent(route: Route, schemas: NamedSchemas): JsonObject {
  const { answer } = route.documentation;
  if ('shape' in answer) {
    const schema = schemas.write(answer.shape, schemaName(route, 'Answer'));
    return { [answer.contentType ?? 'application/json']: { schema, example: answer.example } };
  }
  const examples = Object.entries({ [answer.contentType]: answer.example, ...answer.others });
  return Object.fromEntries(examples.map(([type, example]) => [type, { schema: { type: 'string' }, example }]));
}

function refusals(route: Route, { baseUrl, schemas }: OperationPlace): JsonObject {
  const responses = [...problemsByStatus(route)].map(([status, codes]) => [
    String(status),
    {
      description: codes.map((code) => `\`${code}\``).join(', '),
      headers: refusalHeaders(route, status),
      content:
        route.access === 'paid' && status === DEMAND_STATUS
          ? demandContent(route, codes, baseUrl)
          : problemContent(codes, schemas),
    },
  ]);
  return Object.fromEntries(responses);
}

function problemContent(codes: readonly ProblemCode[], schemas: NamedSchemas): JsonObject {
  const examples = codes.map((code) => [code, { $ref: `#/components/examples/${code}` }]);
  return {
    'application/problem+json': { schema: refusalSchema(codes, schemas), examples: Object.fromEntries(examples) },
  };
}

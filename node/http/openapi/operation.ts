import type { JsonObject } from '../../../protocol/json/value.ts';
import { JSON_LINES_TYPE, JSON_TYPE } from '../body.ts';
import type { ProblemCode } from '../problem-codes.ts';
import type { ParameterDocumentation, Route } from '../route.ts';
import { exampleOf } from '../written-schema.ts';
import { headersOf, refusalHeaders } from './headers.ts';
import { linksOf } from './links.ts';
import { operationId, schemaName } from './operation-id.ts';
import { DEMAND_STATUS, demandContent, PAID_REQUEST_HEADERS, paymentInfo } from './payment.ts';
import { refusalSchema } from './problem-schema.ts';
import { isRecording, problemsByStatus } from './problems.ts';
import type { NamedSchemas } from './schemas.ts';
import { tagOf } from './tags.ts';

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
    security: route.access === 'key' ? [{ apiKey: [] }] : [],
    ...(route.access === 'key' && route.scope !== null ? { 'x-scope': route.scope } : {}),
    ...(route.access === 'paid' ? paymentInfo(route) : {}),
    parameters: [
      ...pathParameters(route, params, schemas),
      ...Object.entries(query).map(([name, parameter]) => parameterOf('query', name, parameter, schemas)),
      ...(isRecording(route) ? RECORDING_HEADERS : []),
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

/** Headers that every endpoint making records understands. */
const RECORDING_HEADERS: readonly JsonObject[] = [
  {
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    description: 'The same key with the same body is answered as the first time, for 24 hours.',
    schema: { type: 'string', minLength: 1, maxLength: 128 },
    example: 'decision-2026-11-21-0042',
  },
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

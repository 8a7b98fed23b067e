import type { JsonObject } from '../../../protocol/json/value.ts';
import { JSON_LINES_TYPE, JSON_TYPE } from '../body.ts';
import type { ProblemCode } from '../problem-codes.ts';
import type { ParameterDocumentation, Route } from '../route.ts';
import { writtenSchema } from '../written-schema.ts';
import { headersOf, refusalHeaders } from './headers.ts';
import { DEMAND_STATUS, demandContent, PAID_REQUEST_HEADERS, paymentInfo } from './payment.ts';
import { refusalSchema } from './problem-schema.ts';
import { isRecording, problemsByStatus } from './problems.ts';

/**
 * What OpenAPI says of one route. `baseUrl`: public address of the node. Throws `RangeError` where a path parameter is not
 * documented.
 */
export function operationOf(route: Route, baseUrl: string): JsonObject {
  const { summary, description, params = {}, query = {} } = route.documentation;
  return {
    operationId: operationId(route),
    summary,
    ...(description === undefined ? {} : { description }),
    security: route.access === 'key' ? [{ apiKey: [] }] : [],
    ...(route.access === 'key' && route.scope !== null ? { 'x-scope': route.scope } : {}),
    ...(route.access === 'paid' ? paymentInfo(route) : {}),
    parameters: [
      ...pathParameters(route, params),
      ...Object.entries(query).map(([name, parameter]) => parameterOf('query', name, parameter)),
      ...(isRecording(route) ? RECORDING_HEADERS : []),
      ...(route.access === 'paid' ? PAID_REQUEST_HEADERS : []),
    ],
    ...requestBody(route),
    responses: {
      ...refusals(route, baseUrl),
      ...answers(route),
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
    schema: { type: 'string', maxLength: 128 },
  },
  {
    name: 'Prefer',
    in: 'header',
    required: false,
    description: '`wait=N` (RFC 7240): answer once the record is confirmed, or after N seconds, at most 120.',
    schema: { type: 'string' },
  },
];

const LINES_SCHEMA: JsonObject = { type: 'string', description: 'One item of the list a line, as JSON.' };

function operationId({ method, path }: Route): string {
  const words = path.split(/[^A-Za-z0-9]+/).filter((word) => word !== '' && word !== 'v1');
  return method.toLowerCase() + words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
}

function pathParameters(route: Route, params: Readonly<Record<string, ParameterDocumentation>>): JsonObject[] {
  return [...route.path.matchAll(PATH_PARAMETER)].map(([, name = '']) => {
    const parameter = params[name];
    if (parameter === undefined) throw new RangeError(`${route.path}: the parameter ${name} is not documented`);
    return parameterOf('path', name, { ...parameter, required: true });
  });
}

function parameterOf(
  place: 'path' | 'query',
  name: string,
  { description, shape, example, required = false }: ParameterDocumentation,
): JsonObject {
  return { name, in: place, required, description, schema: writtenSchema(shape), example };
}

function requestBody({ documentation: { request } }: Route): JsonObject {
  if (request === undefined) return {};
  const { shape, example, optional, lines } = request;
  const asLines = lines === undefined ? {} : { [JSON_LINES_TYPE]: { schema: LINES_SCHEMA, example: lines } };
  const content = { [JSON_TYPE]: { schema: writtenSchema(shape), example }, ...asLines };
  return { requestBody: { required: optional !== true, content } };
}

function answers(route: Route): JsonObject {
  const descriptions = { 200: 'Accepted and answered.', ...route.documentation.otherStatuses };
  const rest = { headers: headersOf(route), content: answerContent(route) };
  return Object.fromEntries(
    Object.entries(descriptions).map(([status, description]) => [status, { description, ...rest }]),
  );
}

function answerContent({ documentation: { answer } }: Route): JsonObject {
  if (!('shape' in answer)) return { [answer.contentType]: { schema: { type: 'string' }, example: answer.example } };
  return {
    [answer.contentType ?? 'application/json']: { schema: writtenSchema(answer.shape), example: answer.example },
  };
}

function refusals(route: Route, baseUrl: string): JsonObject {
  const responses = [...problemsByStatus(route)].map(([status, codes]) => [
    String(status),
    {
      description: codes.map((code) => `\`${code}\``).join(', '),
      headers: refusalHeaders(route, status),
      content:
        route.access === 'paid' && status === DEMAND_STATUS
          ? demandContent(route, codes, baseUrl)
          : problemContent(codes),
    },
  ]);
  return Object.fromEntries(responses);
}

function problemContent(codes: readonly ProblemCode[]): JsonObject {
  const examples = codes.map((code) => [code, { $ref: `#/components/examples/${code}` }]);
  return { 'application/problem+json': { schema: refusalSchema(codes), examples: Object.fromEntries(examples) } };
}

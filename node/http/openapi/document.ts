import type { TSchema } from 'typebox';
import type { JsonObject, JsonValue } from '../../../protocol/json/value.ts';
import type { ParameterDocumentation, Route } from '../route.ts';
import { ANSWER_HEADERS, headersOf, refusalHeaders } from './headers.ts';
import { problemsByStatus } from './problems.ts';
import { PROBLEM_SCHEMA, problemExample } from './problem-schema.ts';

export interface DocumentOptions {
  readonly version: string;
  /** Public address of the node, without a slash at its end. */
  readonly baseUrl: string;
}

const OPENAPI_VERSION = '3.1.0';
const DESCRIPTION =
  'Witnesses AI decisions with post-quantum signatures (ML-DSA-65, FIPS 204). It records what the caller asserts and ' +
  'never judges whether it is right; nothing here is legal advice.';

/** The OpenAPI 3.1 document of a node: every route, from the schemas that check requests. */
export function openApiDocument(routes: readonly Route[], { version, baseUrl }: DocumentOptions): JsonObject {
  const paths = new Map<string, Map<string, JsonObject>>();
  for (const route of routes) {
    const path = pathTemplate(route.path);
    const methods = paths.get(path) ?? new Map<string, JsonObject>();
    methods.set(route.method.toLowerCase(), operationOf(route, baseUrl));
    paths.set(path, methods);
  }
  return {
    openapi: OPENAPI_VERSION,
    info: { title: 'Meridian', version, description: DESCRIPTION, license: { name: 'Apache-2.0' } },
    servers: [{ url: baseUrl }, { url: `${baseUrl}/verify` }],
    paths: Object.fromEntries([...paths].map(([path, methods]) => [path, Object.fromEntries(methods)])),
    components: {
      securitySchemes: { apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key' } },
      headers: ANSWER_HEADERS,
      schemas: { Problem: PROBLEM_SCHEMA },
    },
  };
}

/** `/v1/status/:id` as OpenAPI writes it: `/v1/status/{id}`. */
export function pathTemplate(path: string): string {
  return path.replace(/:([A-Za-z]+)/g, '{$1}');
}

function operationOf(route: Route, baseUrl: string): JsonObject {
  const { summary, description, params = {}, query = {}, request, answer } = route.documentation;
  return {
    operationId: operationId(route),
    summary,
    ...(description === undefined ? {} : { description }),
    security: route.access === 'key' ? [{ apiKey: [] }] : [],
    ...(route.access === 'key' && route.scope !== null ? { 'x-scope': route.scope } : {}),
    parameters: [
      ...pathParameters(route, params),
      ...Object.entries(query).map(([name, parameter]) => parameterOf('query', name, parameter)),
      ...headerParameters(route),
    ],
    ...(request === undefined
      ? {}
      : {
          requestBody: {
            required: true,
            content: { 'application/json': { schema: schemaOf(request.shape), example: request.example } },
          },
        }),
    responses: {
      200: {
        description: 'Accepted and answered.',
        headers: headersOf(route),
        content:
          'shape' in answer
            ? {
                [answer.contentType ?? 'application/json']: { schema: schemaOf(answer.shape), example: answer.example },
              }
            : { [answer.contentType]: { schema: { type: 'string' }, example: answer.example } },
      },
      ...refusals(route, baseUrl),
    },
  };
}

function operationId({ method, path }: Route): string {
  const words = path.split(/[^A-Za-z0-9]+/).filter((word) => word !== '' && word !== 'v1');
  return method.toLowerCase() + words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
}

function pathParameters(route: Route, params: Readonly<Record<string, ParameterDocumentation>>): JsonObject[] {
  return [...route.path.matchAll(/:([A-Za-z]+)/g)].map(([, name = '']) => {
    const parameter = params[name];
    if (parameter === undefined) throw new RangeError(`${route.path}: the parameter ${name} is not documented`);
    return parameterOf('path', name, { ...parameter, required: true });
  });
}

function parameterOf(
  place: 'path' | 'query' | 'header',
  name: string,
  { description, shape, example, required = false }: ParameterDocumentation,
): JsonObject {
  return { name, in: place, required, description, schema: schemaOf(shape), example };
}

/** Headers that every endpoint making records understands. */
function headerParameters(route: Route): JsonObject[] {
  if (route.access === 'free' || (route.records ?? 0) === 0) return [];
  const text = (maxLength: number) => ({ type: 'string', maxLength });
  return [
    {
      name: 'Idempotency-Key',
      in: 'header',
      required: false,
      description: 'The same key with the same body is answered as the first time, for 24 hours.',
      schema: text(128),
    },
    {
      name: 'Prefer',
      in: 'header',
      required: false,
      description: '`wait=N` (RFC 7240): answer once the record is confirmed, or after N seconds, at most 120.',
      schema: text(64),
    },
  ];
}

function refusals(route: Route, baseUrl: string): JsonObject {
  return Object.fromEntries(
    [...problemsByStatus(route)].map(([status, codes]) => [
      String(status),
      {
        description: codes.map((code) => `\`${code}\``).join(', '),
        headers: refusalHeaders(route, status),
        content: {
          'application/problem+json': {
            schema: {
              allOf: [{ $ref: '#/components/schemas/Problem' }, { properties: { code: { enum: [...codes] } } }],
            },
            examples: Object.fromEntries(
              codes.map((code) => [code, { value: problemExample(code, route.path, baseUrl) }]),
            ),
          },
        },
      },
    ]),
  );
}

/** A TypeBox schema is JSON Schema 2020-12, which OpenAPI 3.1 takes as it is; writing it out drops what is not. */
function schemaOf(shape: TSchema): JsonValue {
  const schema: JsonValue = JSON.parse(JSON.stringify(shape));
  return schema;
}

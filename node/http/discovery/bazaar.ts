import { utf8 } from '../../../protocol/bytes.ts';
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../../../protocol/json/value.ts';
import type { PaidRoute } from '../route.ts';
import { type Described, type Offer, offerOf } from './offer.ts';

/** Words of JSON Schema that say nothing of what is valid. */
const REMARKS: ReadonlySet<string> = new Set(['description', 'title', 'examples', 'default']);
/** Words whose value is a schema one level further down, or several of them, by name or in order. */
const BELOW: ReadonlySet<string> = new Set(['items', 'additionalProperties', 'unevaluatedProperties']);
const BELOW_BY_NAME: ReadonlySet<string> = new Set(['properties', 'patternProperties']);
const BESIDE: ReadonlySet<string> = new Set(['anyOf', 'oneOf', 'allOf']);

/** A schema down to a depth, without remarks. Whatever is valid under the whole is valid under its outline. */
export function outline(schema: JsonValue, depth: number): JsonValue {
  if (!isJsonObject(schema)) return schema;
  if (depth === 0) return schema.type === undefined ? {} : { type: schema.type };
  const kept = Object.entries(schema).filter(([word]) => !REMARKS.has(word));
  return Object.fromEntries(kept.map(([word, value]) => [word, outlined(word, value, depth)]));
}

function outlined(word: string, value: JsonValue, depth: number): JsonValue {
  if (BELOW.has(word)) return outline(value, depth - 1);
  if (BELOW_BY_NAME.has(word) && isJsonObject(value)) return mapMembers(value, (one) => outline(one, depth - 1));
  if (BESIDE.has(word) && isJsonArray(value)) return value.map((one) => outline(one, depth));
  return value;
}

function mapMembers(object: JsonObject, map: (value: JsonValue) => JsonValue): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, map(value)]));
}

/** The x402 extension by which catalogues of paid services learn what one takes and gives. */
const BAZAAR = 'bazaar';
/**
 * Of one declaration. It travels in the header of every 402 answer and back in that of the payment; common proxies take
 * 8 KiB of a header, and base64 takes a third of that. In bytes.
 */
const MAX_DECLARATION_BYTES = 3_584;
/** Of schemas: as they are, remarks and all. */
const WHOLE = Infinity;
/** Levels of any schema, without remarks. */
const ALL_LEVELS = 64;
/**
 * Levels of the request's and of the answer's schema, from all to as little as must be; null: no answer, no example.
 */
const DETAIL: readonly { readonly request: number; readonly answer: number | null }[] = [
  { request: WHOLE, answer: WHOLE },
  { request: WHOLE, answer: ALL_LEVELS },
  { request: WHOLE, answer: 3 },
  { request: WHOLE, answer: 2 },
  { request: WHOLE, answer: 1 },
  { request: WHOLE, answer: 0 },
  { request: ALL_LEVELS, answer: 0 },
  { request: ALL_LEVELS, answer: null },
  { request: 2, answer: null },
  { request: 1, answer: null },
];

/**
 * The declarations of extensions of a paid route's 402 answers, each made once. Throws `RangeError` where a route's
 * example of a request is too long for a header.
 */
export function discoveryExtensions(): (route: PaidRoute) => JsonObject {
  const made = new WeakMap<PaidRoute, JsonObject>();
  return (route) => {
    const known = made.get(route) ?? { [BAZAAR]: bazaarDeclaration(offerOf(route)) };
    made.set(route, known);
    return known;
  };
}

/** The `bazaar` declaration of an offer, in as much detail as a header bears. */
export function bazaarDeclaration(offer: Offer): JsonObject {
  for (const { request, answer } of DETAIL) {
    const declaration = declare({
      ...offer,
      path: drawn(offer.path, request),
      query: drawn(offer.query, request),
      body: offer.body && drawn(offer.body, request),
      answer: answer === null ? null : drawn(offer.answer, answer),
    });
    if (utf8(JSON.stringify(declaration)).length <= MAX_DECLARATION_BYTES) return declaration;
  }
  throw new RangeError(`${offer.route.path}: its example is too long for a header`);
}

function drawn({ example, schema }: Described, depth: number): Described {
  if (depth === WHOLE) return { example, schema };
  const drawnSchema = outline(schema, depth);
  return { example, schema: isJsonObject(drawnSchema) ? drawnSchema : {} };
}

function declare(offer: Omit<Offer, 'answer'> & { readonly answer: Described | null }): JsonObject {
  const { route, path, query, body, answer } = offer;
  const isTemplate = route.path.includes(':');
  const asked = body === null ? { queryParams: query.example } : { bodyType: 'json', body: body.example };
  return {
    ...(isTemplate ? { routeTemplate: route.path } : {}),
    info: {
      input: {
        type: 'http',
        method: route.method,
        ...asked,
        ...(isTemplate ? { pathParams: path.example } : {}),
      },
      ...(answer === null ? {} : { output: { type: 'json', example: answer.example } }),
    },
    schema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: {
        input: inputSchema(offer, isTemplate),
        ...(answer === null ? {} : { output: outputSchema(answer) }),
      },
      required: ['input'],
    },
  };
}

function inputSchema({ route, path, query, body }: Omit<Offer, 'answer'>, isTemplate: boolean): JsonObject {
  const asked =
    body === null
      ? { queryParams: { type: 'object', ...query.schema } }
      : { bodyType: { type: 'string', enum: ['json', 'form-data', 'text'] }, body: body.schema };
  return {
    type: 'object',
    properties: {
      type: { type: 'string', const: 'http' },
      method: { type: 'string', enum: [route.method] },
      ...asked,
      ...(isTemplate ? { pathParams: { type: 'object', ...path.schema } } : {}),
    },
    required: body === null ? ['type', 'method'] : ['type', 'method', 'bodyType', 'body'],
    additionalProperties: false,
  };
}

function outputSchema({ schema }: Described): JsonObject {
  return {
    type: 'object',
    properties: { type: { type: 'string' }, example: { type: 'object', ...schema } },
    required: ['type'],
  };
}

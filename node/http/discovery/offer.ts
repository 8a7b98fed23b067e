import { isJsonObject, type JsonObject } from '../../../protocol/json/value.ts';
import { SERVICES } from '../../../protocol/payments/prices.ts';
import type { PaidRoute, ParameterDocumentation } from '../route.ts';
import { exampleOf, writtenSchema } from '../written-schema.ts';

/** What a paid route takes and gives, by example and by schema: what all discovery documents are made of. */
export interface Offer {
  readonly route: PaidRoute;
  /** Dollars for one call. */
  readonly usd: string;
  readonly description: string;
  /** The path with the documented examples in the place of its parameters. */
  readonly examplePath: string;
  readonly path: Described;
  readonly query: Described;
  /** Null for a GET. */
  readonly body: Described | null;
  readonly answer: Described;
}

/** An example and the schema that it is of. */
export interface Described {
  readonly example: JsonObject;
  readonly schema: JsonObject;
}

/** A cursor belongs to an answer: no example of one works. */
const CURSOR = 'cursor';

/** Throws `RangeError` where the route's documentation lacks what a payer must know. */
export function offerOf(route: PaidRoute): Offer {
  const { params = {}, query = {}, request, answer } = route.documentation;
  const { usd, description } = SERVICES[route.service];
  if (!('shape' in answer)) throw new RangeError(`${route.path}: its answer is no JSON`);
  if (route.method === 'POST' && request === undefined) throw new RangeError(`${route.path}: no body is described`);
  const body = request?.example ?? null;
  if (body !== null && !isJsonObject(body)) throw new RangeError(`${route.path}: the example of its body is no object`);
  return {
    route,
    usd,
    description,
    examplePath: examplePath(route.path, params),
    path: describedParameters(params, true),
    query: describedParameters(query, false),
    body: request === undefined || body === null ? null : { example: body, schema: writtenSchema(request.shape) },
    answer: { example: answer.example, schema: writtenSchema(answer.shape) },
  };
}

function examplePath(path: string, params: Readonly<Record<string, ParameterDocumentation>>): string {
  return path.replace(/:([A-Za-z]+)/g, (_, name: string) => {
    const parameter = params[name];
    if (parameter === undefined) throw new RangeError(`${path}: the parameter ${name} is not documented`);
    return encodeURIComponent(parameter.example);
  });
}

function describedParameters(
  parameters: Readonly<Record<string, ParameterDocumentation>>,
  isRequired: boolean,
): Described {
  const entries = Object.entries(parameters);
  const shown = entries.filter(([name]) => name !== CURSOR);
  const required = entries.filter((entry) => isRequired || entry[1].required === true).map(([name]) => name);
  const schemas = new Map(entries.map(([name, { shape }]) => [name, writtenSchema(shape)]));
  const properties = entries.map(([name, { description }]) => [name, { ...schemas.get(name), description }]);
  return {
    example: Object.fromEntries(
      shown.map(([name, { example }]) => [name, exampleOf(schemas.get(name) ?? {}, example)]),
    ),
    schema: {
      type: 'object',
      properties: Object.fromEntries(properties),
      ...(required.length === 0 ? {} : { required }),
      additionalProperties: false,
    },
  };
}

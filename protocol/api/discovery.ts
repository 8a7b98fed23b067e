import Type from 'typebox';
import { PAID_API_VERSION } from '../payments/prices.ts';
import { AtomicAmountShape } from '../payments/settlement.ts';
import { USDC } from '../payments/usdc.ts';
import { Closed, TimestampShape } from '../shapes.ts';
import { EXAMPLE_SUBMITTED_AT } from './example-ids.ts';

const AnythingOf = (description: string) => Type.Object({}, { description, additionalProperties: true });
const SchemaShape = AnythingOf('JSON Schema 2020-12.');
const MethodShape = Type.Enum(['GET', 'POST']);

const RequirementsShape = Closed({
  scheme: Type.Literal('exact'),
  network: Type.Literal(USDC.network),
  amount: AtomicAmountShape,
  asset: Type.Literal(USDC.asset),
  payTo: Type.String({ pattern: '^0x[0-9a-fA-F]{40}$' }),
  maxTimeoutSeconds: Type.Integer(),
  extra: Closed({ name: Type.String(), version: Type.String() }),
});

const InputShape = Closed({
  type: Type.Literal('http'),
  method: MethodShape,
  queryParams: Type.Optional(AnythingOf('An example of the query.')),
  bodyType: Type.Optional(Type.Literal('json')),
  body: Type.Optional(AnythingOf('An example of the body.')),
  pathParams: Type.Optional(AnythingOf("An example of the path's parameters.")),
  schema: Closed({
    queryParams: Type.Optional(SchemaShape),
    body: Type.Optional(SchemaShape),
    pathParams: Type.Optional(SchemaShape),
  }),
});

const ItemShape = Closed({
  resource: Type.String({
    format: 'uri',
    description: 'An address that can be called: examples stand for parameters.',
  }),
  routeTemplate: Type.Optional(Type.String({ description: 'The path with `:name` where a parameter is.' })),
  type: Type.Literal('http'),
  x402Version: Type.Literal(2),
  method: MethodShape,
  service: Type.String(),
  description: Type.String(),
  mimeType: Type.String(),
  priceUsd: Type.String({ description: 'Dollars for one call.' }),
  accepts: Type.Array(RequirementsShape, { minItems: 1 }),
  lastUpdated: TimestampShape,
  input: InputShape,
  output: Closed({ type: Type.Literal('json'), example: AnythingOf('An answer.'), schema: SchemaShape }),
});

/** `GET /.well-known/x402.json`. */
export const ManifestShape = Closed({
  x402Version: Type.Literal(2),
  version: Type.Literal(PAID_API_VERSION, { description: 'Of the description of what is sold.' }),
  lastUpdated: Type.Unsafe<string>({ ...TimestampShape, description: 'Since when the node offers this: its start.' }),
  takesPayments: Type.Boolean({ description: 'Where false, nothing is sold here and `items` is empty.' }),
  openapi: Type.String({ format: 'uri' }),
  items: Type.Array(ItemShape),
});

/** `GET /.well-known/x402`. */
export const ResourceListShape = Closed({
  version: Type.Literal(1),
  resources: Type.Array(Type.String({ format: 'uri' })),
});

const EXAMPLE_RESOURCE = 'https://eu.example/v1/x402/hedera-facts/supply';

/** Of a node that takes no payments: linters read an example within an example as a schema. */
export const MANIFEST_EXAMPLE = {
  x402Version: 2,
  version: PAID_API_VERSION,
  lastUpdated: EXAMPLE_SUBMITTED_AT,
  takesPayments: false,
  openapi: 'https://eu.example/openapi.json',
  items: [],
};

export const RESOURCE_LIST_EXAMPLE = { version: 1, resources: [EXAMPLE_RESOURCE] };

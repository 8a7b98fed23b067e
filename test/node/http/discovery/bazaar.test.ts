import { bazaarResourceServerExtension, declareDiscoveryExtension, validateDiscoveryExtension } from '@x402/extensions';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { bazaarDeclaration, discoveryExtensions, outline } from '../../../../node/http/discovery/bazaar.ts';
import { offerOf } from '../../../../node/http/discovery/offer.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../../protocol/json/value.ts';
import { encodeHeader } from '../../../../protocol/payments/header.ts';
import { paymentRequired } from '../../../../protocol/payments/terms.ts';
import { fc } from '../../../fixtures/properties.ts';
import { SchemaJudge } from '../../../fixtures/schema-judge.ts';
import { factRoute, noteRoute, routeWithAnswer } from './example-routes.ts';

/** What common proxies take of one header. In bytes. */
const HEADER_BYTES = 8_192;

/** What the stock server makes of a declaration when it answers a request. */
function asServed(declared: { bazaar?: unknown }, method: string, routePattern: string, path: string): unknown {
  const context = { method, routePattern, adapter: { getPath: () => path } };
  return bazaarResourceServerExtension.enrichDeclaration?.(declared.bazaar, context);
}

function plain(value: unknown): JsonValue {
  const read: JsonValue = JSON.parse(JSON.stringify(value));
  return read;
}

function faultOf(declaration: JsonObject): string {
  const { info, schema } = declaration;
  return JSON.stringify(validateDiscoveryExtension(JSON.parse(JSON.stringify({ info, schema }))).errors ?? []);
}

test('a route with a body is declared as the stock server declares it', () => {
  const { body, answer } = offerOf(noteRoute);
  const declared = declareDiscoveryExtension({
    bodyType: 'json',
    input: { ...body?.example },
    inputSchema: { ...body?.schema },
    output: { example: answer.example, schema: { ...answer.schema } },
  });
  assert.equal(
    bazaarDeclaration(offerOf(noteRoute)),
    plain(asServed(declared, 'POST', noteRoute.path, noteRoute.path)),
  );
});

test('so is one with parameters in path and query', () => {
  const { path, query, answer, examplePath } = offerOf(factRoute);
  const declared = declareDiscoveryExtension({
    input: { ...query.example },
    inputSchema: { ...query.schema },
    pathParams: { ...path.example },
    pathParamsSchema: { ...path.schema },
    output: { example: answer.example, schema: { ...answer.schema } },
  });
  assert.equal(bazaarDeclaration(offerOf(factRoute)), plain(asServed(declared, 'GET', factRoute.path, examplePath)));
});

test('however much there is to say, it fits into a header and holds', () => {
  for (const [members, depth] of [
    [1, 0],
    [8, 1],
    [6, 2],
    [8, 3],
    [60, 1],
    [400, 0],
  ] as const) {
    const offer = offerOf(routeWithAnswer(members, depth));
    const declaration = bazaarDeclaration(offer);
    assert.is(faultOf(declaration), '[]');
    const demand = { service: 'attested-screening', url: 'https://eu.example/x', payTo: '0x', error: 'e' } as const;
    const header = encodeHeader(paymentRequired({ ...demand, extensions: { bazaar: declaration } }));
    assert.ok(header.length < HEADER_BYTES, `${members}, ${depth}: ${header.length}`);
    // Of the request nothing is left out where the answer alone is long.
    const { properties } = Object(declaration.schema);
    assert.equal(properties.input.properties.body, plain(offer.body?.schema ?? null), `${members}, ${depth}`);
  }
});

test('a request that fits into no header is a fault of its author', () => {
  const { documentation } = noteRoute;
  const request = { shape: documentation.request?.shape ?? {}, example: { text: 'x'.repeat(4_000) } };
  const route = { ...noteRoute, documentation: { ...documentation, request } };
  assert.throws(() => bazaarDeclaration(offerOf(route)), /too long/);
});

test('a declaration is made once for a route', () => {
  const extensions = discoveryExtensions();
  assert.is(extensions(noteRoute), extensions(noteRoute));
  assert.equal(Object.keys(extensions(factRoute)), ['bazaar']);
});

/** Schemas of the kinds that answers have, each with a value that it takes. */
const described = fc.letrec<{ one: readonly [JsonObject, JsonValue] }>((tie) => ({
  one: fc.oneof(
    { maxDepth: 4 },
    fc.string().map((text) => [{ type: 'string', description: 'a text' }, text] as const),
    fc.integer({ min: 0 }).map((number) => [{ type: 'integer', minimum: 0 }, number] as const),
    tie('one').map(([schema, value]) => [{ anyOf: [schema, { type: 'null' }] }, value] as const),
    fc.array(tie('one'), { minLength: 1, maxLength: 1 }).map(([[schema, value] = [{}, null]]) => {
      const array: readonly [JsonObject, JsonValue] = [{ type: 'array', items: schema }, [value]];
      return array;
    }),
    fc.dictionary(fc.stringMatching(/^[a-z]{1,5}$/), tie('one'), { maxKeys: 3 }).map((members) => {
      const entries = Object.entries(members);
      const properties = Object.fromEntries(entries.map(([name, [schema]]) => [name, schema]));
      const schema = { type: 'object', properties, required: Object.keys(members), additionalProperties: false };
      const value = Object.fromEntries(entries.map(([name, [, member]]) => [name, member]));
      const object: readonly [JsonObject, JsonValue] = [schema, value];
      return object;
    }),
  ),
})).one;

test('what is of a schema is of its outline at any depth', () => {
  fc.assert(
    fc.property(described, fc.integer({ min: 0, max: 5 }), ([schema, value], depth) => {
      const drawn = outline(schema, depth);
      assert.not.match(JSON.stringify(drawn), 'description');
      assert.is(new SchemaJudge({}).of(isJsonObject(drawn) ? drawn : {})(value), null);
    }),
    { numRuns: 60 },
  );
});

test.run();

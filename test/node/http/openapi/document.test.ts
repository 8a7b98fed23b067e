import { Validator } from '@seriousme/openapi-schema-validator';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { MOST_REQUESTS, requestsOf, weightOf } from '../../../../node/accounts/limits/route-weights.ts';
import { isProblemCode, PROBLEM_KINDS } from '../../../../node/http/problem-codes.ts';
import { PROBLEM_MEANINGS } from '../../../../node/http/problem-meanings.ts';
import { isJsonObject, type JsonValue } from '../../../../protocol/json/value.ts';
import { ApiDocument, type Content, type Operation, valueOf } from '../../../fixtures/api-document.ts';
import { OPERATION_IDS } from '../../../fixtures/operation-ids.ts';
import { SchemaJudge } from '../../../fixtures/schema-judge.ts';
import { TestNetwork } from '../../../fixtures/test-network.ts';
import { openPlaces } from './open-schemas.ts';

/** Objects of fewer members may be written out wherever they stand. */
const REPEATED_MEMBERS = 4;

const network = await TestNetwork.start();
const served = await network.node().get('/openapi.json', { key: null });
await network[Symbol.asyncDispose]();
const document = new ApiDocument(served.body);
const judge = new SchemaJudge(document.root);

/** Checks every operation and names all that fail, not the first alone. */
function every(check: (operation: Operation) => readonly string[]): void {
  const faults = document.operations.flatMap((operation) =>
    check(operation).map((fault) => `${operation.method} ${operation.template}: ${fault}`),
  );
  assert.equal(faults, []);
}

function isRefusal({ type }: Content): boolean {
  return type === 'application/problem+json';
}

function faultOf(what: string, fault: string | null): string[] {
  return fault === null ? [] : [`${what}: ${fault}`];
}

test('the document is OpenAPI 3.1', async () => {
  const { valid, errors } = await new Validator().validate(served.body);
  assert.ok(valid, JSON.stringify(errors)?.slice(0, 500));
  assert.is(document.root.openapi, '3.1.0');
  assert.is(new Set(document.operations.map(({ id }) => id)).size, document.operations.length);
});

test('a path calls one operation, the most literal of those that take it', () => {
  const called = (path: string) => document.operationAt('GET', path)?.template;
  const facts = '/v1/x402/hedera-facts';
  assert.equal([`${facts}/all`, `${facts}/all;v=1`, `${facts}/`, `${facts}/all/x`].map(called), [
    `${facts}/all`,
    `${facts}/{fact}`,
    undefined,
    undefined,
  ]);
});

test('an operation says who may call it, and with a key how often it was called', () => {
  every(({ keyed, scope, answers }) => {
    const faults: string[] = [];
    if (scope !== null && !keyed) faults.push('a scope, and no key');
    for (const [status, { headers, description, content }] of answers) {
      if (description === '') faults.push(`${status} is not described`);
      if (!headers.has('X-Request-Id')) faults.push(`${status} has no request id`);
      if (keyed && !headers.has('RateLimit-Remaining')) faults.push(`${status} has no rate-limit headers`);
      if (isRefusal(content) && [429, 503, 507].includes(status) && !headers.has('Retry-After')) {
        faults.push(`${status} does not say when to come back`);
      }
    }
    return faults;
  });
});

test('every parameter and every body has an example, and each is of its schema', () => {
  every(({ parameters, request, method, template }) => [
    ...parameters
      .filter(({ place }) => place !== 'header')
      .flatMap(({ name, example, schema }) =>
        example === '' ? [`${name} has no example`] : faultOf(name, judge.of(schema)(valueOf(schema, example))),
      ),
    ...(request?.examples ?? []).flatMap((example) => faultOf('request', judge.of(request?.schema ?? {})(example))),
    ...(request !== null && request.examples.length === 0 ? ['the request has no example'] : []),
    ...(template.split('{').length - 1 === parameters.filter(({ place }) => place === 'path').length
      ? []
      : ['a path parameter is not described']),
    ...(method === 'GET' && request !== null ? ['a GET with a body'] : []),
  ]);
});

test('every operation weighs something in a class of its kind, and a free one no more than a minute allows', () => {
  every(({ method, template, keyed, usd }) => {
    const access = usd === null ? (keyed ? 'key' : 'free') : 'paid';
    const path = template.replace(/\{([A-Za-z]+)\}/g, ':$1');
    const weight = weightOf({ method, path, access });
    const isMade = method === 'POST' && access === 'key';
    const fits =
      access === 'paid'
        ? weight.class === 'paid'
        : isMade
          ? weight.class === 'record'
          : requestsOf(weight) <= MOST_REQUESTS;
    const isTold = !keyed || weight.permanentBytes > 0;
    return fits && isTold ? [] : [`weighs ${JSON.stringify(weight)}`];
  });
});

test('every answer and every refusal has examples, and each is of its schema', () => {
  every(({ answers }) =>
    [...answers].flatMap(([status, { content }]) => {
      if (content.examples.length === 0) return [`${status} has no example`];
      return content.examples.flatMap((example) => faultOf(String(status), judge.of(content.schema)(example)));
    }),
  );
});

test('answers under a path that is a secret, refusals too, and refused parts of a file have the headers that they come with', () => {
  every(({ template, answers }) =>
    [...answers].flatMap(([status, { headers }]) => {
      const needed = [
        ...(template.includes('{token}') ? ['Referrer-Policy', 'X-Robots-Tag'] : []),
        ...(status === 416 ? ['Content-Range'] : []),
      ];
      return needed.filter((name) => !headers.has(name)).map((name) => `${status} lacks ${name}`);
    }),
  );
});

test('answers have no members but the described ones', () => {
  every(({ answers }) =>
    [...answers].flatMap(([status, { content }]) => openPlaces(content.schema, document.schemas, String(status))),
  );
});

test('every refusal has a code of the one table, under its status, with a meaning', () => {
  every((operation) =>
    [...operation.answers]
      .filter(([, { content }]) => isRefusal(content))
      .flatMap(([status, { content }]) =>
        content.examples.flatMap((example) => {
          const code = isJsonObject(example) ? String(example.code) : '';
          if (!isProblemCode(code)) return [`${code} is no code`];
          return PROBLEM_KINDS[code].status === status ? [] : [`${code} stands under ${status}`];
        }),
      ),
  );
  assert.equal(Object.keys(PROBLEM_MEANINGS).sort(), Object.keys(PROBLEM_KINDS).sort());
});

test('the ids of operations stay as they are: new ones are added to the list of them', () => {
  assert.equal(document.operations.map(({ id }) => id).toSorted(), OPERATION_IDS.toSorted());
});

test('every operation stands under one of the tags that the document lists', () => {
  const { tags, paths } = served.body;
  const listed = new Set(Array.isArray(tags) ? tags.map((tag) => String(Object(tag).name)) : []);
  const used = Object.values(Object(paths)).flatMap((methods) => Object.values(Object(methods)));
  assert.is(used.length, document.operations.length);
  for (const { operationId, tags: own } of used.map(Object)) {
    assert.is(own?.length, 1, operationId);
    assert.ok(listed.has(own[0]), `${operationId}: ${own[0]}`);
  }
});

test('every link leads to an operation that takes its parameters, from members that the answer has', () => {
  let links = 0;
  every(({ answers }) => {
    const { links: found, content } = answers.get(200) ?? { links: [], content: null };
    links += found.length;
    return found.flatMap(({ operationId, parameters }) => {
      const names = new Set(document.operation(operationId).parameters.map(({ name }) => name));
      return Object.entries(parameters).flatMap(([name, expression]) => {
        if (!names.has(name)) return [`${operationId} takes no ${name}`];
        const [, pointer] = /^\$response\.body#(\/.+)$/.exec(expression) ?? [];
        if (pointer === undefined || valueAt(content?.examples[0] ?? null, pointer) !== undefined) return [];
        return [`no ${expression}`];
      });
    });
  });
  assert.ok(links > 50, `${links} links`);
});

test('the next page of a list is asked for with every parameter of the page before', () => {
  every(({ parameters, answers }) => {
    const next = answers.get(200)?.links.find((link) => 'cursor' in link.parameters);
    if (next === undefined) return [];
    const passed = Object.keys(next.parameters).toSorted();
    const taken = parameters.flatMap(({ name, place }) => (place === 'header' ? [] : [name])).toSorted();
    return passed.join() === taken.join() ? [] : [`passes ${passed.join()} of ${taken.join()}`];
  });
});

test('a request, an answer and what several of them hold have a name', () => {
  every(({ request, answers }) => {
    const schemas = [request, answers.get(200)?.content ?? null].flatMap((content) =>
      content === null ? [] : [content],
    );
    const isNamed = ({ type, schema }: Content): boolean => typeof schema.$ref === 'string' || !/[/+]json$/.test(type);
    return schemas.every(isNamed) ? [] : ['a schema without a name'];
  });
  const places = new Map<string, number>();
  for (const schema of Object.values(document.schemas)) countObjects(schema ?? null, places);
  const repeated = [...places].filter(([, count]) => count > 1).map(([text]) => text.slice(0, 120));
  assert.equal(repeated, [], 'objects that stand in several schemas: give their shape a title');
});

/** Counts the objects of some members that stand inside schemas, by their text. */
function countObjects(value: JsonValue, places: Map<string, number>): void {
  if (Array.isArray(value)) for (const item of value) countObjects(item, places);
  if (!isJsonObject(value)) return;
  const { properties } = value;
  const members = isJsonObject(properties) ? Object.keys(properties).length : 0;
  const text = JSON.stringify(value);
  if (members >= REPEATED_MEMBERS) places.set(text, (places.get(text) ?? 0) + 1);
  for (const member of Object.values(value)) countObjects(member ?? null, places);
}

function valueAt(example: JsonValue, pointer: string): JsonValue | undefined {
  let value: JsonValue | undefined = example;
  for (const name of pointer.split('/').slice(1)) value = isJsonObject(value) ? value[name] : undefined;
  return value;
}

test.run();

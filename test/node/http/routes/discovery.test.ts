import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { problemRoute } from '../../../../node/http/routes/problems.ts';
import { discoveryRoutes } from '../../../../node/http/routes/discovery.ts';
import { ManifestShape } from '../../../../protocol/api/discovery.ts';
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../../../../protocol/json/value.ts';
import { SERVICES } from '../../../../protocol/payments/prices.ts';
import { requirementsOf } from '../../../../protocol/payments/terms.ts';
import { timestampOf } from '../../../../protocol/time.ts';
import { SchemaJudge } from '../../../fixtures/schema-judge.ts';
import { openGate, serveApp } from '../../../fixtures/served-app.ts';
import { factRoute, noteRoute } from '../discovery/example-routes.ts';

const BASE_URL = 'https://eu.example';
const PAYEE = '0x1111111111111111111111111111111111111111';
const since = timestampOf(Date.UTC(2026, 10, 21));
const problems = problemRoute({ files: () => Promise.reject(new Error('no page is asked for')) });
const sold = [noteRoute, factRoute, problems, { ...problems, path: '/all-below/*rest' }];

interface Served {
  readonly type: string;
  readonly text: string;
  readonly body: JsonObject;
}

async function served(path: string, payTo: string | null = PAYEE): Promise<Served> {
  const gate = openGate(() => {
    throw new Error('no key is asked for');
  });
  await using app = await serveApp(gate, discoveryRoutes(sold, { baseUrl: () => BASE_URL, payTo, since }));
  const answer = await fetch(app.base + path, { headers: { origin: 'https://page.example' } });
  assert.is(answer.status, 200);
  assert.is(answer.headers.get('access-control-allow-origin'), '*');
  const text = await answer.text();
  const value: unknown = text.startsWith('{') ? JSON.parse(text) : {};
  return { type: answer.headers.get('content-type') ?? '', text, body: isJsonObject(value) ? value : {} };
}

function list(value: JsonValue | undefined): readonly JsonValue[] {
  return value !== undefined && isJsonArray(value) ? value : [];
}

test('the manifest has the terms of every route that is sold, with examples of their schemas', async () => {
  const { body, type } = await served('/.well-known/x402.json');
  assert.match(type, /^application\/json/);
  const schema: JsonObject = JSON.parse(JSON.stringify(ManifestShape));
  const judge = new SchemaJudge({});
  assert.is(judge.of(schema)(body), null);
  assert.equal([body.takesPayments, body.lastUpdated, body.version], [true, since, '1.0.0']);
  const [note, fact, ...others] = list(body.items).map((item) => Object(item));
  assert.equal(others, []);
  assert.is(note.resource, `${BASE_URL}/v1/x402/attested-screening`);
  assert.equal(note.accepts, [requirementsOf('attested-screening', { payTo: PAYEE })]);
  assert.is(note.priceUsd, SERVICES['attested-screening'].usd);
  assert.is(judge.of(note.input.schema.body)(note.input.body), null);
  assert.is(fact.resource, `${BASE_URL}/v1/x402/hedera-facts/supply`);
  assert.is(fact.routeTemplate, '/v1/x402/hedera-facts/:fact');
  assert.is(judge.of(fact.input.schema.pathParams)(fact.input.pathParams), null);
  assert.equal(fact.input.schema.queryParams.required, ['unit']);
  assert.is(judge.of(fact.output.schema)(fact.output.example), null);
});

test('the list of addresses has those that can be called', async () => {
  const { body } = await served('/.well-known/x402');
  const resources = ['/v1/x402/attested-screening', '/v1/x402/hedera-facts/supply'].map((path) => BASE_URL + path);
  assert.equal(body, { version: 1, resources });
});

test('the text tells price, request and way to pay of each, and what is free', async () => {
  const { text, type } = await served('/llms.txt');
  assert.is(type, 'text/plain; charset=utf-8');
  for (const said of [
    '### POST /v1/x402/attested-screening — $0.01',
    '### GET /v1/x402/hedera-facts/{fact} — $0.001',
    '"text": "hello"',
    `GET ${BASE_URL}/v1/x402/hedera-facts/supply`,
    'Query: `unit`, `at`.',
    '- `GET /problems/{code}`',
    '- `GET /all-below/{rest}`',
    PAYEE,
    'PAYMENT-SIGNATURE',
    `${BASE_URL}/openapi.json`,
    `${BASE_URL}/.well-known/x402.json`,
  ]) {
    assert.ok(text.includes(said), said);
  }
});

test('a node that takes no payments says so, and lists nothing for sale', async () => {
  const { body } = await served('/.well-known/x402.json', null);
  assert.equal([body.takesPayments, body.items], [false, []]);
  assert.equal((await served('/.well-known/x402', null)).body, { version: 1, resources: [] });
  const { text } = await served('/llms.txt', null);
  assert.match(text, 'takes no payments');
  assert.not.match(text, '$0.01');
});

test.run();

import { Validator } from '@seriousme/openapi-schema-validator';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import Type from 'typebox';
import { openApiDocument } from '../../../../node/http/openapi/document.ts';
import type { PaidRoute } from '../../../../node/http/route.ts';
import { ApiDocument } from '../../../fixtures/api-document.ts';
import { SchemaJudge } from '../../../fixtures/schema-judge.ts';
import { TurnCount } from '../../../fixtures/turn-count.ts';
import { openPlaces } from './open-schemas.ts';

const route: PaidRoute = {
  method: 'GET',
  path: '/v1/x402/hedera-facts/:fact',
  access: 'paid',
  service: 'hedera-fact',
  documentation: {
    summary: 'One fact',
    params: { fact: { description: 'Its name.', shape: Type.String(), example: 'supply' } },
    answer: { shape: Type.Object({}, { additionalProperties: false }), example: {} },
    problems: ['attestation-not-found'],
  },
  prepare: () => () => Promise.resolve({ body: {} }),
};
const root = await openApiDocument([route], { version: '1', baseUrl: 'https://eu.example' });
const document = new ApiDocument(root);
const operation = document.operation('getX402HederaFactsFact');

test('a paid operation says what it costs, and takes no key', async () => {
  const { valid, errors } = await new Validator().validate(structuredClone({ ...root }));
  assert.ok(valid, JSON.stringify(errors)?.slice(0, 500));
  const paths = Object(root.paths);
  const { 'x-payment-info': info, security } = paths['/v1/x402/hedera-facts/{fact}'].get;
  assert.equal(info, { price: { mode: 'fixed', currency: 'USD', amount: '0.001' }, protocols: [{ x402: {} }] });
  assert.equal(security, []);
  assert.ok(operation.parameters.some(({ name }) => name === 'PAYMENT-SIGNATURE'));
});

test('its 402 is described in the form of x402, with an example of each code', () => {
  const demand = operation.answers.get(402);
  assert.is(demand?.content.type, 'application/json');
  assert.equal(demand?.content.examples.map((example) => Object(example).code).sort(), [
    'payment-refused',
    'payment-required',
    'payment-resource-mismatch',
    'payment-settlement-failed',
  ]);
  assert.ok(demand?.headers.has('PAYMENT-REQUIRED'));
  const judge = new SchemaJudge(root);
  for (const [status, { content }] of operation.answers) {
    const faults = content.examples.map((example) => judge.of(content.schema)(example));
    assert.equal(
      faults.filter((fault) => fault !== null),
      [],
      String(status),
    );
    assert.equal(openPlaces(content.schema, document.schemas, String(status)), []);
  }
  assert.ok(operation.answers.get(200)?.headers.has('PAYMENT-RESPONSE'));
});

test('what else it refuses with is a problem', () => {
  for (const status of [400, 404, 409, 429, 500, 503, 507]) {
    assert.is(operation.answers.get(status)?.content.type, 'application/problem+json', String(status));
  }
});

test('the event loop turns while a document is written, and nothing in it depends on that', async () => {
  const options = { version: '1', baseUrl: 'https://eu.example' };
  const many = Array.from({ length: 1_000 }, (_, n): PaidRoute => ({ ...route, path: `${route.path}/${n}` }));
  using count = new TurnCount();
  const written = await openApiDocument(many, options);
  const { turns } = count;
  assert.ok(turns > 3, `${turns} turns`);
  assert.equal(await openApiDocument(many, options), written);
});

test.run();

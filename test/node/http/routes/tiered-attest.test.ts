import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { isRecordId } from '../../../../protocol/ids.ts';
import type { JsonObject } from '../../../../protocol/json/value.ts';
import { TestNetwork } from '../../../fixtures/test-network.ts';
import type { HttpAnswer } from '../../../fixtures/test-node.ts';
import { requireProblem } from '../problem-shape.ts';

const network = await TestNetwork.start();
const node = network.node();
test.after(() => network[Symbol.asyncDispose]());

function attest(members: JsonObject): Promise<HttpAnswer> {
  return node.post('/v1/tiered-attest', { sourceId: 'loan-model', data: {}, ...members });
}

test('an accepted leaf is answered with exactly the documented fields', async () => {
  const { status, body } = await attest({});
  assert.is(status, 200);
  assert.equal(Object.keys(body).toSorted(), [
    'anchorExpectedBy',
    'attestationId',
    'payloadHash',
    'payloadKey',
    'status',
    'submittedAt',
    'success',
    'tier',
    'verifyUrl',
    'warnings',
  ]);
  assert.is(body.success, true);
  assert.is(body.tier, 1);
  assert.is(body.status, 'buffered');
  assert.ok(isRecordId(String(body.attestationId)));
  assert.is(body.payloadKey, String(body.attestationId).replace(/^att_/, 'pk_'));
  assert.match(String(body.payloadHash), /^sha256:[0-9a-f]{64}$/);
  assert.equal(body.warnings, []);
});

test('the same decision may be recorded twice', async () => {
  const first = await attest({ data: { same: true } });
  const second = await attest({ data: { same: true } });
  assert.equal([first.status, second.status], [200, 200]);
  assert.is.not(first.body.attestationId, second.body.attestationId);
});

const accepted: readonly (readonly [what: string, members: JsonObject])[] = [
  [
    'a whole model binding',
    { model_ref: { model_id: 'm', model_version: '1', third_party_model: false, system_id: 's' } },
  ],
  ['a model_id of 256 code points', { model_ref: { model_id: '😀'.repeat(256) } }],
  ['a riskLevel of its own words', { complianceMeta: { riskLevel: 'limited' } }],
  ['the longest riskLevel', { complianceMeta: { riskLevel: 'x'.repeat(64) } }],
  ['an event type of our list', { complianceMeta: { serviceEventType: 'DECISION' } }],
  ['an event type of its own', { complianceMeta: { serviceEventType: 'A2_' } }],
  ['20 jurisdictions', { complianceMeta: { jurisdiction: Array.from({ length: 20 }, () => 'DE') } }],
  ['jurisdictions of ISO 3166', { complianceMeta: { jurisdiction: ['EU', 'US-CO', 'GB-ENG'] } }],
  ['an empty complianceMeta', { complianceMeta: {} }],
  ['a population group', { complianceMeta: { populationGroup: 'x'.repeat(256) } }],
];

for (const [what, members] of accepted) {
  test(`accepted: ${what}`, async () => {
    const { status, body, text } = await attest(members);
    assert.is(status, 200, text);
    assert.equal(body.warnings, []);
  });
}

const malformedBindings: readonly (readonly [
  what: string,
  binding: JsonObject | string | null | string[],
  field: string,
])[] = [
  ['no model_id', { model_version: '1' }, 'model_ref.model_id'],
  ['empty', {}, 'model_ref.model_id'],
  ['null', null, 'model_ref'],
  ['text', 'gpt', 'model_ref'],
  ['an array', ['gpt'], 'model_ref'],
  ['an empty model_id', { model_id: '' }, 'model_ref.model_id'],
  ['a model_id of 257', { model_id: 'x'.repeat(257) }, 'model_ref.model_id'],
  ['a model_id that is a number', { model_id: 4 }, 'model_ref.model_id'],
  ['a model_id with a control character', { model_id: 'a\u0001' }, 'model_ref.model_id'],
  ['a model_version that is a number', { model_id: 'm', model_version: 4.1 }, 'model_ref.model_version'],
  ['third_party_model as text', { model_id: 'm', third_party_model: 'true' }, 'model_ref.third_party_model'],
  ['third_party_model as a number', { model_id: 'm', third_party_model: 1 }, 'model_ref.third_party_model'],
  ['a system_id of null', { model_id: 'm', system_id: null }, 'model_ref.system_id'],
  ['an unknown key', { model_id: 'm', modelVersion: '1' }, 'model_ref.modelVersion'],
];

for (const [what, model_ref, field] of malformedBindings) {
  test(`a model binding is refused, never dropped: ${what}`, async () => {
    requireProblem(await attest({ model_ref }), 'model-binding-invalid', what, field);
  });
}

const refused: readonly (readonly [what: string, members: JsonObject, field: string])[] = [
  ['complianceMeta as text', { complianceMeta: 'high' }, 'complianceMeta'],
  ['a riskLevel of 65', { complianceMeta: { riskLevel: 'x'.repeat(65) } }, 'complianceMeta.riskLevel'],
  [
    'a population group of 257',
    { complianceMeta: { populationGroup: 'x'.repeat(257) } },
    'complianceMeta.populationGroup',
  ],
  ['no jurisdiction', { complianceMeta: { jurisdiction: [] } }, 'complianceMeta.jurisdiction'],
  [
    '21 jurisdictions',
    { complianceMeta: { jurisdiction: Array.from({ length: 21 }, () => 'DE') } },
    'complianceMeta.jurisdiction',
  ],
  ['a jurisdiction as text', { complianceMeta: { jurisdiction: 'DE' } }, 'complianceMeta.jurisdiction'],
  ['a jurisdiction of 65', { complianceMeta: { jurisdiction: ['x'.repeat(65)] } }, 'complianceMeta.jurisdiction.0'],
  [
    'an event type in small letters',
    { complianceMeta: { serviceEventType: 'decision' } },
    'complianceMeta.serviceEventType',
  ],
  ['an event type of one letter', { complianceMeta: { serviceEventType: 'A' } }, 'complianceMeta.serviceEventType'],
  ['an event type of 65', { complianceMeta: { serviceEventType: 'A'.repeat(65) } }, 'complianceMeta.serviceEventType'],
  ['data as an array', { data: [] }, 'data'],
  ['matched as a number', { matched: 1 }, 'matched'],
];

for (const [what, members, field] of refused) {
  test(`refused with 400 naming the field: ${what}`, async () => {
    requireProblem(await attest(members), 'invalid-field', what, field);
  });
}

test('a missing field keeps its own code beside a malformed binding', async () => {
  requireProblem(await node.post('/v1/tiered-attest', { sourceId: 's' }), 'missing-field', 'no data', 'data');
  requireProblem(await node.post('/v1/tiered-attest', { data: {} }), 'missing-field', 'no sourceId', 'sourceId');
});

test('a jurisdiction that is no ISO code is signed as given, with a warning', async () => {
  const { status, body } = await attest({ complianceMeta: { jurisdiction: ['Bavaria', 'DE'] } });
  assert.is(status, 200);
  assert.is(Array.isArray(body.warnings) && body.warnings.length, 1);
  assert.match(JSON.stringify(body.warnings), 'Bavaria');
});

test('fields of the other endpoint are unknown here', async () => {
  const { status, body } = await attest({ modelId: 'm', anchorMode: 'direct' });
  assert.is(status, 200);
  assert.match(JSON.stringify(body.warnings), 'modelId');
  assert.match(JSON.stringify(body.warnings), 'anchorMode');
});

test('data over 256 KiB is 413', async () => {
  requireProblem(await attest({ data: { t: 'a'.repeat(262_144) } }), 'payload-too-large', 'data', 'data');
});

test('a session that was never started is 404', async () => {
  requireProblem(await attest({ sessionId: 'ses_eu_1' }), 'session-not-found', 'no session', 'sessionId');
});

test('the model and its version, the risk and the database make the evidence flags', async () => {
  const { body } = await attest({
    model_ref: { model_id: 'm', model_version: '1' },
    complianceMeta: { riskLevel: 'limited' },
    data: { referenceDatabase: ['watchlist-v7'] },
  });
  const verified = await node.get(`/v1/verify/${String(body.attestationId)}`);
  assert.equal(verified.body.complianceStatus, {
    article12_1: true,
    article12_2: true,
    article12_3b: true,
    article14: false,
  });
});

test('of more databases in data than are signed the caller is told, and of as many as are not', async () => {
  const named = (count: number) => Array.from({ length: count }, (_, n) => `db${n}`);
  const warned = 'data.referenceDatabase: has 21 entries; the first 20 are signed';
  for (const path of ['/v1/attest', '/v1/tiered-attest']) {
    const of = async (data: JsonObject, more: JsonObject = {}) =>
      (await node.post(path, { sourceId: 'databases', data, ...more })).body.warnings;
    assert.equal(await of({ referenceDatabase: named(21) }), [warned], path);
    assert.equal(await of({ referenceDatabase: named(20) }), [], path);
    assert.equal(await of({ referenceDatabase: named(21) }, { referenceDatabase: 'the one that is signed' }), [], path);
  }
  const decision = { sourceId: 'databases', data: { referenceDatabase: named(21) } };
  const { body } = await node.post('/v1/tiered-attest-batch', JSON.stringify([decision]));
  assert.equal(body.warnings, [`[0].${warned}`]);
});

test.run();

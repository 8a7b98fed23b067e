import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { JsonObject, JsonValue } from '../../../../protocol/json/value.ts';
import { isRecordId } from '../../../../protocol/ids.ts';
import { isTimestamp } from '../../../../protocol/time.ts';
import { TestNetwork } from '../../../fixtures/test-network.ts';
import { API_KEYS, type HttpAnswer } from '../../../fixtures/test-node.ts';
import { requireProblem } from '../problem-shape.ts';

const network = await TestNetwork.start();
const node = network.node();
test.after(() => network[Symbol.asyncDispose]());

const MINUTE_MS = 60_000;
let unique = 0;

/** Posts a decision that was never posted before, with these members changed. */
function attest(members: JsonObject, key: string = API_KEYS.unmetered): Promise<HttpAnswer> {
  return node.post('/v1/attest', { sourceId: 'loan-model', data: { n: ++unique }, ...members }, { key });
}

function textOf(length: number, character = 'a'): string {
  return character.repeat(length);
}

function nested(depth: number): JsonValue {
  return depth === 0 ? 1 : [nested(depth - 1)];
}

test('an accepted decision is answered with exactly the documented fields', async () => {
  const before = Date.now();
  const { status, body, headers } = await attest({});
  assert.is(status, 200);
  assert.match(headers.get('content-type') ?? '', /^application\/json/);
  assert.equal(Object.keys(body).toSorted(), [
    'anchorExpectedBy',
    'attestationId',
    'dataHash',
    'inputHash',
    'outputHash',
    'sourceSeq',
    'status',
    'submittedAt',
    'success',
    'topic',
    'verifyUrl',
    'warnings',
  ]);
  assert.is(body.success, true);
  assert.is(body.status, 'pending');
  assert.is(body.topic, network.ledger.topicId);
  assert.ok(isRecordId(String(body.attestationId)) && String(body.attestationId).startsWith('att_eu_'));
  assert.ok(isTimestamp(String(body.submittedAt)));
  assert.ok(Date.parse(String(body.submittedAt)) >= before);
  assert.is(body.verifyUrl, `${node.baseUrl}/v1/verify/${String(body.attestationId)}`);
  assert.equal(body.warnings, []);
  assert.match(String(body.dataHash), /^sha256:[0-9a-f]{64}$/);
  assert.match(String(body.inputHash), /^sha256:[0-9a-f]{64}$/);
  assert.is(body.outputHash, null);
});

test('the output of a decision has a hash of its own', async () => {
  for (const data of [{ output: 'yes' }, { decision: 'no', input: { age: 3 } }]) {
    assert.match(String((await attest({ data: { ...data, n: ++unique } })).body.outputHash), /^sha256:[0-9a-f]{64}$/);
  }
});

test('the anchoring promise is that of the tier', async () => {
  for (const [key, seconds] of [
    [API_KEYS.developer, 90],
    [API_KEYS.enterprise, 60],
  ] as const) {
    const { body } = await attest({}, key);
    const promise = Date.parse(String(body.anchorExpectedBy)) - Date.parse(String(body.submittedAt));
    assert.is(promise, seconds * 1000);
  }
});

test('sourceSeq counts the records of one source of one account', async () => {
  const of = async (sourceId: string, key: string) => (await attest({ sourceId }, key)).body.sourceSeq;
  const { developer, enterprise } = API_KEYS;
  assert.is(await of('counter', developer), 1);
  assert.is(await of('counter', developer), 2);
  assert.is(await of('counter ', developer), 1);
  assert.is(await of('counter', enterprise), 1);
  assert.is(await of('counter', developer), 3);
});

const accepted: readonly (readonly [what: string, members: JsonObject])[] = [
  ['the longest sourceId', { sourceId: textOf(256) }],
  ['a sourceId of 256 code points in 512 UTF-16 units', { sourceId: textOf(256, '😀') }],
  ['a sourceId that looks like a key', { sourceId: '../../x/y:z' }],
  ['tab, line feed and carriage return', { sourceId: 'a\tb\nc\rd' }],
  ['the longest modelId', { modelId: textOf(256) }],
  ['the longest modelVersion', { modelVersion: textOf(128, '😀') }],
  ['a confidence of 0', { confidenceScore: 0 }],
  ['a confidence of 1', { confidenceScore: 1 }],
  ['a confidence of -0', { confidenceScore: -0 }],
  ['a named reference database', { referenceDatabase: 'watchlist-v7' }],
  ['20 reference databases', { referenceDatabase: Array.from({ length: 20 }, (_, i) => ({ id: `db${i}` })) }],
  ['no reference database', { referenceDatabase: [] }],
  ['a match', { matched: true }],
  ['a time now', { clientTimestamp: new Date().toISOString() }],
  ['a time with an offset', { clientTimestamp: '2020-02-29T23:59:59.123456789+14:00' }],
  ['a time within the allowed skew', { clientTimestamp: new Date(Date.now() + 4 * MINUTE_MS).toISOString() }],
  ['anchorMode batch', { anchorMode: 'batch' }],
  ...['low', 'medium', 'high', 'critical'].map((riskLevel) => [riskLevel, { riskLevel }] as const),
  ...['production', 'staging', 'test'].map((environment) => [environment, { environment }] as const),
];

for (const [what, members] of accepted) {
  test(`accepted: ${what}`, async () => {
    const { status, body, text } = await attest(members);
    assert.is(status, 200, text);
    assert.equal(body.warnings, []);
  });
}

const refused: readonly (readonly [what: string, members: JsonObject, field: string])[] = [
  ['an empty sourceId', { sourceId: '' }, 'sourceId'],
  ['a sourceId that is no text', { sourceId: 7 }, 'sourceId'],
  ['a sourceId of null', { sourceId: null }, 'sourceId'],
  ['a sourceId of 257', { sourceId: textOf(257) }, 'sourceId'],
  ['a sourceId of 257 code points', { sourceId: textOf(257, '😀') }, 'sourceId'],
  ['a null character', { sourceId: 'a\u0000' }, 'sourceId'],
  ['an escape character', { sourceId: 'a\u001bb' }, 'sourceId'],
  ['a delete character', { sourceId: 'a\u007fb' }, 'sourceId'],
  ['a C1 control character', { sourceId: 'a\u0085b' }, 'sourceId'],
  ['data as an array', { data: [] }, 'data'],
  ['data as null', { data: null }, 'data'],
  ['data as text', { data: '{}' }, 'data'],
  ['an empty sessionId', { sessionId: '' }, 'sessionId'],
  ['a sessionId of 65', { sessionId: textOf(65) }, 'sessionId'],
  ['a modelId of 257', { modelId: textOf(257) }, 'modelId'],
  ['a modelId that is an object', { modelId: {} }, 'modelId'],
  ['a modelVersion of 129', { modelVersion: textOf(129) }, 'modelVersion'],
  ['a modelVersion as a number', { modelVersion: 2 }, 'modelVersion'],
  ['a confidence over 1', { confidenceScore: 1.0000001 }, 'confidenceScore'],
  ['a confidence below 0', { confidenceScore: -1e-9 }, 'confidenceScore'],
  ['a confidence as text', { confidenceScore: '0.5' }, 'confidenceScore'],
  ['a riskLevel of another word', { riskLevel: 'limited' }, 'riskLevel'],
  ['a riskLevel in capitals', { riskLevel: 'HIGH' }, 'riskLevel'],
  ['an environment of another word', { environment: 'prod' }, 'environment'],
  [
    '21 reference databases',
    { referenceDatabase: Array.from({ length: 21 }, (_, i) => `db${i}`) },
    'referenceDatabase',
  ],
  ['a reference database as a number', { referenceDatabase: 7 }, 'referenceDatabase'],
  ['matched as text', { matched: 'true' }, 'matched'],
  ['a time without a zone', { clientTimestamp: '2026-01-01T00:00:00' }, 'clientTimestamp'],
  ['a time that does not exist', { clientTimestamp: '2026-02-30T00:00:00Z' }, 'clientTimestamp'],
  ['a time as a number', { clientTimestamp: 0 }, 'clientTimestamp'],
  ['an unknown anchorMode', { anchorMode: 'fast' }, 'anchorMode'],
];

for (const [what, members, field] of refused) {
  test(`refused with 400 naming the field: ${what}`, async () => {
    requireProblem(await attest(members), 'invalid-field', what, field);
  });
}

test('a missing field is named, and all of them at once', async () => {
  requireProblem(await node.post('/v1/attest', { data: {} }), 'missing-field', 'no sourceId', 'sourceId');
  requireProblem(await node.post('/v1/attest', { sourceId: 's' }), 'missing-field', 'no data', 'data');
  const { body } = await node.post('/v1/attest', {});
  assert.equal(body.errors, [
    { field: 'sourceId', pointer: '#/sourceId', code: 'required', message: 'is required' },
    { field: 'data', pointer: '#/data', code: 'required', message: 'is required' },
  ]);
});

test('a time in the future is refused past five minutes', async () => {
  const clientTimestamp = new Date(Date.now() + 6 * MINUTE_MS).toISOString();
  requireProblem(await attest({ clientTimestamp }), 'time-in-future', 'six minutes ahead', 'clientTimestamp');
});

test('a session that was never started is 404', async () => {
  requireProblem(await attest({ sessionId: 'ses_eu_1' }), 'session-not-found', 'no session', 'sessionId');
});

test('anchorMode direct is for the Enterprise tier, and seals at once', async () => {
  requireProblem(
    await attest({ anchorMode: 'direct' }, API_KEYS.developer),
    'tier-forbidden',
    'developer',
    'anchorMode',
  );
  const { status, body } = await attest({ anchorMode: 'direct' }, API_KEYS.enterprise);
  assert.is(status, 200);
  await node.seal();
  const state = await node.get(`/v1/status/${String(body.attestationId)}`);
  assert.match(String(state.body.batchId), /^bat_eu_/);
});

test('unknown fields are signed under additional and named in the warnings', async () => {
  const { status, body } = await attest({ reviewer: 'x', 'a/b': { c: 1 }, additional: 2 });
  assert.is(status, 200);
  assert.is(JSON.stringify(body.warnings).match(/not a documented field/g)?.length, 3);
  const bundle = await node.get(`/v1/bundles/${String(body.attestationId)}?partial=1&disclosure=1`);
  assert.equal(payloadOf(bundle.body).additional, { reviewer: 'x', 'a/b': { c: 1 }, additional: 2 });
});

test('a member named __proto__ is signed like any other', async () => {
  const text = `{"sourceId":"s","data":{"n":${++unique},"__proto__":{"x":1}},"__proto__":{"y":2}}`;
  const { status, body } = await node.post('/v1/attest', text);
  assert.is(status, 200);
  const { text: bundle } = await node.get(`/v1/bundles/${String(body.attestationId)}?partial=1&disclosure=1`);
  assert.match(bundle, '"__proto__":{"x":1}');
  assert.match(bundle, '"__proto__":{"y":2}');
});

test('additional members over 16 KiB are 413', async () => {
  const small = { extra: textOf(16_384 - '{"extra":""}'.length) };
  assert.is((await attest(small)).status, 200);
  requireProblem(await attest({ extra: `${small.extra}a` }), 'payload-too-large', 'one byte more', 'extra');
});

test('data over 256 KiB of canonical UTF-8 is 413, whatever spaces it came with', async () => {
  const fixture = 262_144 - '{"t":""}'.length;
  assert.is((await attest({ data: { t: textOf(fixture) } })).status, 200);
  requireProblem(await attest({ data: { t: textOf(fixture + 1) } }), 'payload-too-large', 'one byte more', 'data');
  requireProblem(
    await attest({ data: { t: textOf(fixture / 2, 'é') + 'a' } }),
    'payload-too-large',
    'in UTF-8',
    'data',
  );
  const spacious = `{"sourceId":"s","data":{"n":${++unique},"t":${' '.repeat(500_000)}1}}`;
  assert.is((await node.post('/v1/attest', spacious)).status, 200);
});

test('a body over 1 MiB is 413, one of exactly 1 MiB is read', async () => {
  const exact = `{"sourceId":"s","data":{"n":${++unique}}}`.padEnd(1 << 20);
  assert.is((await node.post('/v1/attest', exact)).status, 200);
  requireProblem(await node.post('/v1/attest', `${exact} `), 'payload-too-large', 'one byte more');
});

test('nesting over 32 is 400', async () => {
  assert.is((await attest({ data: { n: ++unique, deep: nested(30) } })).status, 200);
  requireProblem(await attest({ data: { deep: nested(31) } }), 'invalid-json', '33 levels');
});

test('duplicate members are 400 wherever they are, however they are spelt', async () => {
  for (const text of [
    '{"sourceId":"a","sourceId":"b","data":{}}',
    '{"sourceId":"a","data":{"x":1,"\\u0078":2}}',
    '{"sourceId":"a","data":{"l":[{"x":1,"x":1}]}}',
  ]) {
    requireProblem(await node.post('/v1/attest', text), 'invalid-json', text);
  }
});

test('an integer is signed as it was sent or refused, and never taken for another', async () => {
  const decision = (id: string): string => `{"sourceId":"loan-model","data":{"n":${++unique},"id":${id}}}`;
  const { status, body } = await node.post('/v1/attest', decision('9007199254740992'));
  assert.is(status, 200);
  const { text } = await node.get(`/v1/bundles/${String(body.attestationId)}?partial=1&disclosure=1`);
  assert.match(text, '"id":9007199254740992,');
  for (const path of ['/v1/attest', '/v1/tiered-attest']) {
    const rounded = await node.post(path, decision('9007199254740993'));
    requireProblem(rounded, 'invalid-json', path);
    assert.match(String(rounded.body.detail), /integer .* string/);
  }
  const batch = `[${decision('1')},${decision('9007199254740993')}]`;
  requireProblem(await node.post('/v1/tiered-attest-batch', batch), 'invalid-json', 'in a batch');
});

function payloadOf(bundle: JsonObject): JsonObject {
  const { disclosure } = bundle;
  assert.ok(typeof disclosure === 'object' && disclosure !== null && 'payload' in disclosure);
  const { payload } = disclosure;
  assert.ok(typeof payload === 'object' && payload !== null && !Array.isArray(payload));
  return Object.fromEntries(Object.entries(payload));
}

test.run();

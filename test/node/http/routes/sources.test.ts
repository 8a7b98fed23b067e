import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { MAX_MODEL_LOOKS } from '../../../../node/records/sources/model-history.ts';
import { SourceModelsAnswerShape, SourcesAnswerShape } from '../../../../protocol/api/sources.ts';
import { isJsonObject, type JsonObject } from '../../../../protocol/json/value.ts';
import { API_KEYS } from '../../../fixtures/test-node.ts';
import { TestNetwork } from '../../../fixtures/test-network.ts';
import { shapeCheck } from '../answer-shape.ts';
import { requireProblem } from '../problem-shape.ts';

const network = await TestNetwork.start();
const node = network.node();
test.after(() => network[Symbol.asyncDispose]());

const requireSources = shapeCheck(SourcesAnswerShape);
const RECORDS = { loans: 3, triage: 1, '=1+1': 2 };
const last = new Map<string, string>();
for (const [sourceId, count] of Object.entries(RECORDS)) {
  for (let i = 0; i < count; i++) last.set(sourceId, await node.attest({ sourceId, i }, { sourceId }));
}

async function listed(query = '', key: string = API_KEYS.unmetered): Promise<JsonObject[]> {
  const { body, status, text } = await node.get(`/v1/sources${query}`, { key });
  assert.is(status, 200, text);
  requireSources(body);
  return Array.isArray(body.items) ? body.items.filter(isJsonObject) : [];
}

test('every source is listed once, with its records and its last one, over pages', async () => {
  const all = await listed();
  const counts = Object.fromEntries(all.map(({ sourceId, records }) => [String(sourceId), records]));
  assert.equal(counts, RECORDS);
  for (const { sourceId, lastAttestationId } of all) assert.is(lastAttestationId, last.get(String(sourceId)));
  const names: unknown[] = [];
  for (let query = '?limit=1'; query !== '';) {
    const { body } = await node.get(`/v1/sources${query}`);
    names.push(...(Array.isArray(body.items) ? body.items.filter(isJsonObject).map(({ sourceId }) => sourceId) : []));
    const { nextCursor } = body;
    query = typeof nextCursor === 'string' ? `?limit=1&cursor=${encodeURIComponent(nextCursor)}` : '';
  }
  assert.equal(
    names,
    all.map(({ sourceId }) => sourceId),
  );
});

test('a key of some sources lists those, one of a period none, and another account its own', async () => {
  const keyOf = async (terms: JsonObject): Promise<string> => {
    const { body, status, text } = await node.post('/v1/keys', { scopes: ['proof:read'], ...terms });
    assert.is(status, 200, text);
    return String(body.apiKey);
  };
  const some = await listed('', await keyOf({ sources: ['triage', 'never'] }));
  assert.equal(
    some.map(({ sourceId }) => sourceId),
    ['triage'],
  );
  const key = await keyOf({ from: '2026-01-01T00:00:00Z' });
  requireProblem(await node.get('/v1/sources', { key }), 'scope-forbidden', 'period');
  assert.equal(await listed('', API_KEYS.enterprise), []);
  requireProblem(await node.get('/v1/sources?cursor=x'), 'invalid-field', 'cursor');
});

const checkModels = shapeCheck(SourceModelsAnswerShape);

async function models(sourceId: string, key: string = API_KEYS.unmetered): Promise<JsonObject> {
  const { body, status, text } = await node.get(`/v1/sources/${encodeURIComponent(sourceId)}/models`, { key });
  assert.is(status, 200, text);
  checkModels(body);
  return body;
}

test('the models of a source are told over time, in runs; records that name none break no run', async () => {
  const named: readonly (readonly [string, string] | null)[] = [
    ['gbm', '1'],
    null,
    ['gbm', '1'],
    ['gbm', '2'],
    ['net', '1'],
    ['gbm', '2'],
  ];
  for (const [n, model] of named.entries()) {
    const claims = model === null ? {} : { modelId: model[0], modelVersion: model[1] };
    await node.attest({ n }, { sourceId: 'changing', ...claims });
  }
  const { items, looked } = Object(await models('changing'));
  assert.is(looked, named.length);
  assert.equal(
    items.map(({ modelId, modelVersion, firstSeq, lastSeq }: JsonObject) => [modelId, modelVersion, firstSeq, lastSeq]),
    [
      ['gbm', '1', 1, 3],
      ['gbm', '2', 4, 4],
      ['net', '1', 5, 5],
      ['gbm', '2', 6, 6],
    ],
  );
  const listing = await node.get('/v1/attestations?sourceId=changing', { key: API_KEYS.unmetered });
  assert.match(listing.text, /"modelId":"net"/);
});

test('a source of thousands is looked at in two hundred places, its first and its last among them', async () => {
  const record = (i: number) => ({
    sourceId: 'long',
    data: { i },
    model_ref: { model_id: i < 500 ? 'before' : 'after' },
  });
  const batch = Array.from({ length: 1_000 }, (_, i) => record(i));
  const { status, text } = await node.post('/v1/tiered-attest-batch', batch, { key: API_KEYS.unmetered });
  assert.is(status, 200, text.slice(0, 300));
  const { items, looked, lastSeq } = Object(await models('long'));
  assert.equal([looked, lastSeq], [MAX_MODEL_LOOKS, 1_000]);
  const [before, after] = items;
  assert.equal([items.length, before.firstSeq, after.lastSeq], [2, 1, 1_000]);
  assert.ok(before.lastSeq <= 500 && before.lastSeq > 490 && after.firstSeq >= 501 && after.firstSeq < 510);
});

test('models of a source that another account has, or nobody, are not there', async () => {
  for (const [sourceId, key] of [
    ['changing', API_KEYS.enterprise],
    ['nothing', API_KEYS.unmetered],
  ] as const) {
    const answer = await node.get(`/v1/sources/${sourceId}/models`, { key });
    requireProblem(answer, 'source-not-found', sourceId);
  }
});

test.run();

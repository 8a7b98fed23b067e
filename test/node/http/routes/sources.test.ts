import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { SourcesAnswerShape } from '../../../../protocol/api/sources.ts';
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

test.run();

import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { OverviewAnswerShape } from '../../../../protocol/api/overview.ts';
import { API_KEYS } from '../../../fixtures/test-node.ts';
import { TestNetwork } from '../../../fixtures/test-network.ts';
import { shapeCheck } from '../answer-shape.ts';

const network = await TestNetwork.start();
const node = network.node();
test.after(() => network[Symbol.asyncDispose]());

const check = shapeCheck(OverviewAnswerShape);
const KEY = API_KEYS.enterprise;

async function overview(key: string = KEY) {
  const { status, body, text } = await node.get('/v1/overview', { key });
  assert.is(status, 200, text);
  check(body);
  const { records, incidents, keys } = Object(body);
  return { records, incidents, keys };
}

async function incident(sourceId: string, daysAgo: number): Promise<void> {
  const at = new Date(Date.now() - daysAgo * 86_400_000).toISOString();
  const body = { sourceId, severity: 'serious', description: 'd', incidentPeriodStart: at, awarenessAt: at };
  const answer = await node.post('/v1/incident', body, { key: KEY });
  assert.is(answer.status, 200, answer.text);
}

test('records are counted by days, and clocks by what is left of them', async () => {
  await node.attest({ case: 1 }, { sourceId: 'loans' }, { key: KEY });
  await incident('loans', 0);
  await incident('loans', 14.5);
  await incident('claims', 40);
  const { records, incidents } = await overview();
  assert.is(records.days.length, 30);
  assert.is(records.today, 4);
  assert.is(records.days.at(-1).records, 4);
  assert.is(records.days.at(-1).day, new Date().toISOString().slice(0, 10));
  assert.equal(incidents, { open: 1, dueSoon: 1, overdue: 1, truncated: false });
});

test('a key sees the incidents of its sources alone, and another account none', async () => {
  const made = await node.post(
    '/v1/keys',
    { preset: 'auditor', expiresAt: new Date(Date.now() + 86_400_000).toISOString(), sources: ['claims'] },
    { key: KEY },
  );
  const { incidents } = await overview(String(made.body.apiKey));
  assert.equal(incidents, { open: 0, dueSoon: 0, overdue: 1, truncated: false });
  const other = await overview(API_KEYS.developer);
  assert.equal(other.incidents, { open: 0, dueSoon: 0, overdue: 0, truncated: false });
  assert.is(other.records.today, 0);
});

test('keys that end within thirty days are told of', async () => {
  const expiresAt = new Date(Date.now() + 10 * 86_400_000).toISOString();
  const before = (await overview()).keys;
  await node.post('/v1/keys', { preset: 'ingest', expiresAt }, { key: KEY });
  const { keys } = await overview();
  assert.equal(keys, { active: before.active + 1, endingSoon: before.endingSoon + 1 });
});

test.run();

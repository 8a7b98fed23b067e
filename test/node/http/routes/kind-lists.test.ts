import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  AssessmentsAnswerShape,
  CorrectiveActionsAnswerShape,
  ReviewsAnswerShape,
  SessionsAnswerShape,
} from '../../../../protocol/api/record-lists.ts';
import { isJsonObject, type JsonObject } from '../../../../protocol/json/value.ts';
import { API_KEYS } from '../../../fixtures/test-node.ts';
import { TestNetwork } from '../../../fixtures/test-network.ts';
import { shapeCheck } from '../answer-shape.ts';
import { requireProblem } from '../problem-shape.ts';

const network = await TestNetwork.start();
const node = network.node();
test.after(() => network[Symbol.asyncDispose]());

const CHECKS = {
  '/v1/sessions': shapeCheck(SessionsAnswerShape),
  '/v1/reviews': shapeCheck(ReviewsAnswerShape),
  '/v1/assessments': shapeCheck(AssessmentsAnswerShape),
  '/v1/corrective-actions': shapeCheck(CorrectiveActionsAnswerShape),
} as const;
const PATHS = ['/v1/sessions', '/v1/reviews', '/v1/assessments', '/v1/corrective-actions'] as const;
const SOURCE = 'loans';

async function made(path: string, body: JsonObject): Promise<JsonObject> {
  const answer = await node.post(path, { sourceId: SOURCE, ...body });
  assert.is(answer.status, 200, answer.text);
  return answer.body;
}

async function listed(
  path: keyof typeof CHECKS,
  query = '',
  key = API_KEYS.unmetered as string,
): Promise<JsonObject[]> {
  const { status, body, text } = await node.get(`${path}${query}`, { key });
  assert.is(status, 200, text);
  CHECKS[path](body);
  return Array.isArray(body.items) ? body.items.filter(isJsonObject) : [];
}

test('sessions are listed with their ends and the decisions within them', async () => {
  const { sessionId = null } = await made('/v1/session/start', {});
  await made('/v1/attest', { data: { case: 1 }, sessionId });
  await made('/v1/session/start', {});
  const ended = await made('/v1/session/end', { sessionId });
  const [first, second] = await listed('/v1/sessions');
  assert.equal(
    [first?.sessionId, first?.endAttestationId, first?.recordedDecisionCount],
    [sessionId, ended.attestationId, 1],
  );
  assert.equal([second?.endedAt, second?.recordedDecisionCount], [null, 0]);
});

test('reviews name what was looked at, and the person by a pseudonym alone', async () => {
  const { attestationId: originalAttestationId = null } = await made('/v1/attest', { data: { case: 2 } });
  const review = { originalAttestationId, reviewerId: 'Grace Hopper', reviewOutcome: 'confirmed' };
  const { overrideId } = await made('/v1/human-override', review);
  const [item] = await listed('/v1/reviews');
  assert.equal(
    [item?.overrideId, item?.originalAttestationId, item?.reviewOutcome],
    [overrideId, originalAttestationId, 'confirmed'],
  );
  assert.match(String(item?.reviewer), /^hmac-sha256:/);
});

test('assessments of both sorts are listed, each revision with the one before and after it', async () => {
  const risk = { risksIdentified: ['a wrong refusal'], residualRisk: 'low' };
  const before = await made('/v1/risk-assessment', risk);
  const revised = { ...risk, supersedes: before.attestationId ?? null, reviewDueAt: '2031-05-01' };
  const after = await made('/v1/risk-assessment', revised);
  await made('/v1/impact-assessment', { intendedPurpose: 'Scores loans.', overallRating: 'medium-risk' });
  const items = await listed('/v1/assessments');
  assert.equal(
    items.map(({ type, rating }) => [type, rating]),
    [
      ['risk', 'low'],
      ['risk', 'low'],
      ['impact', 'medium-risk'],
    ],
  );
  assert.equal(
    items.map(({ reviewDueAt }) => reviewDueAt),
    [null, '2031-05-01T00:00:00.000Z', null],
  );
  assert.equal([items[0]?.supersededBy, items[1]?.supersedes], [after.attestationId, before.attestationId]);
});

test('revisions of a corrective action have the same id', async () => {
  const action = { nonconformityDescription: 'A review was skipped.', status: 'planned' };
  const { correctiveActionId = null } = await made('/v1/corrective-action', action);
  await made('/v1/corrective-action', { ...action, correctiveActionId, status: 'in-progress' });
  assert.equal(
    (await listed('/v1/corrective-actions')).map((item) => [item.correctiveActionId, item.revision, item.actionStatus]),
    [
      [correctiveActionId, 1, 'planned'],
      [correctiveActionId, 2, 'in-progress'],
    ],
  );
});

test('a list is of the account and of the sources of the key, in pages that go on', async () => {
  for (const path of PATHS) {
    assert.equal(await listed(path, '', API_KEYS.enterprise), []);
    assert.equal(await listed(path, '?sourceId=others'), []);
  }
  const first = await node.get('/v1/sessions?limit=1');
  const cursor = encodeURIComponent(String(first.body.nextCursor));
  const second = await listed('/v1/sessions', `?limit=1&cursor=${cursor}`);
  assert.is.not(second[0]?.sessionId, Object(Array.isArray(first.body.items) ? first.body.items[0] : {}).sessionId);
  for (const other of [`/v1/sessions?sourceId=${SOURCE}`, '/v1/sessions?to=2027-01-01', '/v1/reviews?limit=1']) {
    requireProblem(await node.get(`${other}&cursor=${cursor}`), 'invalid-field', other, 'cursor');
  }
  const { body } = await node.post('/v1/keys', { scopes: ['proof:read'], sources: ['others'] });
  const key = String(body.apiKey);
  assert.equal(await listed('/v1/reviews', '', key), []);
  requireProblem(await node.get(`/v1/reviews?sourceId=${SOURCE}`, { key }), 'scope-forbidden', 'another source');
  requireProblem(await node.get('/v1/reviews?kind=decision'), 'invalid-field', 'no such parameter');
});

test.run();

import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { readRecord } from '../../../../node/records/record-reader.ts';
import { CorrectiveActionAnswerShape } from '../../../../protocol/api/corrective-action.ts';
import { recordId } from '../../../../protocol/ids.ts';
import type { JsonObject } from '../../../../protocol/json/value.ts';
import type { AttestationRecord } from '../../../../protocol/chain/record.ts';
import { TestNetwork } from '../../../fixtures/test-network.ts';
import { API_KEYS, type Ask, type HttpAnswer } from '../../../fixtures/test-node.ts';
import { shapeCheck } from '../answer-shape.ts';
import { requireProblem } from '../problem-shape.ts';
import { ENVELOPE, LEAST, NOTHING } from './governance-bodies.ts';

const network = await TestNetwork.start();
const node = network.node();
test.after(() => network[Symbol.asyncDispose]());

/** Posts the least that a corrective action needs, with these members changed. */
function act(members: JsonObject = {}, ask: Ask = {}): Promise<HttpAnswer> {
  return node.post('/v1/corrective-action', { ...LEAST['/v1/corrective-action'], ...members }, ask);
}

function postIncident(): Promise<HttpAnswer> {
  return node.post('/v1/incident', LEAST['/v1/incident']);
}

function accepted({ status, body, text }: HttpAnswer): JsonObject {
  assert.is(status, 200, text);
  return body;
}

async function recordOf(id: unknown): Promise<AttestationRecord> {
  const found = await readRecord(node.context.store, recordId(String(id)));
  assert.ok(found);
  return found.record;
}

test('a corrective action goes from step to step, each a record of its own', async () => {
  const incident = accepted(await postIncident());
  const another = accepted(await postIncident());
  const first = accepted(await act({ incidentId: String(incident.incidentId), rootCause: 'c' }));
  shapeCheck(CorrectiveActionAnswerShape)(first);
  const members = 'correctiveActionId incidentId actionStatus revision isoClause isoClauses standard articles';
  assert.equal(Object.keys(first).toSorted(), [...ENVELOPE, ...members.split(' '), 'relatedArticles'].toSorted());
  assert.equal([first.actionStatus, first.revision, first.incidentId], ['planned', 1, incident.incidentId]);
  assert.equal([first.isoClause, first.isoClauses], ['10.1', ['10.2']]);
  assert.equal([first.articles, first.relatedArticles], [['17', '73'], ['20']]);
  const correctiveActionId = String(first.correctiveActionId);
  const step = (status: string, more: JsonObject = {}) => act({ correctiveActionId, status, ...more });
  const path = ['in-progress', 'implemented', 'ineffective', 'in-progress', 'implemented', 'verified', 'closed'];
  for (const [at, status] of path.entries()) {
    const body = accepted(await step(status, status === 'verified' ? { incidentId: String(another.incidentId) } : {}));
    assert.equal([body.correctiveActionId, body.revision, body.actionStatus], [correctiveActionId, at + 2, status]);
    assert.is(body.incidentId, incident.incidentId);
    assert.is(String(body.warnings).startsWith('incidentId: differs'), status === 'verified');
    assert.is((await recordOf(body.attestationId)).links.correctiveAction, first.attestationId);
  }
  const after = await step('cancelled');
  requireProblem(after, 'invalid-transition', 'after the end', 'status');
  assert.equal([after.body.from, after.body.to, after.body.allowed], ['closed', 'cancelled', []]);
});

test('a corrective action that cannot begin or go on so is refused', async () => {
  for (const status of ['closed', 'ineffective']) {
    const answer = await act({ status });
    requireProblem(answer, 'invalid-transition', status, 'status');
    assert.is(answer.body.from, null);
  }
  const nothing = { incidentId: NOTHING.replace('att', 'inc') };
  requireProblem(await act(nothing), 'incident-not-found', 'no incident', 'incidentId');
  requireProblem(await act({ ...nothing, dueAt: 'x' }), 'invalid-field', 'fields before links', 'dueAt');
  const { correctiveActionId } = accepted(await act({ status: 'implemented' }));
  const step = (members: JsonObject, ask: Ask = {}) =>
    act({ correctiveActionId: String(correctiveActionId), status: 'verified', ...members }, ask);
  requireProblem(await step({ sourceId: 'other' }), 'source-mismatch', 'another source', 'sourceId');
  const field = 'correctiveActionId';
  const foreign = await step({}, { key: API_KEYS.enterprise });
  requireProblem(foreign, 'corrective-action-not-found', 'another account', field);
  const second = accepted(await step({}));
  const ofStep = String(second.attestationId).replace('att', 'cap');
  requireProblem(await step({ correctiveActionId: ofStep }), 'corrective-action-not-found', 'a later step', field);
});

test('of many moves at once from one status each that no longer follows is refused', async () => {
  const { correctiveActionId } = accepted(await act({ status: 'implemented' }));
  const wanted = ['verified', 'verified', 'ineffective', 'verified', 'ineffective', 'in-progress'];
  const answers = await Promise.all(
    wanted.map((status) => act({ correctiveActionId: String(correctiveActionId), status })),
  );
  const made = answers.filter(({ status }) => status === 200).map(({ body }) => body);
  const statuses = made.toSorted((a, b) => Number(a.revision) - Number(b.revision)).map((body) => body.actionStatus);
  assert.equal(
    made.map(({ revision }) => revision).toSorted(),
    made.map((_, i) => i + 2),
  );
  for (const [at, status] of statuses.entries()) assert.is.not(status, statuses[at - 1] ?? 'implemented');
  for (const { status, body } of answers) if (status !== 200) assert.is(body.code, 'invalid-transition');
});

test.run();

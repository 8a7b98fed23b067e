import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { TrackedIncidentAnswerShape } from '../../../../protocol/api/incidents.ts';
import { isJsonObject, type JsonObject } from '../../../../protocol/json/value.ts';
import { API_KEYS } from '../../../fixtures/test-node.ts';
import { TestNetwork } from '../../../fixtures/test-network.ts';
import { shapeCheck } from '../answer-shape.ts';
import { requireProblem } from '../problem-shape.ts';

const network = await TestNetwork.start();
const node = network.node();
test.after(() => network[Symbol.asyncDispose]());

const requireTracked = shapeCheck(TrackedIncidentAnswerShape);

async function made(path: string, body: JsonObject): Promise<JsonObject> {
  const answer = await node.post(path, body);
  assert.is(answer.status, 200, answer.text);
  return answer.body;
}

const decision = await node.attest({ case: 1 }, { sourceId: 'loans' });
const incident = {
  sourceId: 'loans',
  severity: 'serious',
  description: 'what happened',
  incidentPeriodStart: '2026-01-01',
  relatedAttestationIds: [decision],
};
const first = await made('/v1/incident', incident);
const second = await made('/v1/incident', { ...incident, supersedes: first.incidentId ?? null });
const action = { sourceId: 'loans', nonconformityDescription: 'A review was skipped.', status: 'planned' };
const { correctiveActionId = null } = await made('/v1/corrective-action', {
  ...action,
  incidentId: second.incidentId ?? null,
});
await made('/v1/corrective-action', { ...action, correctiveActionId, status: 'in-progress' });
const path = (id: unknown): string => `/v1/incidents/${String(id)}`;

test('an incident is shown with what it corrects, what it names and every step of its corrective actions', async () => {
  const { body, status, text } = await node.get(path(second.incidentId));
  assert.is(status, 200, text);
  requireTracked(body);
  assert.equal([body.supersedes, body.relatedAttestationIds], [first.incidentId, [decision]]);
  const actions = Array.isArray(body.correctiveActions) ? body.correctiveActions.filter(isJsonObject) : [];
  assert.equal(
    actions.map((one) => [one.correctiveActionId, one.revision, one.actionStatus]),
    [
      [correctiveActionId, 1, 'planned'],
      [correctiveActionId, 2, 'in-progress'],
    ],
  );
  const corrected = await node.get(path(first.incidentId));
  requireTracked(corrected.body);
  const item = isJsonObject(corrected.body.incident ?? null) ? Object(corrected.body.incident) : {};
  assert.equal([item.notificationState, item.supersededBy], ['superseded', second.incidentId]);
});

test('an incident of another account or source is not there, nor is what is no incident', async () => {
  const id = path(first.incidentId);
  requireProblem(await node.get(id, { key: API_KEYS.enterprise }), 'incident-not-found', 'account');
  const { apiKey } = await made('/v1/keys', { scopes: ['proof:read'], sources: ['others'] });
  requireProblem(await node.get(id, { key: String(apiKey) }), 'incident-not-found', 'source');
  requireProblem(await node.get(path(decision)), 'incident-not-found', 'a decision');
  requireProblem(await node.get(path('nothing')), 'incident-not-found', 'no id');
});

test.run();

import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { JsonObject } from '../../../../protocol/json/value.ts';
import { TestNetwork } from '../../../fixtures/test-network.ts';
import { type Ask, type HttpAnswer } from '../../../fixtures/test-node.ts';
import { requireProblem } from '../problem-shape.ts';
import { type GovernancePath, LEAST } from './governance-bodies.ts';

const network = await TestNetwork.start({ nodes: ['eu'] });
const node = network.node('eu');
test.after(() => network[Symbol.asyncDispose]());

test('a key that is bound to sources cannot speak of what was recorded of others', async () => {
  const ask = { key: String(accepted(await node.post('/v1/keys', { preset: 'admin', sources: ['mine'] })).apiKey) };
  const originalAttestationId = await node.attest({}, { sourceId: 'triage' });
  const { sessionId = null } = accepted(await post('/v1/session/start'));
  const { incidentId = null } = accepted(await post('/v1/incident'));
  const sourceId = 'mine';
  const review = { sourceId, originalAttestationId, allowUnresolved: false };
  requireProblem(await post('/v1/human-override', review, ask), 'attestation-not-found', 'a review');
  const unresolved = accepted(await post('/v1/human-override', { ...review, allowUnresolved: true }, ask));
  assert.is(unresolved.originalFound, false);
  const related = { sourceId, relatedAttestationIds: [originalAttestationId] };
  requireProblem(await post('/v1/incident', related, ask), 'attestation-not-found', 'an incident');
  const correction = { sourceId, supersedes: incidentId };
  requireProblem(await post('/v1/incident', correction, ask), 'incident-not-found', 'a correction');
  requireProblem(await post('/v1/corrective-action', { sourceId, incidentId }, ask), 'incident-not-found', 'an action');
  const decision = { sourceId, data: {} };
  requireProblem(await node.post('/v1/attest', { ...decision, sessionId }, ask), 'session-not-found', 'a decision');
  const complianceMeta = { serviceEventType: 'AUTHORITY_NOTIFICATION' };
  const notification = { ...decision, complianceMeta };
  const named = { ...notification, incidentId };
  requireProblem(await node.post('/v1/tiered-attest', named, ask), 'incident-not-found', 'a notification');
  const told = accepted(await node.post('/v1/tiered-attest', { ...notification, data: { incidentId } }, ask));
  assert.match(String(told.warnings), 'linked to none');
  const { body } = await node.get(`/v1/verify/${originalAttestationId}`);
  assert.equal(body.links, { overrides: 0, incidents: 0, session: false, ids: [], truncated: false, others: [] });
});

/** Posts the least that the endpoint accepts, with these members changed. */
function post(path: GovernancePath, members: JsonObject = {}, ask: Ask = {}): Promise<HttpAnswer> {
  return node.post(path, { ...LEAST[path], ...members }, ask);
}

function accepted({ status, body, text }: HttpAnswer): JsonObject {
  assert.is(status, 200, text);
  return body;
}

test.run();

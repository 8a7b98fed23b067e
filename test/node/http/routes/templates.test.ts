import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { TemplateAnswerShape } from '../../../../protocol/api/templates.ts';
import type { JsonObject, JsonValue } from '../../../../protocol/json/value.ts';
import { TEMPLATES } from '../../../../protocol/templates/templates.ts';
import { TestNetwork } from '../../../fixtures/test-network.ts';
import { API_KEYS, type HttpAnswer } from '../../../fixtures/test-node.ts';
import { shapeCheck } from '../answer-shape.ts';
import { requireProblem } from '../problem-shape.ts';

const network = await TestNetwork.start({ nodes: ['eu'] });
const node = network.node('eu');
test.after(() => network[Symbol.asyncDispose]());

const SHA = '9f'.repeat(32);
let unique = 0;

function accepted({ status, body, text }: HttpAnswer): JsonObject {
  assert.is(status, 200, text);
  return body;
}

async function post(path: string, body: JsonObject): Promise<JsonObject> {
  return accepted(await node.post(path, body));
}

async function newSystem(members: JsonObject = {}): Promise<{ systemRef: string; systemId: string }> {
  const systemRef = `system-${++unique}`;
  const body = { systemRef, role: 'deployer', intendedPurpose: 'p', sources: [`source-${unique}`], ...members };
  const { systemId } = await post('/v1/system', body);
  return { systemRef, systemId: String(systemId) };
}

async function filled(name: string, query: string): Promise<JsonObject> {
  const body = accepted(await node.get(`/v1/templates/${name}?${query}`));
  shapeCheck(TemplateAnswerShape)(body);
  return body;
}

function point({ points }: JsonObject, id: string): Record<string, JsonValue> {
  return Object(Object(points)[id]);
}

test('without a key a template is its schema, with a help text for each point', async () => {
  for (const [name, { points }] of TEMPLATES) {
    const { $schema, properties, required } = accepted(await node.get(`/v1/templates/${name}`, { key: null }));
    assert.is($schema, 'https://json-schema.org/draft/2020-12/schema');
    assert.equal(
      required,
      points.map(({ id }) => id),
    );
    for (const { id, help } of points) assert.is(Object(Object(properties)[id]).description, help);
  }
});

test('the draft form of the Commission is labelled as a draft', async () => {
  const { title, description } = accepted(await node.get('/v1/templates/incident-report', { key: null }));
  assert.match(String(title), /draft form/);
  assert.match(String(description), /DRAFT form of 26 September 2025/);
});

test('with a key a document is filled from the system’s records, and every empty point says so', async () => {
  const { systemRef, systemId } = await newSystem();
  const assessment = {
    sourceId: `source-${unique}`,
    intendedPurpose: 'p',
    processes: 'a secret story',
    usePeriod: 'daily',
  };
  const { attestationId } = await post('/v1/impact-assessment', assessment);
  for (const named of [systemRef, systemId]) {
    const body = await filled('fria', `systemId=${named}`);
    assert.equal(point(body, 'processes').recordIds, [attestationId]);
    assert.equal(point(body, 'dpia'), { value: null, recordIds: [], note: 'Nothing on record.' });
    assert.not.match(JSON.stringify(body), /secret story/);
    assert.match(String(point(body, 'processes').note), /payload of att_/);
    assert.equal([body.node, body.systemRef], ['eu', systemRef]);
  }
});

test('documents stand under the points of Annex IV that they name, however they are written', async () => {
  const { systemRef } = await newSystem();
  const ids: string[] = [];
  for (const annexPoint of ['IV(2)(d)', 'Annex IV 2(d)']) {
    const document = { docType: 'datasheet', docVersion: '1', sha256: SHA, annexPoint: [annexPoint], systemRef };
    ids.push(String((await post('/v1/document', document)).attestationId));
  }
  const body = await filled('technical-documentation', `systemId=${systemRef}`);
  assert.equal(new Set(Object.values(Object(point(body, 'point2d').recordIds))), new Set(ids));
  assert.is(point(body, 'point2c').value, null);
});

test('an incident’s report names the incident, who was told and what was done, and no other incident', async () => {
  const { systemRef } = await newSystem();
  const incident = {
    sourceId: `source-${unique}`,
    severity: 'serious',
    description: 'd',
    incidentPeriodStart: '2026-01-01T00:00:00Z',
    role: 'provider',
    memberStates: ['DE'],
    systemRef,
  };
  const other = await post('/v1/incident', incident);
  const one = await post('/v1/incident', incident);
  const incidentId = String(one.incidentId);
  const told = { to: 'authority', reportType: 'initial', sentAt: '2026-01-02', incidentId, memberState: 'DE' };
  const notification = await post('/v1/notification', told);
  const body = await filled('incident-report', `incidentId=${incidentId}`);
  assert.equal(point(body, 'incident').recordIds, [one.attestationId]);
  assert.equal(point(body, 'report').recordIds, [notification.attestationId]);
  assert.is(point(body, 'actions').value, null);
  assert.not.match(JSON.stringify(body), new RegExp(String(other.attestationId)));
  assert.equal([body.incidentId, body.systemRef], [incidentId, systemRef]);
});

test('what is not there, or of another account, is refused by its name', async () => {
  const { systemRef, systemId } = await newSystem();
  requireProblem(await node.get('/v1/templates/none'), 'template-not-found', 'no template');
  requireProblem(
    await node.get('/v1/templates/none', { key: null }),
    'template-not-found',
    'no template, without a key',
  );
  requireProblem(await node.get('/v1/templates/fria'), 'missing-field', 'no system', 'systemId');
  requireProblem(await node.get('/v1/templates/fria?systemId=none'), 'system-not-found', 'no such system', 'systemId');
  for (const named of [systemRef, systemId]) {
    const foreign = await node.get(`/v1/templates/fria?systemId=${named}`, { key: API_KEYS.enterprise });
    requireProblem(foreign, 'system-not-found', 'another account', 'systemId');
  }
  requireProblem(await node.get('/v1/templates/incident-report'), 'missing-field', 'no incident', 'incidentId');
  const none = await node.get('/v1/templates/incident-report?incidentId=inc_nothing');
  requireProblem(none, 'incident-not-found', 'no such incident', 'incidentId');
});

test('a key that is none is refused, and does not fall back to none', async () => {
  requireProblem(await node.get('/v1/templates/fria', { key: 'mk_nothing' }), 'api-key-invalid', 'an invalid key');
});

test.run();

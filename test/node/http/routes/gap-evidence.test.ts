import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type GapReportAnswer, GapReportAnswerShape } from '../../../../protocol/api/gap-report.ts';
import type { JsonObject } from '../../../../protocol/json/value.ts';
import { Compile } from '../../../../protocol/shape-check.ts';
import { TestNetwork } from '../../../fixtures/test-network.ts';
import { API_KEYS, type HttpAnswer } from '../../../fixtures/test-node.ts';
import { requireProblem } from '../problem-shape.ts';

const network = await TestNetwork.start({ nodes: ['eu'] });
const node = network.node('eu');
test.after(() => network[Symbol.asyncDispose]());

const report = Compile(GapReportAnswerShape);
const SHA = '9f'.repeat(32);
const LATER = '2099-01-01';
let unique = 0;

function accepted({ status, body, text }: HttpAnswer): JsonObject {
  assert.is(status, 200, text);
  return body;
}

async function post(path: string, body: JsonObject): Promise<JsonObject> {
  return accepted(await node.post(path, body));
}

async function reportOf(query: string): Promise<GapReportAnswer> {
  const body: unknown = accepted(await node.get(`/v1/reports/gap?${query}`));
  if (report.Check(body)) return body;
  throw new TypeError(JSON.stringify([...report.Errors(body)].slice(0, 3)));
}

async function row(query: string, framework: string, clause: string): Promise<GapReportAnswer['clauses'][number]> {
  const found = (await reportOf(`framework=${framework}&${query}`)).clauses.find((one) => one.clause === clause);
  if (found === undefined) throw new RangeError(clause);
  return found;
}

/** A source that nobody else records under. */
function newSource(): string {
  return `source-${++unique}`;
}

test('nine events with empty data and a lock make nothing recorded', async () => {
  const sourceId = newSource();
  const events = [
    'DATA_GOVERNANCE',
    'TECH_DOC',
    'INSTRUCTIONS_FOR_USE',
    'PERFORMANCE_TEST',
    'QMS_RECORD',
    'REGISTRATION',
    'PMM_REPORT',
    'GPAI_DOC',
    'DOWNSTREAM_INFO',
  ];
  for (const serviceEventType of events) {
    const body = { sourceId, data: {}, model_ref: { model_id: 'm', model_version: 'x' } };
    await post('/v1/tiered-attest', { ...body, complianceMeta: { serviceEventType } });
  }
  await post('/v1/retention-lock', { sourceId, retentionPeriodDays: 3653, scope: 'all' });
  const { clauses } = await reportOf(`framework=EU_AI_ACT&sourceId=${sourceId}&to=${LATER}&from=2098-01-01`);
  assert.equal(
    clauses.filter(({ evidenceStatus }) => evidenceStatus === 'recorded').map(({ clause }) => clause),
    [],
  );
  const today = await reportOf(`framework=EU_AI_ACT&sourceId=${sourceId}`);
  assert.ok(today.clauses.filter(({ status }) => status === 'present').length >= 9, 'by the words of /1');
});

test('a document with its hash and version is what a row rests on, and what is missing of it is named', async () => {
  const sourceId = newSource();
  const systemRef = `system-${unique}`;
  await post('/v1/system', { systemRef, role: 'provider', intendedPurpose: 'p', sources: [sourceId] });
  await post('/v1/attest', { sourceId, data: { n: ++unique } });
  const before = await row(`systemRef=${systemRef}`, 'EU_AI_ACT', '11 + Annex IV');
  assert.equal([before.recordedNeeds, before.status], [0, 'absent']);
  const document = {
    docType: 'technical-documentation',
    docVersion: '1',
    sha256: SHA,
    approvedBy: 'head',
    annexPoint: ['IV(1)'],
    systemRef,
  };
  const { attestationId } = await post('/v1/document', document);
  const after = await row(`systemRef=${systemRef}`, 'EU_AI_ACT', '11 + Annex IV');
  assert.ok(after.needs.some(({ recorded, sampleIds }) => recorded && sampleIds[0] === attestationId));
  assert.ok(after.neverChecked.length > 0);
  const other = await row(`sourceId=${await otherSource()}`, 'EU_AI_ACT', '11 + Annex IV');
  assert.not.ok(
    other.needs.some(({ recorded, anyOf }) => recorded && anyOf.includes('document')),
    'per system',
  );
});

async function otherSource(): Promise<string> {
  const sourceId = newSource();
  await post('/v1/attest', { sourceId, data: { n: ++unique } });
  return sourceId;
}

test('a third party’s model that is none fills no row about vendors', async () => {
  const sourceId = newSource();
  const model_ref = { model_id: 'm', model_version: '1', third_party_model: false };
  await post('/v1/tiered-attest', { sourceId, data: { n: ++unique }, model_ref });
  const { clauses } = await reportOf(`sourceId=${sourceId}`);
  const vendors = clauses.flatMap(({ needs }) => needs.filter(({ facts }) => facts.includes('thirdPartyModel=true')));
  assert.not.ok(vendors.some(({ recorded }) => recorded));
});

test('without a death there is no event, and with one the authority is to be told of it', async () => {
  const sourceId = newSource();
  const incident = {
    sourceId,
    severity: 'serious',
    description: 'd',
    incidentPeriodStart: '2026-01-01T00:00:00Z',
    criteria: ['death'],
    awarenessAt: '2026-01-01T00:00:00Z',
    memberStates: ['DE'],
  };
  await post('/v1/incident', { ...incident, criteria: ['health'] });
  const clause = (await reportOf('framework=EU_AI_ACT')).clauses.find(({ clause: name }) => name === '73(4)');
  assert.is(clause?.trigger, 'event');
  assert.is((await row(`sourceId=${sourceId}`, 'EU_AI_ACT', '73(4)')).events?.count, 0);
  const { incidentId } = await post('/v1/incident', incident);
  const open = await row(`sourceId=${sourceId}`, 'EU_AI_ACT', '73(4)');
  assert.is(open.events?.count, 1);
  await post('/v1/notification', {
    sourceId,
    to: 'authority',
    regime: 'eu-ai-act',
    memberState: 'DE',
    reportType: 'initial',
    sentAt: '2026-01-02',
    incidentId: String(incidentId),
  });
  const told = await row(`sourceId=${sourceId}`, 'EU_AI_ACT', '73(4)');
  assert.is(told.recordedNeeds, told.requiredNeeds);
});

test('an assertion with a reason, a person and a date of review is not applicable, for its source', async () => {
  const sourceId = newSource();
  const data = { framework: 'EU_AI_ACT', clause: '10' };
  const assertion = (more: JsonObject): JsonObject => ({
    sourceId,
    data: { ...data, ...more },
    complianceMeta: { serviceEventType: 'NOT_APPLICABLE' },
  });
  await post('/v1/tiered-attest', assertion({}));
  assert.is.not((await row(`sourceId=${sourceId}`, 'EU_AI_ACT', '10')).evidenceStatus, 'asserted-not-applicable');
  await post('/v1/tiered-attest', assertion({ reason: 'no training', assertedBy: 'ada', reviewDueAt: '2098-01-01' }));
  const asserted = await row(`sourceId=${sourceId}`, 'EU_AI_ACT', '10');
  assert.equal([asserted.evidenceStatus, asserted.status], ['asserted-not-applicable', 'asserted-not-applicable']);
  assert.is(asserted.notApplicableWithReason.count, 1);
  const all = await row('', 'EU_AI_ACT', '10');
  assert.is.not(all.evidenceStatus, 'asserted-not-applicable', 'one source speaks for itself alone');
});

test('rows are those of a role, and a system of another account is none', async () => {
  const { clauses } = await reportOf('framework=EU_AI_ACT&role=deployer');
  assert.ok(clauses.every(({ dutyHolder }) => dutyHolder.includes('deployer')));
  const systemRef = `system-${++unique}`;
  await post('/v1/system', { systemRef, role: 'deployer', intendedPurpose: 'p', annexPoint: ['III(5)(b)'] });
  const { systemClass, node: of } = await reportOf(`framework=EU_AI_ACT&systemRef=${systemRef}`);
  assert.equal([systemClass, of], ['annexIII', 'eu']);
  const foreign = await node.get(`/v1/reports/gap?systemRef=${systemRef}`, { key: API_KEYS.enterprise });
  requireProblem(foreign, 'system-not-found', 'another account', 'systemRef');
});

test.run();

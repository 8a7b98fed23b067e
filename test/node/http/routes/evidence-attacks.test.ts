import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../../protocol/json/value.ts';
import { TestNetwork } from '../../../fixtures/test-network.ts';
import type { HttpAnswer } from '../../../fixtures/test-node.ts';
import { requireProblem } from '../problem-shape.ts';

/** What a member, or a key of one source, tries so that a duty goes away or a row reads as recorded. */
const DAY_MS = 86_400_000;
const SHA = '9f'.repeat(32);
const network = await TestNetwork.start({ nodes: ['eu'] });
const node = network.node('eu');
test.after(() => network[Symbol.asyncDispose]());

interface Ask {
  readonly key: string;
}

let unique = 0;

async function freshAccount(): Promise<Ask> {
  const id = `acc_eu_attack-${++unique}`;
  const key = `mk_test_${id}_00000000000000000000000`;
  await node.context.accounts.grant({ id, tier: 'unmetered' }, key);
  return { key };
}

function daysAgo(days: number): string {
  return new Date(Date.now() - days * DAY_MS).toISOString();
}

function accepted({ status, body, text }: HttpAnswer): JsonObject {
  assert.is(status, 200, text);
  return body;
}

async function post(path: string, body: JsonObject, ask: Ask): Promise<JsonObject> {
  return accepted(await node.post(path, body, ask));
}

function objectsOf(value: JsonValue | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

async function report(query: string, ask: Ask): Promise<JsonObject> {
  return accepted(await node.get(`/v1/reports/gap?framework=EU_AI_ACT&${query}`, ask));
}

async function statusOf(clause: string, query: string, ask: Ask): Promise<JsonValue | undefined> {
  const { clauses } = await report(query, ask);
  return objectsOf(clauses).find((row) => row.clause === clause)?.evidenceStatus;
}

async function incidents(ask: Ask, query = ''): Promise<readonly JsonObject[]> {
  return objectsOf(accepted(await node.get(`/v1/incidents${query}`, ask)).items);
}

async function statesOf(ask: Ask): Promise<readonly JsonValue[]> {
  return (await incidents(ask)).map(({ notificationState }) => notificationState ?? null);
}

function incident(more: JsonObject = {}): JsonObject {
  const least = { sourceId: 's', severity: 'serious', description: 'd', incidentPeriodStart: daysAgo(30) };
  return { ...least, awarenessAt: daysAgo(20), ...more };
}

function toldOf({ incidentId = null }: JsonObject, more: JsonObject = {}): JsonObject {
  const least = { to: 'authority', regime: 'eu-ai-act', reportType: 'initial', sentAt: daysAgo(1) };
  return { ...least, incidentId, ...more };
}

const system = (more: JsonObject): JsonObject => ({ role: 'deployer', intendedPurpose: 'p', ...more });
const literacy = (more: JsonObject = {}): JsonObject => {
  return { docType: 'ai-literacy-measures', docVersion: '1', sha256: SHA, approvedBy: 'a', ...more };
};
const trained = (more: JsonObject = {}): JsonObject => {
  return { person: 'p', capacity: 'x', competence: 'c', from: '2026-01-01', trainedAt: '2026-01-01', ...more };
};
const notApplicable = (more: JsonObject): JsonObject => ({
  data: { framework: 'EU_AI_ACT', clause: '4', reason: 'r', assertedBy: 'p', reviewDueAt: '2099-01-01' },
  complianceMeta: { serviceEventType: 'NOT_APPLICABLE' },
  ...more,
});
const ofSystem = (system_id: string): JsonObject => ({
  model_ref: { model_id: 'm', model_version: '1', system_id },
});

async function keyOf(source: string, preset: string, ask: Ask): Promise<Ask> {
  const { apiKey } = await post('/v1/keys', { preset, sources: [source] }, ask);
  return { key: String(apiKey) };
}

test('newer incidents of another source do not push one that nobody was told of out of a report', async () => {
  const ask = await freshAccount();
  await post('/v1/incident', incident({ criteria: ['death'], memberStates: ['DE'] }), ask);
  const junk = Array.from({ length: 20 }, () => incident({ sourceId: 'junk' }));
  for (let sent = 0; sent < 2_000; sent += junk.length) {
    await Promise.all(junk.map((body) => node.post('/v1/incident', body, ask)));
  }
  const all = await report('', ask);
  assert.is(all.listedTruncated, true);
  assert.is.not(await statusOf('73(4)', '', ask), 'no-event-recorded', 'there are more than were looked at');
  const { clauses } = await report('sourceId=s', ask);
  const row = objectsOf(clauses).find(({ clause }) => clause === '73(4)') ?? {};
  assert.equal([row.evidenceStatus, row.events], ['partly-recorded', row.events]);
  assert.is(isJsonObject(row.events ?? null) ? objectsOf([row.events ?? null])[0]?.count : null, 1);
});

test('a correction takes over Member States, triggers and criteria that it does not assert anew', async () => {
  const ask = await freshAccount();
  const triggers = [{ regime: 'nis2', at: daysAgo(19) }];
  const asserted = { criteria: ['death'], memberStates: ['DE', 'FR'], triggers };
  const first = await post('/v1/incident', incident(asserted), ask);
  await post('/v1/notification', toldOf(first, { reportType: 'final', memberState: 'DE' }), ask);
  const later = [{ regime: 'nis2', at: daysAgo(1) }];
  await post('/v1/incident', incident({ supersedes: first.incidentId ?? null, triggers: later }), ask);
  assert.equal([...(await statesOf(ask))].sort(), ['overdue', 'superseded']);
  const clocks = (await incidents(ask)).map((item) => objectsOf(item.clocks).find(({ regime }) => regime === 'nis2'));
  assert.is(clocks[0]?.dueAt, clocks[1]?.dueAt, 'no trigger moves later');
  assert.is(await statusOf('73(4)', '', ask), 'partly-recorded', 'still a death');
  const elsewhere = incident({ sourceId: 'else', supersedes: first.incidentId ?? null });
  requireProblem(await node.post('/v1/incident', elsewhere, ask), 'invalid-field', 'another source', 'sourceId');
});

test('an event that says nothing, or is of a test, and a blank rationale close no incident', async () => {
  const ask = await freshAccount();
  const { incidentId = null } = await post('/v1/incident', incident({ memberStates: ['DE'] }), ask);
  const event = { complianceMeta: { serviceEventType: 'AUTHORITY_NOTIFICATION' }, incidentId };
  await post('/v1/tiered-attest', { sourceId: 'x', data: {}, ...event }, ask);
  await post('/v1/tiered-attest', { sourceId: 'x', data: { a: 1 }, environment: 'test', ...event }, ask);
  assert.equal(await statesOf(ask), ['overdue']);
  const blank = incident({ supersedes: incidentId, reportability: 'not-reportable', rationale: ' ' });
  requireProblem(await node.post('/v1/incident', blank, ask), 'missing-field', 'blank', 'rationale');
  await post('/v1/tiered-attest', { sourceId: 'x', data: { a: 1 }, ...event }, ask);
  assert.equal(await statesOf(ask), ['notified'], 'by the rules of before');
});

test('a key of one source neither revises nor speaks for a system of another', async () => {
  const ask = await freshAccount();
  await post('/v1/system', system({ sourceId: 'risk', systemRef: 'X', sources: ['risk'] }), ask);
  const admin = await keyOf('other', 'admin', ask);
  const taken = system({ sourceId: 'other', systemRef: 'X', annexPoint: ['I'], sources: ['other'] });
  requireProblem(await node.post('/v1/system', taken, admin), 'scope-forbidden', 'not its system', 'systemRef');
  const ingest = await keyOf('other', 'ingest', ask);
  await post('/v1/tiered-attest', notApplicable({ sourceId: 'other', ...ofSystem('X') }), ingest);
  assert.is(await statusOf('4', 'systemRef=X', ask), 'nothing-recorded');
  await post('/v1/tiered-attest', notApplicable({ sourceId: 'risk', ...ofSystem('X') }), ask);
  assert.is(await statusOf('4', 'systemRef=X', ask), 'asserted-not-applicable');
});

test('a report about a system has nothing that names another one, wherever it is recorded', async () => {
  const ask = await freshAccount();
  await post('/v1/system', system({ systemRef: 'X', sources: ['shared', 'governance'] }), ask);
  await post('/v1/system', system({ systemRef: 'Y', sources: ['shared'] }), ask);
  for (const sourceId of ['shared', 'governance']) {
    await post('/v1/document', literacy({ sourceId, systemRef: 'Y' }), ask);
    await post('/v1/assignment', trained({ sourceId, systemRef: 'Y' }), ask);
  }
  assert.is(await statusOf('4', 'systemRef=X', ask), 'nothing-recorded');
  assert.is(await statusOf('4', 'systemRef=Y', ask), 'recorded');
  const foreign = await node.get('/v1/reports/gap?systemRef=X&sourceId=foreign', ask);
  requireProblem(foreign, 'source-not-found', 'no source of it', 'sourceId');
});

test('a lock on one source of a system locks no logs of another', async () => {
  const ask = await freshAccount();
  await post('/v1/system', system({ systemRef: 'X', sources: ['a', 'b'] }), ask);
  const log = { data: { x: 1 }, model_ref: { model_id: 'm', model_version: '1' }, occurredAt: daysAgo(0.1) };
  await post('/v1/tiered-attest', { sourceId: 'b', ...log }, ask);
  const lock = { retentionPeriodDays: 1826, scope: 'all', regulatoryBasis: 'EU AI Act 26(6)' };
  const later = 'systemRef=X&from=2026-01-01&to=2028-12-01';
  await post('/v1/retention-lock', { sourceId: 'a', ...lock }, ask);
  assert.is(await statusOf('26(6)', later, ask), 'partly-recorded');
  await post('/v1/retention-lock', { sourceId: 'b', ...lock }, ask);
  assert.is(await statusOf('26(6)', later, ask), 'recorded');
});

test('one authority of several that was told, and one incident of several that says enough, is not all', async () => {
  const ask = await freshAccount();
  const first = await post('/v1/incident', incident({ memberStates: ['DE', 'FR'] }), ask);
  await post('/v1/notification', toldOf(first, { memberState: 'DE' }), ask);
  assert.is(await statusOf('73(2)', '', ask), 'partly-recorded');
  await post('/v1/notification', toldOf(first, { memberState: 'FR' }), ask);
  assert.is(await statusOf('73(2)', '', ask), 'recorded');
  const { awarenessAt: _left, ...vague } = incident();
  const second = await post('/v1/incident', vague, ask);
  await post('/v1/notification', toldOf(second, { memberState: 'DE' }), ask);
  assert.is(await statusOf('73(2)', '', ask), 'partly-recorded');
});

test('a notification that was withdrawn ends no clock and shows nothing', async () => {
  const ask = await freshAccount();
  const made = await post('/v1/incident', incident({ memberStates: ['DE'] }), ask);
  const final = await post('/v1/notification', toldOf(made, { reportType: 'final', memberState: 'DE' }), ask);
  assert.equal(await statesOf(ask), ['notified']);
  const withdrawn = { to: 'other', reportType: 'early-warning', sentAt: daysAgo(1) };
  await post('/v1/notification', { ...withdrawn, supersedes: final.notificationId ?? null }, ask);
  assert.equal(await statesOf(ask), ['overdue']);
  assert.is.not(await statusOf('73(2)', '', ask), 'recorded');
});

test('what was replaced by a record of another system, or is not valid yet, is not in force', async () => {
  const ask = await freshAccount();
  await post('/v1/system', system({ systemRef: 'X', sources: ['mine'] }), ask);
  const { documentId = null } = await post('/v1/document', literacy({ systemRef: 'X' }), ask);
  await post('/v1/assignment', trained({ systemRef: 'X' }), ask);
  assert.is(await statusOf('4', 'systemRef=X', ask), 'recorded');
  await post('/v1/document', { docType: 'none', docVersion: '2', sha256: SHA, supersedes: documentId }, ask);
  assert.is(await statusOf('4', 'systemRef=X', ask), 'partly-recorded');
  const other = await freshAccount();
  await post('/v1/document', literacy({ validFrom: '2099-01-01' }), other);
  await post('/v1/assignment', trained({ from: '2099-01-01' }), other);
  assert.is(await statusOf('4', '', other), 'nothing-recorded');
});

test('an assertion of a test, or about one system, says nothing of the whole account', async () => {
  const ask = await freshAccount();
  await post('/v1/tiered-attest', notApplicable({ sourceId: 'governance', environment: 'test' }), ask);
  assert.is(await statusOf('4', '', ask), 'nothing-recorded');
  for (const systemRef of ['X', 'Y']) await post('/v1/system', system({ systemRef }), ask);
  await post('/v1/tiered-attest', notApplicable({ sourceId: 'governance', ...ofSystem('X') }), ask);
  assert.is(await statusOf('4', '', ask), 'nothing-recorded');
  assert.is(await statusOf('4', 'systemRef=X', ask), 'asserted-not-applicable');
  assert.is(await statusOf('4', 'systemRef=Y', ask), 'nothing-recorded');
});

test('the list of incidents shows a key no notification that it may not read, and the state rests on all', async () => {
  const ask = await freshAccount();
  const made = await post('/v1/incident', incident({ memberStates: ['DE'] }), ask);
  const told = toldOf(made, { sourceId: 'legal', authority: 'SECRET', reportType: 'final', memberState: 'DE' });
  await post('/v1/notification', told, ask);
  const [item] = await incidents(await keyOf('s', 'admin', ask));
  assert.equal([item?.notificationState, item?.notifications, item?.notifiedAt], ['notified', [], null]);
  assert.not.match(JSON.stringify(item), /SECRET/);
});

test('another system in the register moves no first day of a source that it shares', async () => {
  const ask = await freshAccount();
  await post('/v1/system', system({ systemRef: 'X', sources: ['s'], annexPoint: ['III(5)(b)'] }), ask);
  await post('/v1/attest', { sourceId: 's', data: { n: 1 } }, ask);
  const query = 'sourceId=s&from=2027-12-05&to=2028-01-01';
  assert.is(await statusOf('9', query, ask), 'nothing-recorded');
  await post('/v1/system', system({ systemRef: 'later', sources: ['s'], annexPoint: ['I'] }), ask);
  assert.is(await statusOf('9', query, ask), 'nothing-recorded');
});

test('a report to somebody who is no authority ends no clock, and of several triggers the earliest counts', async () => {
  const ask = await freshAccount();
  const triggers = [
    { regime: 'gdpr', at: daysAgo(1) },
    { regime: 'gdpr', at: daysAgo(10) },
  ];
  const made = await post('/v1/incident', incident({ triggers }), ask);
  await post('/v1/notification', toldOf(made, { to: 'distributor', regime: 'gdpr' }), ask);
  const clock = async () => objectsOf((await incidents(ask))[0]?.clocks).find(({ ref }) => ref === '33');
  assert.is((await clock())?.reportedAfterDueAt, null);
  await post('/v1/notification', toldOf(made, { regime: 'gdpr' }), ask);
  assert.is((await clock())?.reportedAfterDueAt, true);
});

test('lists of blanks hold nothing, and the source of erasures is the node’s own', async () => {
  const ask = await freshAccount();
  await post('/v1/document', literacy({ docType: 'risk-management-system' }), ask);
  const blank = { risksIdentified: [' '], mitigations: [' ', '\t'], residualRisk: 'low', assessedBy: 'x' };
  await post('/v1/risk-assessment', { sourceId: 's', ...blank }, ask);
  assert.is.not(await statusOf('9', 'from=2026-01-01&to=2028-01-01', ask), 'recorded');
  const forged = { requestType: 'erasure', subjectRef: 'p', receivedAt: '2026-01-01', outcome: 'refused' };
  const refused = await node.post('/v1/request', { sourceId: 'erasures', ...forged }, ask);
  requireProblem(refused, 'invalid-field', 'the source of erasures', 'sourceId');
});

test('documents are filled by what their points ask for, and say what stands in the place of an incident', async () => {
  const ask = await freshAccount();
  await post('/v1/system', system({ systemRef: 'X', sources: ['s'] }), ask);
  const told = { systemRef: 'X', to: 'authority', regime: 'gdpr', reportType: 'initial', sentAt: daysAgo(1) };
  await post('/v1/notification', told, ask);
  const { points } = accepted(await node.get('/v1/templates/fria?systemId=X', ask));
  const { authority = null } = isJsonObject(points ?? null) ? (objectsOf([points ?? null])[0] ?? {}) : {};
  assert.is(isJsonObject(authority) ? authority.value : undefined, null, 'another regime');
  const first = await post('/v1/incident', incident({ criteria: ['death'] }), ask);
  const second = await post('/v1/incident', incident({ supersedes: first.incidentId ?? null }), ask);
  const { correctedBy } = accepted(
    await node.get(`/v1/templates/incident-report?incidentId=${String(first.incidentId)}`, ask),
  );
  assert.is(correctedBy, second.incidentId);
});

test.run();

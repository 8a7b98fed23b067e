import { spawnSync } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { parseBundleText } from '../../protocol/bundle/bundle.ts';
import { verifyBundle } from '../../protocol/bundle/verify.ts';
import { parseJson } from '../../protocol/json/parse.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../protocol/json/value.ts';
import { nobleSuite } from '../../protocol/suite/noble.ts';
import { timestampOf } from '../../protocol/time.ts';
import { LocalCluster } from '../fixtures/local-cluster.ts';
import { readMail } from '../fixtures/mail-text.ts';
import { freePortBase } from '../fixtures/ports.ts';

const ROOT = join(import.meta.dirname, '../..');
const EMAIL = 'compliance@provider.example.com';
const SOURCE = 'loan-model';
const DECISIONS = 500;
const CALLERS = 16;
const SETTLE_MS = 30_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const year = suite("a provider's year");
const home = await mkdtemp(join(tmpdir(), 'meridian-year-'));
const cluster = await LocalCluster.start(home, await freePortBase());
const { nodes, demo, mail } = await cluster.file();
let apiKey = '';
/** Every attestation of the year, in order. */
const attested: string[] = [];
let sessionId = '';
let decisions: string[] = [];
let incidentId = '';
let lockId = '';

year.after(async () => {
  await cluster.end();
  await rm(home, { recursive: true, force: true });
});

year('signs up with an e-mail address, and the key comes by mail', async () => {
  const { status, body } = await call('POST', '/v1/sign-up', { email: EMAIL }, null);
  assert.equal([status, body.success], [200, true]);
  const text = await mailTo(EMAIL);
  apiKey = /mk_[A-Za-z0-9_-]{40,}/.exec(text)?.[0] ?? '';
  assert.is((await get('/v1/usage')).tier, 'developer');
  const account = /acc-[a-z0-9]+/.exec(text)?.[0] ?? '';
  const { status: exit, stderr } = keyCommand('set-tier', account, 'professional');
  assert.is(exit, 0, stderr);
  assert.is((await get('/v1/usage')).tier, 'professional');
});

year('uses its system for a while, and every decision is recorded in the session', async () => {
  const start = await post('/v1/session/start', {
    sourceId: SOURCE,
    purpose: 'credit decisions',
    environment: 'production',
  });
  sessionId = String(start.sessionId);
  const waiting = Array.from({ length: DECISIONS }, (_, i) => i);
  const caller = async (): Promise<void> => {
    for (let i = waiting.shift(); i !== undefined; i = waiting.shift()) decisions[i] = await decide(i);
  };
  await Promise.all(Array.from({ length: CALLERS }, caller));
  const end = await post('/v1/session/end', { sessionId, sourceId: SOURCE, outcome: 'done', decisionCount: DECISIONS });
  assert.equal([end.recordedDecisionCount, end.countMatches], [DECISIONS, true]);
  await refused('/v1/session/end', { sessionId, sourceId: SOURCE }, 409, 'session-already-ended');
  await refused('/v1/tiered-attest', { sourceId: SOURCE, sessionId, data: {} }, 409, 'session-already-ended');
});

year('has two persons look at a decision again', async () => {
  const originalAttestationId = decisions[7] ?? '';
  for (const [i, reviewerId] of ['staff-17', 'staff-42'].entries()) {
    const review = { sourceId: SOURCE, originalAttestationId, reviewerId, reviewOutcome: 'overridden' };
    const answer = await post('/v1/human-override', {
      ...review,
      overrideDecision: 'refuse',
      overrideReason: `look ${i}`,
    });
    assert.equal([answer.originalFound, answer.reviewCount, answer.distinctReviewers], [true, i + 1, i + 1]);
  }
});

year('reports an incident, whose clocks run until the authority is told', async () => {
  const awarenessAt = timestampOf(Date.now() - HOUR_MS);
  const incident = await post('/v1/incident', {
    sourceId: SOURCE,
    severity: 'critical',
    description: 'Applications of one region were refused without a look.',
    incidentPeriodStart: timestampOf(Date.now() - 5 * HOUR_MS),
    awarenessAt,
    reportedBy: 'staff-17',
    criteria: ['fundamental-rights'],
    relatedAttestationIds: [decisions[7] ?? ''],
  });
  incidentId = String(incident.incidentId);
  assert.is(incident.notificationDays, 2);
  assert.equal(incident.clockStart, { at: awarenessAt, basis: 'awarenessAt' });
  assert.is(incident.notificationDueAt, timestampOf(Date.parse(awarenessAt) + 2 * DAY_MS));
  const clocks = list(incident.statutoryClocks);
  assert.equal(
    clocks.map(({ days }) => days),
    [15, 2, 10],
  );
  assert.equal(idsOf(list((await get('/v1/incidents?state=open')).incidents), 'incidentId'), [incidentId]);
  await post('/v1/tiered-attest', {
    sourceId: SOURCE,
    data: { authority: 'market surveillance', reference: 'MSA-2026-118' },
    complianceMeta: { serviceEventType: 'AUTHORITY_NOTIFICATION' },
    incidentId,
  });
  const [notified] = list((await get('/v1/incidents?state=notified')).incidents);
  assert.equal([notified?.incidentId, notified?.late], [incidentId, false]);
  assert.equal(list((await get('/v1/incidents?state=open')).incidents), []);
});

year('takes a corrective action through to its end', async () => {
  const begun = { sourceId: SOURCE, incidentId, nonconformityDescription: 'no human looked', rootCause: 'a threshold' };
  const { correctiveActionId } = await post('/v1/corrective-action', { ...begun, correctiveActions: ['lower it'] });
  const step = { ...begun, correctiveActionId: String(correctiveActionId) };
  await refused('/v1/corrective-action', { ...step, status: 'closed' }, 409, 'invalid-transition');
  for (const [i, status] of ['in-progress', 'implemented', 'verified', 'closed'].entries()) {
    const answer = await post('/v1/corrective-action', { ...step, status, implementedBy: 'staff-3' });
    assert.equal([answer.actionStatus, answer.revision, answer.incidentId], [status, i + 2, incidentId]);
  }
});

year('assesses risk and impact', async () => {
  const risk = {
    risksIdentified: ['bias by region'],
    mitigations: ['review'],
    residualRisk: 'low',
    assessedBy: 'staff-5',
  };
  const { isoClause, standard } = await post('/v1/risk-assessment', { sourceId: SOURCE, ...risk });
  assert.equal([isoClause, standard], ['6.1', 'ISO/IEC 42001:2023']);
  const impact = await post('/v1/impact-assessment', {
    sourceId: SOURCE,
    intendedPurpose: 'credit decisions',
    affectedStakeholders: ['applicants'],
    potentialHarms: ['refusal without reason'],
    overallRating: 'medium-risk',
    assessedBy: 'staff-5',
  });
  assert.is(impact.isoClause, '8.2');
});

year('locks its records, so that nothing of them can be erased', async () => {
  const lock = { sourceId: SOURCE, scope: 'all', regulatoryBasis: 'EU AI Act', lockedBy: 'staff-1' };
  await refused('/v1/retention-lock', { ...lock, retentionPeriodDays: 1824 }, 400, 'retention-below-minimum');
  lockId = String((await post('/v1/retention-lock', { ...lock, retentionPeriodDays: 1827 })).lockId);
  const erasure = { attestationIds: [decisions[3] ?? ''], legalBasis: 'GDPR 17(1)', requestedBy: 'applicant' };
  const { body } = await refused('/v1/erasures', erasure, 409, 'retention-locked');
  assert.match(JSON.stringify(body), lockId);
  assert.is((await verify(0, decisions[3] ?? '')).payloadState, 'available');
});

year('erases what no lock covers; proof and flags stay', async () => {
  const { attestationId } = await post('/v1/tiered-attest', { sourceId: 'trial', ...decision(1) });
  const id = String(attestationId);
  await settled(1, id);
  const before = await verify(1, id);
  await post('/v1/erasures', { attestationIds: [id], legalBasis: 'GDPR 17(1)', requestedBy: 'applicant' });
  const after = await verify(1, id);
  assert.equal([after.payloadState, after.verified, after.verifiedScope], ['erased', true, 'record-only']);
  assert.equal(after.complianceStatus, before.complianceStatus);
});

year('reads in the gap report what is on record, and what is not', async () => {
  const report = await get(`/v1/reports/gap?framework=EU_AI_ACT&sourceId=${SOURCE}`);
  const clauses = new Map(list(report.clauses).map((clause) => [String(clause.clause), clause]));
  for (const clause of ['12(3)(a)', '14', '73']) assert.is(clauses.get(clause)?.status, 'present', clause);
  assert.is(clauses.get('10')?.status, 'absent');
  assert.not.match(JSON.stringify(list(report.clauses)), /compliant/i);
});

year('finds everything verified in another region, with the same flags as offline', async () => {
  for (const id of attested) await settled(4, id);
  const id = decisions[7] ?? '';
  const { complianceStatus, complianceDetail, links } = await verify(4, id);
  assert.equal(complianceStatus, { article12_1: true, article12_2: true, article12_3b: true, article14: true });
  assert.equal([member(complianceDetail, 'article12_3a'), member(complianceDetail, 'article14_5')], [true, true]);
  assert.equal([member(links, 'overrides'), member(links, 'incidents'), member(links, 'session')], [2, 1, true]);
  const { text } = await call('GET', `/v1/bundles/${id}?linked=1&disclosure=1`, undefined, apiKey);
  const verdict = verifyBundle(nobleSuite, parseBundleText(text));
  assert.equal([verdict.verified, verdict.witnessed, verdict.problems], [true, true, []]);
  assert.equal({ ...verdict.complianceStatus }, complianceStatus);
});

year('leaves a store behind that is whole', async () => {
  await cluster.end();
  const { status, stdout } = spawnSync(process.execPath, [join(ROOT, 'scripts/fsck.ts'), join(home, 'eu')], {
    encoding: 'utf8',
  });
  assert.is(status, 0, stdout);
});

year.run();

function decision(i: number): JsonObject {
  return {
    data: {
      input: { applicant: i },
      output: { score: i % 7 },
      referenceDatabase: 'bureau-2026-11',
      matched: i % 2 === 0,
    },
    model_ref: { model_id: 'loan-model', model_version: '4.2' },
    complianceMeta: { riskLevel: 'high', jurisdiction: ['EU'] },
  };
}

async function decide(i: number): Promise<string> {
  return String((await post('/v1/tiered-attest', { sourceId: SOURCE, sessionId, ...decision(i) })).attestationId);
}

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly body: JsonObject;
}

/** One request to the provider's own node, `eu`. */
async function call(
  method: string,
  path: string,
  body: JsonValue | undefined,
  key: string | null,
  node = 1,
): Promise<Answer> {
  const headers = { 'content-type': 'application/json', ...(key === null ? {} : { 'x-api-key': key }) };
  const response = await fetch((nodes[node]?.baseUrl ?? '') + path, {
    method,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const value = parseJson(text, { maxDepth: 64 });
  return { status: response.status, text, body: isJsonObject(value) ? value : {} };
}

/** What was recorded for a request that must be accepted. */
async function post(path: string, body: JsonObject): Promise<JsonObject> {
  const answer = await call('POST', path, body, apiKey);
  assert.is(answer.status, 200, `${path}: ${answer.text}`);
  attested.push(String(answer.body.attestationId));
  return answer.body;
}

async function get(path: string): Promise<JsonObject> {
  const answer = await call('GET', path, undefined, apiKey);
  assert.is(answer.status, 200, `${path}: ${answer.text}`);
  return answer.body;
}

async function refused(path: string, body: JsonObject, status: number, code: string): Promise<Answer> {
  const answer = await call('POST', path, body, apiKey);
  assert.equal([answer.status, answer.body.code], [status, code], answer.text);
  return answer;
}

/** Asked with a key of that region, which takes the caller off the limits of its address. */
async function verify(node: number, id: string): Promise<JsonObject> {
  return (await call('GET', `/v1/verify/${id}`, undefined, demo.apiKeys.bench, node)).body;
}

async function settled(node: number, id: string): Promise<void> {
  for (const end = performance.now() + SETTLE_MS; (await verify(node, id)).verified !== true; await sleep(50)) {
    if (performance.now() > end) throw new Error(`${id} is not verified at ${node}`);
  }
}

async function mailTo(address: string): Promise<string> {
  for (const end = performance.now() + SETTLE_MS; performance.now() < end; await sleep(50)) {
    for (const file of (await readdir(mail.directory)).filter((name) => name.endsWith('.eml'))) {
      const { to, text } = readMail(await readFile(join(mail.directory, file)));
      if (to === address) return text;
    }
  }
  throw new Error(`no mail to ${address}`);
}

function keyCommand(...parameters: readonly string[]) {
  return spawnSync(process.execPath, [join(ROOT, 'scripts/key.ts'), ...parameters, '--node=eu'], {
    encoding: 'utf8',
    env: { ...process.env, MERIDIAN_HOME: home },
  });
}

function list(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

function idsOf(items: readonly JsonObject[], name: string): (JsonValue | undefined)[] {
  return items.map((item) => item[name]);
}

function member(value: JsonValue | undefined, name: string): JsonValue | undefined {
  return isJsonObject(value) ? value[name] : undefined;
}

import { spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { parseBundleText } from '../../protocol/verdict/parse.ts';
import { verifyBundle } from '../../protocol/verdict/verify.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../protocol/json/value.ts';
import { nobleSuite } from '../../protocol/suite/noble.ts';
import { timestampOf } from '../../protocol/time.ts';
import { LocalCluster } from '../fixtures/local-cluster.ts';
import { freePortBase } from '../fixtures/ports.ts';
import { FAR_NODE, HOME_NODE, Provider } from './provider.ts';

const ROOT = join(import.meta.dirname, '../..');
const EMAIL = 'compliance@provider.example.com';
const SOURCE = 'loan-model';
const DECISIONS = 500;
const CALLERS = 16;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const year = suite("a provider's year");
const home = await mkdtemp(join(tmpdir(), 'meridian-year-'));
const cluster = await LocalCluster.start(home, await freePortBase());
const provider = new Provider(await cluster.file());
let sessionId = '';
const decisions: string[] = [];
let incidentId = '';
let lockId = '';

year.after(async () => {
  await cluster.end();
  await rm(home, { recursive: true, force: true });
});

year('signs up with an e-mail address, and the key comes by mail', async () => {
  const { status, body } = await provider.call('POST', '/v1/sign-up', { email: EMAIL });
  assert.equal([status, body.success], [200, true]);
  const text = await provider.mailTo(EMAIL);
  provider.apiKey = /mk_[A-Za-z0-9_-]{40,}/.exec(text)?.[0] ?? '';
  assert.is((await provider.get('/v1/usage')).tier, 'developer');
  const account = /acc_[a-z0-9]+_[a-z0-9]+/.exec(text)?.[0] ?? '';
  const { status: exit, stderr } = keyCommand('set-tier', account, 'professional');
  assert.is(exit, 0, stderr);
  assert.is((await provider.get('/v1/usage')).tier, 'professional');
});

year('uses its system for a while, and every decision is recorded in the session', async () => {
  const start = await provider.post('/v1/session/start', {
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
  const end = await provider.post('/v1/session/end', {
    sessionId,
    sourceId: SOURCE,
    outcome: 'done',
    decisionCount: DECISIONS,
  });
  assert.equal([end.recordedDecisionCount, end.countMatches], [DECISIONS, true]);
  await provider.refused('/v1/session/end', { sessionId, sourceId: SOURCE }, 409, 'session-already-ended');
  await provider.refused('/v1/tiered-attest', { sourceId: SOURCE, sessionId, data: {} }, 409, 'session-already-ended');
});

year('has two persons look at a decision again', async () => {
  const originalAttestationId = decisions[7] ?? '';
  for (const [i, reviewerId] of ['staff-17', 'staff-42'].entries()) {
    const review = { sourceId: SOURCE, originalAttestationId, reviewerId, reviewOutcome: 'overridden' };
    const answer = await provider.post('/v1/human-override', {
      ...review,
      overrideDecision: 'refuse',
      overrideReason: `look ${i}`,
    });
    assert.equal([answer.originalFound, answer.reviewCount, answer.distinctReviewers], [true, i + 1, i + 1]);
  }
});

year('reports an incident, whose clocks run until the authority is told', async () => {
  const awarenessAt = timestampOf(Date.now() - HOUR_MS);
  const incident = await provider.post('/v1/incident', {
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
  assert.equal(idsOf(list((await provider.get('/v1/incidents?state=open')).items), 'incidentId'), [incidentId]);
  await provider.post('/v1/tiered-attest', {
    sourceId: SOURCE,
    data: { authority: 'market surveillance', reference: 'MSA-2026-118' },
    complianceMeta: { serviceEventType: 'AUTHORITY_NOTIFICATION' },
    incidentId,
  });
  const [notified] = list((await provider.get('/v1/incidents?state=notified')).items);
  assert.is(notified?.incidentId, incidentId);
  const [service] = list(notified?.clocks);
  assert.equal([service?.ref, service?.reportedAfterDueAt], ['service', false]);
  assert.equal(list((await provider.get('/v1/incidents?state=open')).items), []);
});

year('takes a corrective action through to its end', async () => {
  const begun = { sourceId: SOURCE, incidentId, nonconformityDescription: 'no human looked', rootCause: 'a threshold' };
  const { correctiveActionId } = await provider.post('/v1/corrective-action', {
    ...begun,
    correctiveActions: ['lower it'],
  });
  const step = { ...begun, correctiveActionId: String(correctiveActionId) };
  await provider.refused('/v1/corrective-action', { ...step, status: 'closed' }, 409, 'invalid-transition');
  for (const [i, status] of ['in-progress', 'implemented', 'verified', 'closed'].entries()) {
    const answer = await provider.post('/v1/corrective-action', { ...step, status, implementedBy: 'staff-3' });
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
  const { isoClause, standard } = await provider.post('/v1/risk-assessment', { sourceId: SOURCE, ...risk });
  assert.equal([isoClause, standard], ['6.1', 'ISO/IEC 42001:2023']);
  const impact = await provider.post('/v1/impact-assessment', {
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
  await provider.refused('/v1/retention-lock', { ...lock, retentionPeriodDays: 1824 }, 400, 'retention-below-minimum');
  lockId = String((await provider.post('/v1/retention-lock', { ...lock, retentionPeriodDays: 1827 })).lockId);
  const erasure = { attestationIds: [decisions[3] ?? ''], legalBasis: 'GDPR 17(1)', requestedBy: 'applicant' };
  const refusal = await provider.refused('/v1/erasures', erasure, 409, 'retention-locked');
  assert.match(JSON.stringify(refusal), lockId);
  assert.is((await provider.verify(HOME_NODE, decisions[3] ?? '')).payloadState, 'available');
});

year('erases what no lock covers; proof and flags stay', async () => {
  const { attestationId } = await provider.post('/v1/tiered-attest', { sourceId: 'trial', ...decision(1) });
  const id = String(attestationId);
  await provider.settled(HOME_NODE, id);
  const before = await provider.verify(HOME_NODE, id);
  await provider.post('/v1/erasures', { attestationIds: [id], legalBasis: 'GDPR 17(1)', requestedBy: 'applicant' });
  const after = await provider.verify(HOME_NODE, id);
  assert.equal([after.payloadState, after.verified, after.verifiedScope], ['erased', true, 'record-only']);
  assert.equal(after.complianceStatus, before.complianceStatus);
});

year('reads in the gap report what is on record, and what is not', async () => {
  const report = await provider.get(`/v1/reports/gap?framework=EU_AI_ACT&sourceId=${SOURCE}`);
  const clauses = new Map(list(report.clauses).map((clause) => [String(clause.clause), clause]));
  for (const clause of ['12(3)(a)', '14', '73(2)']) assert.is(clauses.get(clause)?.status, 'present', clause);
  assert.is(clauses.get('10')?.status, 'absent');
  assert.not.match(JSON.stringify(list(report.clauses)), /compliant/i);
});

year('finds everything verified in another region, with the same flags as offline', async () => {
  for (const id of provider.attested) await provider.settled(FAR_NODE, id);
  const id = decisions[7] ?? '';
  const { complianceStatus, complianceDetail, links } = await provider.verify(FAR_NODE, id);
  assert.equal(complianceStatus, { article12_1: true, article12_2: true, article12_3b: true, article14: true });
  assert.equal([member(complianceDetail, 'article12_3a'), member(complianceDetail, 'article14_5')], [true, true]);
  assert.equal([member(links, 'overrides'), member(links, 'incidents'), member(links, 'session')], [2, 1, true]);
  const { text } = await provider.call('GET', `/v1/bundles/${id}?linked=1&disclosure=1`);
  const verdict = verifyBundle(nobleSuite, parseBundleText(text));
  assert.equal([verdict.word, verdict.facts.witnessed, verdict.problems], ['consistent', true, []]);
  assert.equal({ ...verdict.evidence?.complianceStatus }, complianceStatus);
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
  return String(
    (await provider.post('/v1/tiered-attest', { sourceId: SOURCE, sessionId, ...decision(i) })).attestationId,
  );
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

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type GapReportAnswer, GapReportAnswerShape } from '../../protocol/api/gap-report.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../protocol/json/value.ts';
import { recordOfAnyId } from '../../protocol/object-ids.ts';
import { Compile } from '../../protocol/shape-check.ts';
import { nobleSuite } from '../../protocol/suite/noble.ts';
import { parseBundleText } from '../../protocol/verdict/parse.ts';
import { verifyBundle } from '../../protocol/verdict/verify.ts';
import { LocalCluster } from '../fixtures/local-cluster.ts';
import { freePortBase } from '../fixtures/ports.ts';
import { HOME_NODE, Provider } from './provider.ts';

/**
 * Five cases that people answer for with Meridian, from what happened to a file that proves it and a report that says
 * what is on record and what is not.
 */
const walks = suite('walks');
const home = await mkdtemp(join(tmpdir(), 'meridian-walks-'));
const cluster = await LocalCluster.start(home, await freePortBase());
const file = await cluster.file();
const provider = new Provider(file);
provider.apiKey = file.demo.apiKeys.bench ?? null;

const report = Compile(GapReportAnswerShape);
const SHA = '9f'.repeat(32);
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** A day on which what is adopted today applies to every class of systems. */
const LATER = '2029-01-01';

walks.after(async () => {
  await cluster.end();
  await rm(home, { recursive: true, force: true });
});

type Row = GapReportAnswer['clauses'][number];

walks('an EU bank deploys credit scoring, and refusals discriminate', async () => {
  const [systemRef, sourceId] = ['credit-scoring', 'walk-credit'];
  await provider.post('/v1/system', {
    systemRef,
    role: 'deployer',
    intendedPurpose: 'scores applications for consumer credit',
    riskClass: 'high-risk',
    annexPoint: ['III(5)(b)'],
    sources: [sourceId],
    owner: 'head-of-retail-risk',
  });
  await assign(systemRef, 'human-oversight');
  await provider.post('/v1/impact-assessment', {
    sourceId,
    intendedPurpose: 'credit decisions',
    affectedStakeholders: ['applicants'],
    potentialHarms: ['refusal without reason'],
    overallRating: 'high-risk',
    assessedBy: 'staff-5',
  });
  const decision = await decide(sourceId, { adverse: true, subjectRef: 'applicant-1', occurredAt: ago(2 * HOUR_MS) });
  await provider.post('/v1/human-override', {
    sourceId,
    originalAttestationId: decision,
    reviewerId: 'staff-7',
    reviewOutcome: 'overridden',
  });
  await notice(systemRef, 'adverse-action', { decisionId: decision, subjectRef: 'applicant-1' });
  await provider.post('/v1/request', {
    requestType: 'explanation',
    subjectRef: 'applicant-1',
    receivedAt: ago(HOUR_MS),
    decisionId: decision,
    systemRef,
  });
  const incident = await provider.post('/v1/incident', {
    sourceId,
    severity: 'serious',
    role: 'deployer',
    description: 'applications of one district were refused',
    incidentPeriodStart: ago(3 * DAY_MS),
    awarenessAt: ago(DAY_MS),
    criteria: ['fundamental-rights'],
    relatedAttestationIds: [decision],
    triggers: [{ regime: 'dora', at: ago(HOUR_MS) }],
    systemRef,
  });
  const clocks = list(incident.clocks);
  assert.is(clockOf(clocks, '73(2)').dueAt, null, 'Article 73 binds the provider');
  assert.type(clockOf(clocks, '19 initial').dueAt, 'string');
  await provider.post('/v1/notification', {
    to: 'provider',
    reportType: 'initial',
    sentAt: ago(HOUR_MS),
    incidentId: String(incident.incidentId),
    systemRef,
  });
  await provider.post('/v1/corrective-action', {
    sourceId,
    incidentId: String(incident.incidentId),
    nonconformityDescription: 'indirect discrimination by district',
    measure: 'disabled',
    suspendedAt: ago(HOUR_MS),
  });
  const today = await reportOf(`framework=EU_AI_ACT&systemRef=${systemRef}&role=deployer`);
  assert.ok(today.clauses.every(({ dutyHolder }) => dutyHolder.includes('deployer')));
  assert.ok(today.clauses.some(({ evidenceStatus }) => evidenceStatus === 'not-yet-applicable'));
  const later = await laterReport('EU_AI_ACT', systemRef);
  requireNamed(later, 3);
  await proves(decision);
});

walks('a US bank validates a model', async () => {
  const [systemRef, sourceId] = ['default-model', 'walk-bank'];
  await provider.post('/v1/system', {
    systemRef,
    role: 'deployer',
    intendedPurpose: 'predicts default',
    modelType: 'predictive',
    sources: [sourceId],
    owner: 'head-of-models',
  });
  await decide(sourceId, { confidenceScore: 0.4 });
  const { attestationId } = await provider.post('/v1/evaluation', {
    evalType: 'validation',
    performedAt: ago(DAY_MS),
    outcome: 'pass-with-findings',
    metrics: [{ name: 'auc', value: 0.81, threshold: 0.75 }],
    findings: 'drifts after changes of interest rates',
    limitations: 'small businesses are few',
    performedBy: 'validator-2',
    independent: true,
    validUntil: LATER,
    systemRef,
  });
  await provider.post('/v1/evaluation', {
    evalType: 'monitoring',
    performedAt: ago(HOUR_MS),
    outcome: 'pass',
    metrics: [{ name: 'psi', value: 0.04 }],
    performedBy: 'staff-3',
    systemRef,
  });
  await provider.post('/v1/supplier', {
    supplier: 'Example Models Ltd',
    component: 'bureau-score',
    reviewedAt: ago(DAY_MS),
    contractRef: 'C-1',
    systemRef,
  });
  await document(systemRef, 'policy');
  requireNamed(await laterReport('US_BANK_MRM', systemRef), 1);
  await proves(String(attestationId));
});

walks('a broker-dealer keeps what its chatbot said', async () => {
  const [systemRef, sourceId] = ['chatbot', 'walk-broker'];
  await provider.post('/v1/system', {
    systemRef,
    role: 'deployer',
    intendedPurpose: 'answers customers',
    modelType: 'generative',
    sources: [sourceId],
  });
  const said = await decide(sourceId, {
    complianceMeta: { serviceEventType: 'COMMUNICATION' },
    subjectRef: 'customer-9',
  });
  await provider.post('/v1/retention-lock', {
    sourceId,
    retentionPeriodDays: 2192,
    scope: 'all',
    regulatoryBasis: 'SEC 17a-4(b)',
    startsAt: ago(DAY_MS),
  });
  await assign(systemRef, 'registered-principal');
  await document(systemRef, 'undertaking');
  const erasure = { subjectRef: 'customer-9', legalBasis: 'GDPR 17(1)', requestedBy: 'customer' };
  const refusal = await provider.refused('/v1/erasures', erasure, 409, 'retention-locked');
  const refused = String(refusal.attestationId);
  const requests = list((await provider.get('/v1/requests')).items);
  assert.ok(
    requests.some(({ attestationId }) => attestationId === refused),
    'the refusal is on record',
  );
  requireNamed(await laterReport('SEC_17A4', systemRef), 1);
  requireNamed(await laterReport('FINRA', systemRef), 0);
  await proves(said);
});

walks('an employer screens applicants in New York and Colorado', async () => {
  const [systemRef, sourceId] = ['hr-screening', 'walk-hr'];
  await provider.post('/v1/system', {
    systemRef,
    role: 'deployer',
    intendedPurpose: 'ranks applicants',
    sources: [sourceId],
  });
  const { attestationId } = await provider.post('/v1/evaluation', {
    evalType: 'bias-audit',
    performedAt: ago(30 * DAY_MS),
    outcome: 'pass',
    metrics: [{ name: 'impact-ratio', value: 0.92, group: 'women' }],
    datasetRef: 'applications-2026',
    performedBy: 'independent-auditor',
    independent: true,
    validUntil: ahead(300 * DAY_MS),
    systemRef,
  });
  await notice(systemRef, 'use-of-ai', { subjectRef: 'candidate-3' });
  const decision = await decide(sourceId, { adverse: true, subjectRef: 'candidate-3' });
  await notice(systemRef, 'adverse-action', {
    decisionId: decision,
    subjectRef: 'candidate-3',
    dueAt: ahead(30 * DAY_MS),
  });
  for (const requestType of ['correction', 'appeal']) {
    await provider.post('/v1/request', {
      requestType,
      subjectRef: 'candidate-3',
      receivedAt: ago(HOUR_MS),
      decisionId: decision,
      systemRef,
    });
  }
  const short = { sourceId, retentionPeriodDays: 1096, scope: 'all', regulatoryBasis: 'Colorado AI Act' };
  await provider.refused('/v1/retention-lock', short, 400, 'retention-below-minimum');
  const today = await reportOf(`framework=US_STATE&systemRef=${systemRef}`);
  requireNamed(today, 1);
  await proves(String(attestationId));
});

walks('a provider of a medical device reports the death of a patient', async () => {
  const [systemRef, sourceId] = ['dose-advisor', 'walk-device'];
  await provider.post('/v1/system', {
    systemRef,
    role: 'provider',
    intendedPurpose: 'advises on doses',
    annexPoint: ['Annex I, A(11)'],
    placedOnMarketAt: '2026-02-01',
    euDatabaseId: 'EU-2026-1',
    sources: [sourceId],
  });
  for (const docType of ['technical-documentation', 'post-market-monitoring-plan', 'instructions-for-use']) {
    await document(systemRef, docType);
  }
  await provider.post('/v1/conformity', {
    procedure: 'mdr-annex-ix',
    outcome: 'conforming',
    notifiedBody: 'NB 0123',
    certificate: 'G10-1',
    validUntil: '2031-02-01',
    sha256: SHA,
    systemRef,
  });
  const decision = await decide(sourceId, { subjectRef: 'patient-1' });
  const incident = await provider.post('/v1/incident', {
    sourceId,
    severity: 'fatal',
    role: 'provider',
    description: 'a dose that was too high',
    incidentPeriodStart: ago(7 * DAY_MS),
    awarenessAt: ago(6 * DAY_MS),
    criteria: ['death'],
    memberStates: ['DE'],
    relatedAttestationIds: [decision],
    triggers: [{ regime: 'mdr', at: ago(6 * DAY_MS) }],
    systemRef,
  });
  for (const [reportType, regime] of [
    ['initial', 'eu-ai-act'],
    ['final', 'eu-ai-act'],
    ['initial', 'mdr'],
  ] as const) {
    await provider.post('/v1/notification', {
      to: 'authority',
      reportType,
      regime,
      memberState: 'DE',
      sentAt: ago(HOUR_MS),
      reference: 'MIR-1',
      incidentId: String(incident.incidentId),
      systemRef,
    });
  }
  const [item] = list((await provider.get('/v1/incidents?state=notified&sourceId=walk-device')).items);
  const clocks = list(item?.clocks);
  const after = (ref: string) => clockOf(clocks, ref).reportedAfterDueAt;
  assert.equal([after('73(4)'), after('87(5)'), after('service')], [false, false, true]);
  const later = await laterReport('EU_AI_ACT', systemRef);
  assert.is(later.systemClass, 'annexI');
  requireNamed(later, 3);
  await proves(String(incident.attestationId));
});

walks.run();

async function decide(sourceId: string, members: JsonObject): Promise<string> {
  const body = {
    sourceId,
    data: { input: { n: provider.attested.length }, output: { score: 3 } },
    model_ref: { model_id: 'm', model_version: '4.2' },
    ...members,
  };
  const riskLevel = {
    riskLevel: 'high',
    ...(isJsonObject(members.complianceMeta ?? null) ? Object(members.complianceMeta) : {}),
  };
  return String((await provider.post('/v1/tiered-attest', { ...body, complianceMeta: riskLevel })).attestationId);
}

async function assign(systemRef: string, capacity: string): Promise<void> {
  const members = { from: ago(100 * DAY_MS), trainedAt: ago(90 * DAY_MS), mayStop: true, systems: [systemRef] };
  await provider.post('/v1/assignment', { person: 'staff-7', capacity, competence: 'a course', ...members });
}

async function document(systemRef: string, docType: string): Promise<void> {
  const approval = { approvedBy: 'head', approvedAt: ago(DAY_MS), validFrom: ago(DAY_MS) };
  await provider.post('/v1/document', { docType, docVersion: '1', sha256: SHA, systemRef, ...approval });
}

async function notice(systemRef: string, noticeType: string, members: JsonObject): Promise<void> {
  await provider.post('/v1/notice', { noticeType, givenAt: ago(HOUR_MS), systemRef, channel: 'letter', ...members });
}

async function reportOf(query: string): Promise<GapReportAnswer> {
  const body: JsonValue = await provider.get(`/v1/reports/gap?${query}`);
  if (report.Check(body)) return body;
  throw new TypeError(JSON.stringify([...report.Errors(body)].slice(0, 3)));
}

/** As of a day on which everything applies, from today on. */
function laterReport(framework: string, systemRef: string): Promise<GapReportAnswer> {
  const from = ago(DAY_MS).slice(0, 10);
  return reportOf(`framework=${framework}&systemRef=${systemRef}&from=${from}&to=${LATER}`);
}

/**
 * Every row that is recorded names records, which are there; and what is not recorded is named in the report itself.
 * `least`: rows that are recorded or partly so.
 */
function requireNamed({ clauses }: GapReportAnswer, least: number): void {
  const some = clauses.filter(({ evidenceStatus }) => /^(partly-)?recorded$/.test(evidenceStatus));
  assert.ok(some.length >= least, `${some.length} rows: ${some.map(({ clause }) => clause).join()}`);
  for (const row of clauses) {
    if (row.evidenceStatus === 'recorded') requireRecords(row);
    const isNothing = row.evidenceStatus === 'nothing-recorded';
    const isNamed = row.needs.some(({ missing }) => missing !== null);
    if (isNothing) assert.ok(isNamed, row.clause);
    assert.ok(row.neverChecked.length > 0, row.clause);
  }
}

function requireRecords({ clause, needs }: Row): void {
  for (const { optional, recorded, sampleIds, count } of needs) {
    if (optional) continue;
    assert.ok(recorded && count > 0 && sampleIds.length > 0, clause);
    for (const id of sampleIds) assert.ok(provider.attested.includes(id), `${clause}: ${id}`);
  }
}

/** A file that proves the record without anyone's word. */
async function proves(id: string): Promise<void> {
  const record = recordOfAnyId(id) ?? id;
  await provider.settled(HOME_NODE, record);
  const { text } = await provider.call('GET', `/v1/bundles/${record}?linked=1&disclosure=1`);
  const verdict = verifyBundle(nobleSuite, parseBundleText(text));
  assert.equal([verdict.word, verdict.problems], ['consistent', []]);
}

function clockOf(clocks: readonly JsonObject[], ref: string): JsonObject {
  const found = clocks.find((clock) => clock.ref === ref);
  if (found === undefined) throw new RangeError(`no clock ${ref}`);
  return found;
}

function ago(milliseconds: number): string {
  return new Date(Date.now() - milliseconds).toISOString();
}

function ahead(milliseconds: number): string {
  return new Date(Date.now() + milliseconds).toISOString();
}

function list(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

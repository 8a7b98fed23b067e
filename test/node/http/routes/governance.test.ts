import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { HumanOverrideAnswerShape } from '../../../../protocol/api/human-override.ts';
import { ImpactAssessmentAnswerShape } from '../../../../protocol/api/impact-assessment.ts';
import { RiskAssessmentAnswerShape } from '../../../../protocol/api/risk-assessment.ts';
import { SessionEndAnswerShape } from '../../../../protocol/api/session-end.ts';
import { SessionStartAnswerShape } from '../../../../protocol/api/session-start.ts';
import { recordId } from '../../../../protocol/ids.ts';
import type { JsonObject } from '../../../../protocol/json/value.ts';
import { PSEUDONYM_PATTERN } from '../../../../protocol/chain/asserted.ts';
import type { AttestationRecord } from '../../../../protocol/chain/record.ts';
import { fsck } from '../../../../node/fsck/fsck.ts';
import { readRecord } from '../../../../node/records/record-reader.ts';
import { TestNetwork } from '../../../fixtures/test-network.ts';
import { type Ask, API_KEYS, type HttpAnswer } from '../../../fixtures/test-node.ts';
import { until } from '../../../fixtures/until.ts';
import { shapeCheck } from '../answer-shape.ts';
import { requireProblem } from '../problem-shape.ts';
import { ENVELOPE, type GovernancePath, LEAST, LONG, NOTHING, REFUSED } from './governance-bodies.ts';

const network = await TestNetwork.start({ nodes: ['eu', 'us'] });
const node = network.node('eu');
const other = network.node('us');
test.after(() => network[Symbol.asyncDispose]());

const FUTURE = new Date(Date.now() + 6 * 60_000).toISOString();
let unique = 0;

/** Posts the least that the endpoint accepts, with these members changed. */
function post(path: GovernancePath, members: JsonObject = {}, ask: Ask = {}): Promise<HttpAnswer> {
  return node.post(path, { ...LEAST[path], ...members }, ask);
}

function accepted({ status, body, text }: HttpAnswer): JsonObject {
  assert.is(status, 200, text);
  return body;
}

function attest(members: JsonObject = {}): Promise<string> {
  return node.attest({ n: ++unique }, { sourceId: 'triage', ...members });
}

async function recordOf(id: unknown): Promise<AttestationRecord> {
  const found = await readRecord(node.context.store, recordId(String(id)));
  assert.ok(found);
  return found.record;
}

function fieldsAre(body: JsonObject, members: readonly string[]): void {
  assert.equal(Object.keys(body).toSorted(), [...ENVELOPE, ...members].toSorted());
}

test('the start of a session is answered with exactly its fields', async () => {
  const body = accepted(await post('/v1/session/start', { purpose: 'p', environment: 'test', operatorId: 'o' }));
  shapeCheck(SessionStartAnswerShape)(body);
  fieldsAre(body, ['sessionId', 'startTime']);
  assert.is(body.status, 'pending');
  assert.is(body.startTime, body.submittedAt);
  assert.is(String(body.sessionId).slice(3), String(body.attestationId).slice(3));
  const { kind, claims, links } = await recordOf(body.attestationId);
  assert.equal([kind, claims.environment, links], ['session_start', 'test', {}]);
  assert.equal(claims.given, ['environment', 'operatorId', 'purpose', 'sourceId']);
});

test('the end of a session is answered with its length and the decisions within it', async () => {
  const start = accepted(await post('/v1/session/start'));
  const { sessionId } = start;
  await attest({ sessionId: String(sessionId) });
  await attest();
  const tiered = { sourceId: 'triage', data: {}, sessionId: String(sessionId) };
  accepted(await node.post('/v1/tiered-attest', tiered));
  const request = { sessionId: String(sessionId), sourceId: 'triage', outcome: 'fine', decisionCount: 3 };
  const body = accepted(await node.post('/v1/session/end', request));
  shapeCheck(SessionEndAnswerShape)(body);
  const members = 'sessionId startTime endTime durationSeconds outcome decisionCount recordedDecisionCount';
  fieldsAre(body, [...members.split(' '), 'countMatches', 'articles']);
  assert.equal(
    [body.sessionId, body.startTime, body.endTime, body.outcome],
    [sessionId, start.startTime, body.submittedAt, 'fine'],
  );
  const length = Date.parse(String(body.endTime)) - Date.parse(String(body.startTime));
  assert.is(body.durationSeconds, length / 1000);
  assert.equal([body.decisionCount, body.recordedDecisionCount, body.countMatches], [3, 2, false]);
  assert.equal(body.articles, ['12(3)(a)']);
  const { claims, links } = await recordOf(body.attestationId);
  assert.equal([claims.decisionCount, claims.recordedDecisionCount], [3, 2]);
  assert.is(links.session, start.attestationId);
});

test('a session of nothing ends with a count of 0, which a caller may leave open', async () => {
  const { sessionId } = accepted(await post('/v1/session/start'));
  const body = accepted(await node.post('/v1/session/end', { sessionId: String(sessionId), sourceId: 'triage' }));
  assert.equal(
    [body.outcome, body.decisionCount, body.recordedDecisionCount, body.countMatches],
    [null, null, 0, null],
  );
});

test('a session ends once, for its own source, account and node', async () => {
  const { sessionId } = accepted(await post('/v1/session/start'));
  const end = (members: JsonObject, ask: Ask = {}) =>
    node.post('/v1/session/end', { sessionId: String(sessionId), sourceId: 'triage', ...members }, ask);
  requireProblem(await end({ sourceId: 'other' }), 'source-mismatch', 'another source', 'sourceId');
  requireProblem(await end({}, { key: API_KEYS.enterprise }), 'session-not-found', 'another account', 'sessionId');
  requireProblem(await end({ sessionId: 'ses_nothing' }), 'session-not-found', 'no id', 'sessionId');
  const decision = await attest();
  requireProblem(await end({ sessionId: decision }), 'session-not-found', 'a decision', 'sessionId');
  const elsewhere = await other.post('/v1/session/end', { sessionId: String(sessionId), sourceId: 'triage' });
  requireProblem(elsewhere, 'session-not-found', 'another node', 'sessionId');
  const { attestationId } = accepted(await end({}));
  const again = await end({});
  requireProblem(again, 'session-already-ended', 'again', 'sessionId');
  assert.is(again.body.endedBy, attestationId);
  const late = await node.post('/v1/attest', {
    sourceId: 'triage',
    data: { n: ++unique },
    sessionId: String(sessionId),
  });
  requireProblem(late, 'session-already-ended', 'a decision', 'sessionId');
});

test('of many ends of one session one is accepted, and every decision before it is counted', async () => {
  for (let round = 0; round < 4; round++) {
    const sessionId = String(accepted(await post('/v1/session/start')).sessionId);
    const decide = () => node.post('/v1/attest', { sourceId: 'triage', data: { n: ++unique }, sessionId });
    const end = () => node.post('/v1/session/end', { sourceId: 'triage', sessionId });
    const decisions = Array.from({ length: 8 }, decide);
    const ends = Array.from({ length: 3 }, end);
    decisions.push(...Array.from({ length: 8 }, decide));
    const within = (await Promise.all(decisions)).filter(({ status }) => status === 200);
    const answers = await Promise.all(ends);
    const [only, ...more] = answers.filter(({ status }) => status === 200);
    assert.is(more.length, 0);
    assert.is(only?.body.recordedDecisionCount, within.length);
    const endSeq = (await recordOf(only?.body.attestationId)).seq;
    for (const { body } of within) assert.ok((await recordOf(body.attestationId)).seq < endSeq);
    for (const { status, body } of answers) if (status !== 200) assert.is(body.code, 'session-already-ended');
  }
});

test('a review is answered with exactly its fields, and names the reviewer to nobody', async () => {
  const originalAttestationId = await attest();
  const members = { originalAttestationId, reviewerId: 'anna.schmidt@example', reviewOutcome: 'overridden' };
  const asserted = { overrideDecision: 'grant', overrideReason: 'r', reviewedAt: new Date().toISOString() };
  const body = accepted(await post('/v1/human-override', { ...members, ...asserted, allowUnresolved: false }));
  shapeCheck(HumanOverrideAnswerShape)(body);
  const answer = 'overrideId originalAttestationId originalFound reviewCount distinctReviewers articles';
  fieldsAre(body, answer.split(' '));
  assert.equal([body.originalAttestationId, body.originalFound], [originalAttestationId, true]);
  assert.equal([body.reviewCount, body.distinctReviewers, body.articles], [1, 1, ['12(3)(d)', '14']]);
  const stored = await readRecord(node.context.store, recordId(String(body.attestationId)));
  assert.ok(stored);
  assert.not.match(stored.texts.head + stored.texts.body, /anna|schmidt/);
  assert.match(String(stored.record.claims.reviewer), new RegExp(PSEUDONYM_PATTERN));
  assert.is(stored.record.links.original, originalAttestationId);
  const verdict = await node.get(`/v1/verify/${originalAttestationId}`);
  assert.equal(verdict.body.complianceStatus, {
    article12_1: true,
    article12_2: false,
    article12_3b: false,
    article14: true,
  });
});

test('reviews and their persons are counted, also when they come at once', async () => {
  const originalAttestationId = await attest();
  const review = (reviewerId: string) => post('/v1/human-override', { originalAttestationId, reviewerId });
  const answers = await Promise.all(['a', 'b', 'a', 'c', 'b', 'a'].map(review));
  const counts = answers.map((answer) => Number(accepted(answer).reviewCount)).toSorted();
  assert.equal(counts, [1, 2, 3, 4, 5, 6]);
  const last = answers.find(({ body }) => body.reviewCount === 6);
  assert.is(last?.body.distinctReviewers, 3);
});

test('what is not on record can be reviewed if the caller says so, and counts for nothing', async () => {
  const unresolved = { originalAttestationId: NOTHING, allowUnresolved: false };
  const field = 'originalAttestationId';
  requireProblem(await post('/v1/human-override', unresolved), 'attestation-not-found', 'of nothing', field);
  const foreign = await node.attest({ n: ++unique }, {}, { key: API_KEYS.enterprise });
  const ofOther = { ...unresolved, originalAttestationId: foreign };
  requireProblem(await post('/v1/human-override', ofOther), 'attestation-not-found', 'of another account', field);
  const body = accepted(await post('/v1/human-override', { ...ofOther, allowUnresolved: true }));
  assert.equal([body.originalFound, body.originalAttestationId], [false, foreign]);
  assert.equal([body.reviewCount, body.distinctReviewers], [0, 0]);
  assert.equal((await recordOf(body.attestationId)).links, {});
});

test('a record that another node has just made can be reviewed', async () => {
  await until('the nodes are connected', () => node.context.transport.peers().some((peer) => peer.connected));
  const originalAttestationId = await other.attest({ n: ++unique });
  const body = accepted(await post('/v1/human-override', { originalAttestationId, allowUnresolved: false }));
  assert.is(body.originalFound, true);
});

test('assessments are answered with exactly their fields, and another word than the recommended is pointed out', async () => {
  const risk = {
    mitigations: [],
    residualRisk: 'low',
    assessedBy: 'a',
    assessmentDate: '2026-01-31',
    reviewDueAt: '2099-01-01',
  };
  const body = accepted(await post('/v1/risk-assessment', risk));
  shapeCheck(RiskAssessmentAnswerShape)(body);
  fieldsAre(body, ['assessmentId', 'isoClause', 'isoClauses', 'standard', 'articles']);
  assert.equal([body.isoClause, body.isoClauses, body.articles], ['6.1', ['6.1.2', '8.2'], ['9']]);
  assert.is(body.standard, 'ISO/IEC 42001:2023');
  assert.equal(body.warnings, []);
  const odd = accepted(await post('/v1/risk-assessment', { residualRisk: 'acceptable' }));
  assert.match(String(odd.warnings), /^residualRisk: "acceptable" is none of low, medium, high, critical/);
  assert.is((await recordOf(odd.attestationId)).claims.residualRisk, 'acceptable');

  const impact = { affectedStakeholders: ['s'], potentialHarms: ['h'], overallRating: 'medium-risk', assessedBy: 'a' };
  const second = accepted(await post('/v1/impact-assessment', impact));
  shapeCheck(ImpactAssessmentAnswerShape)(second);
  fieldsAre(second, ['assessmentId', 'isoClause', 'isoClauses', 'standard', 'articles', 'relatedArticles']);
  assert.equal([second.isoClause, second.isoClauses], ['8.2', ['6.1.4', '8.4']]);
  assert.equal([second.articles, second.relatedArticles, second.warnings], [['9'], ['27'], []]);
  const rated = accepted(await post('/v1/impact-assessment', { overallRating: 'medium' }));
  assert.match(String(rated.warnings), /^overallRating: "medium"/);
});

test('an impact assessment tells which points of Art. 27 it has, and signs nothing of their texts', async () => {
  const members = { processes: 'p', affectedGroups: ['secret group'], dpiaRef: 'DPIA-1', firstUseAt: '2027-12-02' };
  const { attestationId } = accepted(await post('/v1/impact-assessment', members));
  const stored = await readRecord(node.context.store, recordId(String(attestationId)));
  assert.ok(stored);
  assert.equal(stored.record.claims.given, [
    'affectedGroups',
    'dpiaRef',
    'firstUseAt',
    'intendedPurpose',
    'processes',
    'sourceId',
  ]);
  assert.not.match(stored.texts.head + stored.texts.body, /secret group|DPIA-1/);
  const moment = accepted(await post('/v1/impact-assessment', { firstUseAt: '2026-03-01T10:00:00+02:00' }));
  assert.is((await recordOf(moment.attestationId)).claims.asserted?.firstUseAt, '2026-03-01T08:00:00.000Z');
});

test('an impact assessment supersedes another one, by either of its ids, and nothing else', async () => {
  const { assessmentId, attestationId } = accepted(await post('/v1/impact-assessment'));
  for (const supersedes of [String(assessmentId), String(attestationId)]) {
    const next = accepted(await post('/v1/impact-assessment', { supersedes }));
    assert.equal((await recordOf(next.attestationId)).links, { supersedes: attestationId });
  }
  const risk = accepted(await post('/v1/risk-assessment'));
  for (const supersedes of [NOTHING, 'none', String(risk.attestationId)]) {
    const refused = await post('/v1/impact-assessment', { supersedes });
    requireProblem(refused, 'attestation-not-found', supersedes, 'supersedes');
  }
  const foreign = await post(
    '/v1/impact-assessment',
    { supersedes: String(attestationId) },
    { key: API_KEYS.enterprise },
  );
  requireProblem(foreign, 'attestation-not-found', 'of another account', 'supersedes');
});

test('a repeated request is answered as the first time, whatever happened since', async () => {
  const sessionId = String(accepted(await post('/v1/session/start')).sessionId);
  const originalAttestationId = await attest();
  const requests: readonly (readonly [path: string, body: JsonObject])[] = [
    ['/v1/session/end', { sessionId, sourceId: 'triage', outcome: 'fine', decisionCount: 0 }],
    ['/v1/human-override', { sourceId: 'triage', originalAttestationId, reviewerId: 'a' }],
    ['/v1/corrective-action', { ...LEAST['/v1/corrective-action'], status: 'in-progress' }],
  ];
  for (const [path, body] of requests) {
    const ask = { headers: { 'idempotency-key': `once ${path}` } };
    const first = accepted(await node.post(path, body, ask));
    await post('/v1/human-override', { originalAttestationId, reviewerId: 'b' });
    assert.equal(accepted(await node.post(path, body, ask)), first, path);
  }
});

test('governance needs its scope, and a key that reaches the source', async () => {
  const keyOf = async (terms: JsonObject) => String(accepted(await node.post('/v1/keys', terms)).apiKey);
  const ingest = await keyOf({ name: 'ingest', preset: 'ingest' });
  const bound = await keyOf({ name: 'bound', preset: 'compliance', sources: ['other'] });
  const auditor = await keyOf({ name: 'auditor', preset: 'auditor' });
  accepted(await post('/v1/session/start', {}, { key: ingest }));
  for (const path of Object.keys(LEAST) as GovernancePath[]) {
    requireProblem(await post(path, {}, { key: bound }), 'scope-forbidden', `${path} of another source`, 'sourceId');
    requireProblem(await post(path, {}, { key: auditor }), 'scope-forbidden', `${path} by an auditor`);
    if (path !== '/v1/session/start') requireProblem(await post(path, {}, { key: ingest }), 'scope-forbidden', path);
  }
  for (const path of ['/v1/incidents', '/v1/retention?sourceId=other']) {
    accepted(await node.get(path, { key: auditor }));
  }
});

for (const [path, members] of LONG) {
  test(`accepted: ${path} with ${Object.keys(members).join(', ')} of full length`, async () => {
    accepted(await post(path, members));
  });
}

for (const [path, members, field] of REFUSED) {
  test(`refused: ${path} with ${JSON.stringify(members).slice(0, 60)}`, async () => {
    requireProblem(await post(path, members), 'invalid-field', path, field);
  });
}

test('refused: what has not happened yet', async () => {
  const future: readonly (readonly [path: GovernancePath, members: JsonObject])[] = [
    ['/v1/human-override', { reviewedAt: FUTURE }],
    ['/v1/incident', { incidentPeriodStart: FUTURE }],
    ['/v1/incident', { incidentPeriodEnd: FUTURE }],
    ['/v1/incident', { awarenessAt: FUTURE }],
    ['/v1/risk-assessment', { assessmentDate: FUTURE }],
  ];
  for (const [path, members] of future) {
    requireProblem(await post(path, members), 'time-in-future', path, Object.keys(members)[0]);
  }
});

test('refused: every endpoint without a required member', async () => {
  for (const path of Object.keys(LEAST) as GovernancePath[]) {
    for (const name of Object.keys(LEAST[path])) {
      if (name === 'allowUnresolved') continue;
      const { [name]: _, ...rest } = LEAST[path] as JsonObject;
      requireProblem(await node.post(path, rest), 'missing-field', `${path} without ${name}`, name);
    }
  }
});

test('an impact assessment on fundamental rights has its members one by one, and is revised by another', async () => {
  const members = {
    processes: 'p',
    usePeriod: 'daily',
    affectedGroups: ['applicants'],
    specificRisks: ['r'],
    oversightMeasures: ['o'],
    riskMeasures: ['m'],
    firstUseAt: '2027-01-01',
    dpiaRef: 'D-1',
    systemRef: 'scoring',
  };
  const first = accepted(await post('/v1/impact-assessment', members));
  const { claims } = await recordOf(first.attestationId);
  assert.equal(claims.asserted, { systemRef: 'scoring', firstUseAt: '2027-01-01T00:00:00.000Z' });
  for (const name of Object.keys(members)) assert.ok(claims.given?.includes(name), name);
  const second = accepted(await post('/v1/impact-assessment', { supersedes: String(first.assessmentId) }));
  assert.is((await recordOf(second.attestationId)).links.supersedes, first.attestationId);
  const ofOtherKind = await post('/v1/risk-assessment', { supersedes: String(first.assessmentId) });
  requireProblem(ofOtherKind, 'attestation-not-found', 'of another kind', 'supersedes');
});

test('what a corrective action does to a system, and until when, is signed', async () => {
  const members = { dueAt: '2027-01-31', suspendedAt: '2026-01-02T00:00:00Z', measure: 'disabled' };
  const { claims } = await recordOf(accepted(await post('/v1/corrective-action', members)).attestationId);
  assert.equal(claims.asserted, {
    dueAt: '2027-01-31T00:00:00.000Z',
    suspendedAt: '2026-01-02T00:00:00.000Z',
    measure: 'disabled',
  });
  const odd = await post('/v1/corrective-action', { dueAt: 'soon' });
  requireProblem(odd, 'invalid-field', 'no time', 'dueAt');
});

test('the stores are whole', async () => {
  for (const each of [node, other]) {
    await each.stop();
    assert.equal((await fsck(each.config.home)).report.findings, []);
  }
});

test.run();

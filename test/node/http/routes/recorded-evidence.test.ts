import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { BundleVerdictShape } from '../../../../protocol/api/bundles.ts';
import { VerifyAnswerShape } from '../../../../protocol/api/verify.ts';
import { isJsonObject, type JsonObject } from '../../../../protocol/json/value.ts';
import { nobleSuite } from '../../../../protocol/suite/noble.ts';
import { parseBundle } from '../../../../protocol/verdict/parse.ts';
import { verifyBundle } from '../../../../protocol/verdict/verify.ts';
import { TestNetwork } from '../../../fixtures/test-network.ts';
import type { HttpAnswer } from '../../../fixtures/test-node.ts';
import { until } from '../../../fixtures/until.ts';
import { shapeCheck } from '../answer-shape.ts';

const network = await TestNetwork.start({ ledger: 'local' });
const node = network.node();
test.after(() => network[Symbol.asyncDispose]());
const requireVerdict = shapeCheck(VerifyAnswerShape);
const requireBundleVerdict = shapeCheck(BundleVerdictShape);
const SOURCE = { sourceId: 'loans' };
const REVIEWER = 'anna.schmidt@example';

function accepted({ status, body, text }: HttpAnswer): JsonObject {
  assert.is(status, 200, text);
  return body;
}

async function post(path: string, members: JsonObject): Promise<JsonObject> {
  return accepted(await node.post(path, { ...SOURCE, ...members }));
}

async function verdictOf(id: string): Promise<JsonObject> {
  const body = accepted(await node.get(`/v1/verify/${id}`));
  requireVerdict(body);
  return body;
}

/** The evidence of an answer, without the time when it was gathered. */
function evidenceIn(answer: { readonly evidence?: unknown }): JsonObject {
  const { evidence } = answer;
  if (!hasMembers(evidence)) throw new TypeError('the answer has no evidence');
  const { evaluatedAt: _, ...rest } = evidence;
  return rest;
}

function hasMembers(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** State of each fact. */
function statesIn({ facts }: JsonObject): JsonObject {
  const list = Array.isArray(facts) ? facts.filter(isJsonObject) : [];
  return Object.fromEntries(list.map(({ key, state }) => [String(key), state ?? null]));
}

const session = await post('/v1/session/start', {});
const occurredAt = new Date(Date.now() - 90_000).toISOString();
const decision = String(
  (
    await post('/v1/tiered-attest', {
      data: { input: { case: 7 }, output: 'refuse' },
      model_ref: { model_id: 'm', model_version: '1' },
      confidenceScore: 0.9,
      sessionId: String(session.sessionId),
      occurredAt,
    })
  ).attestationId,
);
const review = String(
  (
    await post('/v1/human-override', {
      originalAttestationId: decision,
      reviewerId: REVIEWER,
      reviewOutcome: 'stopped',
    })
  ).attestationId,
);
await post('/v1/session/end', { sessionId: String(session.sessionId) });
await node.seal();
await until('it is confirmed', async () => (await verdictOf(decision)).verified === true);

test('a verdict says beside the flags which facts are recorded, and nobody is named', async () => {
  const answer = await verdictOf(decision);
  const evidence = evidenceIn(answer);
  assert.equal(answer.complianceStatus, {
    article12_1: true,
    article12_2: true,
    article12_3b: false,
    article14: true,
  });
  assert.equal(evidence.kindOfRecord, 'ai-system-event');
  assert.equal(statesIn(evidence), {
    event: 'recorded',
    input: 'recorded',
    traceability: 'recorded',
    'period-of-use': 'not-recorded',
    'reference-database': 'not-recorded',
    'matched-input': 'not-recorded',
    reviewer: 'recorded',
    review: 'recorded',
    intervention: 'recorded',
    'second-reviewer': 'not-recorded',
  });
  const { eventTime, periodOfUse, reviews } = evidence;
  assert.is(isJsonObject(eventTime ?? null) && Object(eventTime).asserted, occurredAt);
  assert.ok(Object(eventTime).lagSeconds >= 90);
  assert.equal(periodOfUse, { basis: 'asserted-event-time', recordTimeWithin: true, eventTimeWithin: false });
  assert.equal([Object(reviews)[0].attestationId, Object(reviews)[0].stopped], [review, true]);
  assert.not.match(JSON.stringify(evidence), /anna|hmac-sha256/);
});

test('a node and a bundle with no network say the same, of every record of the account', async () => {
  const pin = node.context.keys.rosters.genesis;
  for (const id of [decision, review, String(session.attestationId)]) {
    const said = evidenceIn(await verdictOf(id));
    const bundle = accepted(await node.get(`/v1/bundles/${id}?linked=1`));
    const offline = verifyBundle(nobleSuite, parseBundle(bundle), { pin });
    assert.equal([offline.word, evidenceIn({ ...offline.evidence })], ['verified', said], id);
    const brought = accepted(await node.post('/v1/bundles/verify', bundle, { key: null }));
    requireBundleVerdict(brought);
    assert.equal(evidenceIn(brought), said, id);
  }
});

test('a public proof shows the evidence of nothing', async () => {
  const proof = accepted(await node.get(`/v1/proofs/${decision}`, { key: null }));
  const evidence = evidenceIn(accepted(await node.post('/v1/bundles/verify', proof, { key: null })));
  assert.is(evidence.kindOfRecord, 'unknown');
  assert.equal(new Set(Object.values(statesIn(evidence))), new Set(['not-recorded']));
});

function erase(id: string): Promise<HttpAnswer> {
  return node.post('/v1/erasures', { attestationIds: [id], legalBasis: 'GDPR Article 17(1)(b)', requestedBy: 'dpo' });
}

test('what is erased stays recorded, and the node says that its commitment alone is left', async () => {
  const before = await verdictOf(decision);
  assert.equal(
    [before.evidenceState, before.reviewEvidence],
    ['held', [{ attestationId: review, evidenceState: 'held' }]],
  );
  accepted(await erase(review));
  const unnamed = await verdictOf(decision);
  assert.equal(
    [unnamed.evidenceState, unnamed.reviewEvidence],
    ['held', [{ attestationId: review, evidenceState: 'commitment-only' }]],
  );
  const { attestationId: erasure } = accepted(await erase(decision));
  const after = await verdictOf(decision);
  assert.is(after.evidenceState, 'commitment-only');
  assert.equal(evidenceIn(after), evidenceIn(before));
  const ofErasure = await verdictOf(String(erasure));
  assert.is(evidenceIn(ofErasure).kindOfRecord, 'not-applicable');
  assert.is(Object(ofErasure.complianceStatus).article12_1, true);
});

test.run();

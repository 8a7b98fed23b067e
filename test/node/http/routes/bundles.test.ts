import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { BundleVerdictShape } from '../../../../protocol/api/bundles.ts';
import { isJsonObject, type JsonObject } from '../../../../protocol/json/value.ts';
import { nobleSuite } from '../../../../protocol/suite/noble.ts';
import { parseBundle, parsePublicProofText } from '../../../../protocol/verdict/parse.ts';
import { verifyBundle } from '../../../../protocol/verdict/verify.ts';
import { TestNetwork } from '../../../fixtures/test-network.ts';
import { API_KEYS } from '../../../fixtures/test-node.ts';
import { until } from '../../../fixtures/until.ts';
import { shapeCheck } from '../answer-shape.ts';
import { requireProblem } from '../problem-shape.ts';

const DAY_MS = 86_400_000;
/** How far the node's clock is ahead of the true one. In milliseconds. */
let ahead = 0;
const network = await TestNetwork.start({ ledger: 'local', overrides: { now: () => Date.now() + ahead } });
const node = network.node();
test.after(() => network[Symbol.asyncDispose]());
const requireBundleVerdict = shapeCheck(BundleVerdictShape);
let unique = 0;

const confirmed = await node.attest(
  { n: ++unique, output: 'yes' },
  { modelId: 'm', modelVersion: '1', riskLevel: 'low' },
);
const elsewhere = await node.attest({ n: ++unique }, { sourceId: 'else' });
await node.seal();
await until('the batch is confirmed', async () => (await statusOf(confirmed)).status === 'confirmed');

async function statusOf(id: string): Promise<JsonObject> {
  return (await node.get(`/v1/status/${id}`)).body;
}

test('a bundle is for its owner', async () => {
  const { status, body, headers } = await node.get(`/v1/bundles/${confirmed}`);
  assert.is(status, 200);
  assert.match(headers.get('content-type') ?? '', /^application\/json/);
  assert.is(body.format, 'meridian-bundle/2');
  assert.is(body.disclosure, undefined);
  for (const query of ['', '?partial=1', '?disclosure=1']) {
    const answer = await node.get(`/v1/bundles/${confirmed}${query}`, { key: API_KEYS.enterprise });
    requireProblem(answer, 'scope-forbidden', query);
  }
});

test('a bundle of a record that waits is 409 unless a partial one is asked for', async () => {
  const id = await node.attest({ n: ++unique });
  requireProblem(await node.get(`/v1/bundles/${id}`), 'not-yet-anchored', 'open');
  requireProblem(await node.get(`/v1/bundles/${id}?partial=0`), 'not-yet-anchored', 'not one');
  const { body } = await node.get(`/v1/bundles/${id}?partial=1`);
  assert.equal([body.batch, body.decision], [null, null]);
  const judged = await node.post('/v1/bundles/verify', body, { key: null });
  assert.equal([judged.status, judged.body.verified, judged.body.status], [200, false, 'pending']);
  assert.equal(judged.body.checks, { ...checks(true), payloadHashMatch: false });
});

test('a Developer account is given proofs for seven days, and anyone verifies for ever', async () => {
  const key = API_KEYS.developer;
  const id = await node.attest({ n: ++unique }, {}, { key });
  const path = `/v1/bundles/${id}?partial=1`;
  const { body: status } = await node.get(`/v1/status/${id}`, { key });
  const ends = Date.parse(String(status.submittedAt)) + 7 * DAY_MS;
  assert.is(status.proofWindowEndsAt, new Date(ends).toISOString());
  assert.is((await node.get(path, { key })).headers.get('x-proof-window-ends-at'), status.proofWindowEndsAt);
  try {
    ahead = ends - Date.now() - 60_000;
    assert.is((await node.get(path, { key })).status, 200);
    ahead = ends - Date.now();
    const late = await node.get(path, { key });
    requireProblem(late, 'proof-window-expired', 'after seven days');
    assert.is(late.body.proofWindowEndsAt, status.proofWindowEndsAt);
    assert.is((await node.get(`/v1/bundles/${confirmed}`)).status, 200);
    assert.is((await node.get(`/v1/verify/${id}`, { key: null })).body.sigValid, true);
    assert.is((await node.get(`/v1/status/${id}`, { key })).status, 200);
  } finally {
    ahead = 0;
  }
  assert.is((await statusOf(id)).proofWindowEndsAt, null);
  const own = await node.get(`/v1/bundles/${confirmed}`);
  assert.is(own.headers.get('x-proof-window-ends-at'), null);
});

test('a key that is bound to sources is given their bundles alone', async () => {
  const { body } = await node.post('/v1/keys', { preset: 'auditor', sources: ['test'] });
  const key = String(body.apiKey);
  assert.is((await node.get(`/v1/bundles/${confirmed}`, { key })).status, 200);
  requireProblem(await node.get(`/v1/bundles/${elsewhere}`, { key }), 'scope-forbidden', 'another source');
});

test('a bundle is asked for by known switches', async () => {
  for (const query of ['linked=yes', 'linked=1&linked=1', 'everything=1']) {
    requireProblem(await node.get(`/v1/bundles/${confirmed}?${query}`), 'invalid-field', query);
  }
  assert.equal((await node.get(`/v1/bundles/${confirmed}?linked=1`)).body.linked, []);
  assert.is((await node.get(`/v1/bundles/${confirmed}?linked=0`)).body.linked, undefined);
});

test('a bundle is judged for anyone, and every change of it is found', async () => {
  const { body: bundle } = await node.get(`/v1/bundles/${confirmed}?disclosure=1`);
  const whole = await node.post('/v1/bundles/verify', bundle, { key: null });
  requireBundleVerdict(whole.body);
  assert.equal([whole.body.verified, whole.body.payloadState], [true, 'available']);
  assert.equal(whole.body.checks, checks(true));
  assert.equal(whole.body.problems, []);
  const pin = node.context.keys.rosters.genesis;
  assert.is(verifyBundle(nobleSuite, parseBundle(bundle), { pin }).word, 'verified');
  assert.is(verifyBundle(nobleSuite, parseBundle(bundle)).word, 'consistent');
  const { record } = parseBundle(bundle);
  const { head, body } = record;
  if (body === null) throw new TypeError('a bundle without the body');
  for (const change of [
    { ...record, body: body.replace('"riskLevel":"low"', '"riskLevel":"hig"') },
    { ...record, head: head.replace('"kind":"decision"', '"kind":"incident"') },
  ]) {
    assert.not.equal(change, record);
    const changed = await node.post('/v1/bundles/verify', { ...bundle, record: change }, { key: null });
    assert.equal([changed.status, changed.body.verified], [200, false]);
    assert.ok(Array.isArray(changed.body.problems) && changed.body.problems.length > 0);
  }
});

test('a malformed bundle is 400', async () => {
  const { body: bundle } = await node.get(`/v1/bundles/${confirmed}`);
  const malformed: JsonObject[] = [
    {},
    { ...bundle, format: 'meridian-bundle/3' },
    { ...bundle, extra: 1 },
    { ...bundle, record: {} },
    { ...bundle, checkpoints: null },
    { ...bundle, rosters: [] },
    { ...bundle, decision: { ...member(bundle, 'decision'), text: 1 } },
    { ...bundle, receipt: { ...member(bundle, 'receipt'), signature: 'not base64url!' } },
  ];
  for (const [index, value] of malformed.entries()) {
    requireProblem(await node.post('/v1/bundles/verify', value, { key: null }), 'bundle-malformed', `bundle ${index}`);
  }
});

test('a bundle of the release before is refused in a line that says what to do', async () => {
  const answer = await node.post('/v1/bundles/verify', { format: 'meridian-bundle/1', record: '{}' }, { key: null });
  requireProblem(answer, 'bundle-malformed', 'of 0.1');
  assert.match(String(answer.body.detail), /release 0\.1 .* fetch the bundle/);
});

test('what the log knows otherwise is contradicted, whatever the bundle says', async () => {
  const { body: bundle } = await node.get(`/v1/bundles/${confirmed}`);
  const decision = member(bundle, 'decision');
  const text = String(decision.text).replace(/"sequence":"\d+"/, '"sequence":"999"');
  const judged = await node.post('/v1/bundles/verify', { ...bundle, decision: { ...decision, text } }, { key: null });
  assert.equal([judged.body.verified, member(judged.body, 'verdict').word], [false, 'contradicted']);
});

test('a public proof shows the head alone, to whoever has the id', async () => {
  const { status, text } = await node.get(`/v1/proofs/${confirmed}`, { key: null });
  assert.is(status, 200);
  const proof = parsePublicProofText(text);
  assert.is(proof.record.body, null);
  assert.not.match(text, 'unmetered');
  const verdict = verifyBundle(nobleSuite, proof, { pin: node.context.keys.rosters.genesis });
  assert.equal([verdict.word, verdict.record?.id], ['verified', confirmed]);
  const judged = await node.post('/v1/bundles/verify', text, { key: null });
  requireBundleVerdict(judged.body);
  assert.equal([judged.body.verified, judged.body.witnessed], [true, true]);
  const unknown = `${confirmed.slice(0, -1)}${confirmed.endsWith('Z') ? 'Y' : 'Z'}`;
  requireProblem(await node.get(`/v1/proofs/${unknown}`, { key: null }), 'attestation-not-found', 'unknown');
});

function member(of: JsonObject, name: string): JsonObject {
  const value = of[name];
  if (value === undefined || !isJsonObject(value)) throw new TypeError(`${name} is no object`);
  return value;
}

function checks(value: boolean): JsonObject {
  return { leafRederived: value, payloadHashMatch: value, proofWalk: value, bundleBinding: value, sigValid: value };
}

test.run();

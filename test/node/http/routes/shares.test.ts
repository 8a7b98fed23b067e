import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { MadeShareAnswerShape, SharesAnswerShape } from '../../../../protocol/api/shares.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../../protocol/json/value.ts';
import { parseBundleText } from '../../../../protocol/verdict/parse.ts';
import { fsck } from '../../../../node/fsck/fsck.ts';
import { TestNetwork } from '../../../fixtures/test-network.ts';
import { API_KEYS, type Ask, type HttpAnswer } from '../../../fixtures/test-node.ts';
import { until } from '../../../fixtures/until.ts';
import { shapeCheck } from '../answer-shape.ts';
import { requireProblem } from '../problem-shape.ts';

const DAY_MS = 86_400_000;
const SECRET = 'what the model was asked';
/** How far the node's clock is ahead. In milliseconds. */
let ahead = 0;
const network = await TestNetwork.start({ nodes: ['eu', 'us'], overrides: { now: () => Date.now() + ahead } });
const node = network.node('eu');
test.after(() => network[Symbol.asyncDispose]());
const attested = await node.attest({ text: SECRET });

function accepted({ status, body, text }: HttpAnswer): JsonObject {
  assert.is(status, 200, text);
  return body;
}

async function made(
  body: JsonObject = {},
  ask: Ask = {},
): Promise<{ shareId: string; token: string; body: JsonObject }> {
  const answer = accepted(await node.post(`/v1/bundles/${attested}/share`, body, ask));
  const { share = null } = answer;
  const [, token = ''] = String(answer.url).split('#share=');
  return { shareId: isJsonObject(share) ? String(share.shareId) : '', token, body: answer };
}

function shared(token: string): Promise<HttpAnswer> {
  return node.get(`/v1/shared/${token}`, { key: null });
}

async function statuses(): Promise<ReadonlyMap<string, JsonValue>> {
  const body = accepted(await node.get('/v1/shares'));
  shapeCheck(SharesAnswerShape)(body);
  const shares = Array.isArray(body.shares) ? body.shares.filter(isJsonObject) : [];
  return new Map(shares.map(({ shareId, status = null }) => [String(shareId), status]));
}

test('a link gives the bundle to whoever has it, without the content, and is used in the log of the account', async () => {
  const { shareId, token, body } = await made({ label: 'auditor' });
  shapeCheck(MadeShareAnswerShape)(body);
  assert.match(String(body.url), new RegExp(`/v/${attested}#share=`));
  assert.is(body.apiUrl, `${node.baseUrl}/v1/shared/${token}`);
  const { status, text, headers } = await shared(token);
  assert.is(status, 200);
  assert.is(parseBundleText(text).disclosure, undefined);
  assert.not.ok(text.includes(SECRET));
  assert.equal([headers.get('cache-control'), headers.get('referrer-policy')], ['no-store', 'no-referrer']);
  await until('the use is in the log', async () => {
    const { entries } = accepted(await node.get('/v1/audit-log?order=newest'));
    const uses = Array.isArray(entries) ? entries.filter(isJsonObject).filter(({ by }) => by === shareId) : [];
    return uses.some(({ action, subject }) => action === 'GET /v1/shared/:token' && subject === attested);
  });
});

test('its certificate has the bundle of the link inside', async () => {
  const { token } = await made();
  const answer = await fetch(`${node.baseUrl}/v1/shared/${token}/certificate`);
  assert.equal([answer.status, answer.headers.get('content-type')], [200, 'application/pdf']);
  const bundle = (await shared(token)).text;
  const pdf = Buffer.from(await answer.arrayBuffer()).toString('latin1');
  assert.ok(pdf.includes(bundle.slice(0, 200)), 'attached as it is');
  requireProblem(await node.get(`/v1/shared/${'A'.repeat(43)}/certificate`, { key: null }), 'link-invalid', 'none');
});

test('with disclosure it gives the content too', async () => {
  const { token } = await made({ disclosure: true });
  assert.ok((await shared(token)).text.includes(SECRET));
});

test('the secret of a link is in no line of the log, no answer but the first, and no row', async () => {
  const { token } = await made();
  await shared(token);
  await shared(`${token.slice(0, -1)}A`);
  assert.not.ok(node.log.some((line) => line.includes(token) || line.includes(token.slice(0, -1))));
  assert.not.ok(JSON.stringify(accepted(await node.get('/v1/shares'))).includes(token));
  assert.not.ok((await node.get('/v1/audit-log?order=newest')).text.includes(token));
});

test('one that ended, was revoked, never was, or whose key ended is answered alike', async () => {
  const ended = await made({ expiresAt: new Date(Date.now() + DAY_MS).toISOString() });
  const revoked = await made();
  const { shareId, token } = revoked;
  accepted(await node.post(`/v1/shares/${shareId}/revoke`, {}));
  accepted(await node.post(`/v1/shares/${shareId}/revoke`, {}));
  const { apiKey, key = null } = accepted(await node.post('/v1/keys', { preset: 'compliance' }));
  const ofKey = await made({}, { key: String(apiKey) });
  assert.is((await shared(ofKey.token)).status, 200);
  const keyId = isJsonObject(key) ? String(key.id) : '';
  accepted(await node.post(`/v1/keys/${keyId}/revoke`, {}));
  ahead = 2 * DAY_MS;
  const refused = await Promise.all([ended.token, token, ofKey.token, 'A'.repeat(43), 'short'].map(shared));
  for (const each of refused) requireProblem(each, 'link-invalid', each.text);
  const details = new Set(refused.map(({ body: { detail } }) => detail));
  assert.is(details.size, 1);
  const said = await statuses();
  assert.equal([said.get(ended.shareId), said.get(shareId)], ['expired', 'revoked']);
  ahead = 0;
});

test('it ends after seven days where nothing is said, and ninety at most', async () => {
  const { body } = await made();
  const { share = null } = body;
  const days = isJsonObject(share) ? (Date.parse(String(share.expiresAt)) - Date.now()) / DAY_MS : 0;
  assert.is(Math.round(days), 7);
  const path = `/v1/bundles/${attested}/share`;
  const at = (ms: number) => ({ expiresAt: new Date(Date.now() + ms).toISOString() });
  for (const bad of [at(91 * DAY_MS), at(-1_000), { expiresAt: 'soon' }]) {
    requireProblem(await node.post(path, bad), 'invalid-field', JSON.stringify(bad), 'expiresAt');
  }
  requireProblem(await node.post(path, { disclosure: 'yes' }), 'invalid-field', 'disclosure', 'disclosure');
  requireProblem(await node.post(path, { more: 1 }), 'invalid-field', 'unknown', 'more');
});

test('only a key of the account that may, and that sees the record, makes or ends one', async () => {
  const path = `/v1/bundles/${attested}/share`;
  requireProblem(await node.post(path, {}, { key: null }), 'api-key-missing', 'no key');
  requireProblem(await node.post(path, {}, { key: API_KEYS.enterprise }), 'scope-forbidden', 'another account');
  for (const terms of [{ preset: 'auditor' }, { preset: 'compliance', sources: ['other'] }]) {
    const { apiKey } = accepted(await node.post('/v1/keys', terms));
    requireProblem(await node.post(path, {}, { key: String(apiKey) }), 'scope-forbidden', JSON.stringify(terms));
    const { shares } = accepted(await node.get('/v1/shares', { key: String(apiKey) }));
    if ('sources' in terms) {
      assert.equal(shares, []);
      const { shareId } = await made();
      const unseen = await node.post(`/v1/shares/${shareId}/revoke`, {}, { key: String(apiKey) });
      requireProblem(unseen, 'share-not-found', 'of a source that the key does not reach');
    }
  }
  const { shareId } = await made();
  const foreign = await node.post(`/v1/shares/${shareId}/revoke`, {}, { key: API_KEYS.enterprise });
  requireProblem(foreign, 'share-not-found', 'another account');
  const none = 'att_eu_01J0000000000000000000000A';
  requireProblem(await node.post(`/v1/bundles/${none}/share`, {}), 'attestation-not-found', 'no record');
});

test('the store is whole, and holds digests alone', async () => {
  const { token } = await made();
  await node.stop();
  assert.equal((await fsck(node.config.home)).report.findings, []);
  await node.start();
  assert.is((await shared(token)).status, 200, 'over a start');
});

test.run();

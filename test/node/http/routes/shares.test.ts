import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { MAX_SHARES, OPENED_PER_MINUTE } from '../../../../node/accounts/sharing/shares.ts';
import { restorationTable } from '../../../../node/federation/start/restoration-table.ts';
import { fsck } from '../../../../node/fsck/fsck.ts';
import { Store } from '../../../../node/store/store.ts';
import { MadeShareAnswerShape, RevokedShareAnswerShape, SharesAnswerShape } from '../../../../protocol/api/shares.ts';
import { isJsonObject, type JsonObject } from '../../../../protocol/json/value.ts';
import { nobleSuite } from '../../../../protocol/suite/noble.ts';
import { timestampOf } from '../../../../protocol/time.ts';
import { parseBundle } from '../../../../protocol/verdict/parse.ts';
import { verifyBundle } from '../../../../protocol/verdict/verify.ts';
import { TestNetwork } from '../../../fixtures/test-network.ts';
import { type Ask, API_KEYS, type HttpAnswer } from '../../../fixtures/test-node.ts';
import { until } from '../../../fixtures/until.ts';
import { shapeCheck } from '../answer-shape.ts';
import { requireProblem } from '../problem-shape.ts';

const DAY_MS = 86_400_000;
const NO_KEY = { key: null };
const UNKNOWN_TOKEN = 'A'.repeat(43);
/** How far the node's clock is ahead of the true one. In milliseconds. */
let ahead = 0;
const network = await TestNetwork.start({ ledger: 'local', overrides: { now: () => Date.now() + ahead } });
const node = network.node();
test.after(() => network[Symbol.asyncDispose]());
test.before.each(() => {
  ahead = 0;
});

const requireCreated = shapeCheck(MadeShareAnswerShape);
const requireListed = shapeCheck(SharesAnswerShape);
const requireRevoked = shapeCheck(RevokedShareAnswerShape);

const confirmed = await node.attest({ secret: 'of the payload' });
const erased = await node.attest({ secret: 'to be erased' });
await node.seal();
await until('the batch is confirmed', async () =>
  (await Promise.all([confirmed, erased].map((id) => node.get(`/v1/status/${id}`)))).every(
    ({ body }) => body.status === 'confirmed',
  ),
);

interface Link {
  readonly id: string;
  readonly token: string;
  /** Of the JSON, without the address of the node. */
  readonly path: string;
  /** For people. */
  readonly url: string;
  readonly body: JsonObject;
}

const share = (id: string, body: JsonObject = {}, ask: Ask = {}): Promise<HttpAnswer> =>
  node.post(`/v1/bundles/${id}/share`, body, ask);

async function shared(id = confirmed, body: JsonObject = {}, ask: Ask = {}): Promise<Link> {
  return linkOf(await share(id, body, ask));
}

function linkOf(answer: HttpAnswer): Link {
  assert.is(answer.status, 200, answer.text);
  requireCreated(answer.body);
  const token = String(answer.body.apiUrl).split('/').at(-1) ?? '';
  const body = memberOf(answer.body, 'share');
  return { id: String(body.shareId), token, path: `/v1/shared/${token}`, url: String(answer.body.url), body };
}

function memberOf(of: JsonObject, name: string): JsonObject {
  const value = of[name];
  if (value === undefined || !isJsonObject(value)) throw new TypeError(`${name} is no object`);
  return value;
}

async function listed(ask: Ask = {}): Promise<readonly JsonObject[]> {
  const { body } = await node.get('/v1/shares', ask);
  requireListed(body);
  return Array.isArray(body.shares) ? body.shares.filter(isJsonObject) : [];
}

async function newKey(terms: JsonObject): Promise<{ readonly key: string; readonly id: string }> {
  const { body, text } = await node.post('/v1/keys', terms);
  if (!isJsonObject(body.key ?? null)) throw new Error(text);
  return { key: String(body.apiKey), id: String(Object(body.key).id) };
}

function isFrom(spent: readonly JsonObject[], { id }: Link): JsonObject {
  const found = spent.find(({ shareId }) => shareId === id);
  if (found === undefined) throw new Error(`${id} is not listed`);
  return found;
}

test('a link gives the bundle to whoever has it, without a key', async () => {
  const before = Date.now();
  const answer = await node.send('POST', `/v1/bundles/${confirmed}/share`, undefined);
  const { body, token, path, url } = linkOf(answer);
  assert.is(answer.headers.get('cache-control'), 'no-store');
  assert.match(token, /^[A-Za-z0-9_-]{43}$/);
  assert.is(url, `${node.context.baseUrl()}/v/${confirmed}#share=${token}`);
  assert.is(answer.body.apiUrl, `${node.context.baseUrl()}${path}`);
  assert.equal([body.disclosure, body.linked, body.label, body.uses], [false, false, null, 0]);
  const days = (Date.parse(String(body.expiresAt)) - before) / DAY_MS;
  assert.ok(days >= 7 && days < 7.01, String(days));

  const given = await node.get(path, NO_KEY);
  assert.is(given.status, 200, given.text);
  const header = (name: string) => given.headers.get(name);
  assert.equal(['cache-control', 'referrer-policy', 'x-robots-tag'].map(header), [
    'no-store',
    'no-referrer',
    'noindex',
  ]);
  assert.equal([header('access-control-allow-origin'), header('content-encoding')], [null, null]);
  assert.equal(given.body, (await node.get(`/v1/bundles/${confirmed}`)).body);
  assert.not.match(given.text, 'of the payload');
  const pin = node.context.keys.rosters.genesis;
  assert.is(verifyBundle(nobleSuite, parseBundle(given.body), { pin }).word, 'verified');
});

test('its certificate has the bundle of the link inside', async () => {
  const { token, path } = await shared();
  const answer = await fetch(`${node.baseUrl}${path}/certificate`);
  assert.equal([answer.status, answer.headers.get('content-type')], [200, 'application/pdf']);
  const pdf = Buffer.from(await answer.arrayBuffer()).toString('latin1');
  assert.ok(pdf.includes((await node.get(path, NO_KEY)).text.slice(0, 200)), 'attached as it is');
  assert.not.ok(pdf.includes(token));
  const none = await node.get(`/v1/shared/${UNKNOWN_TOKEN}/certificate`, NO_KEY);
  requireProblem(none, 'link-invalid', 'none');
  assert.is(none.body.instance, '/v1/shared/:token');
});

test('terms that are none are refused, and make nothing', async () => {
  const before = (await listed()).length;
  const soon = new Date(Date.now() + DAY_MS).toISOString();
  const cases: readonly (readonly [JsonObject, string])[] = [
    [{ expiresInDays: 0 }, 'expiresInDays'],
    [{ expiresInDays: 91 }, 'expiresInDays'],
    [{ expiresInDays: 1.5 }, 'expiresInDays'],
    [{ expiresInDays: 1, expiresAt: soon }, 'expiresAt'],
    [{ expiresAt: new Date(Date.now() - 1000).toISOString() }, 'expiresAt'],
    [{ expiresAt: new Date(Date.now() + 90 * DAY_MS + 60_000).toISOString() }, 'expiresAt'],
    [{ expiresAt: 'tomorrow' }, 'expiresAt'],
    [{ disclosure: 1 }, 'disclosure'],
    [{ linked: 'yes' }, 'linked'],
    [{ label: '' }, 'label'],
    [{ label: 'x'.repeat(201) }, 'label'],
    [{ token: UNKNOWN_TOKEN }, 'token'],
  ];
  for (const [body, field] of cases) {
    requireProblem(await share(confirmed, body), 'invalid-field', JSON.stringify(body).slice(0, 60), field);
  }
  requireProblem(await share('att_eu_nothing'), 'invalid-field', 'no id', 'id');
  const unknown = `${confirmed.slice(0, -1)}${confirmed.endsWith('Z') ? 'Y' : 'Z'}`;
  requireProblem(await share(unknown), 'attestation-not-found', 'unknown');
  assert.is((await listed()).length, before);
  assert.is((await shared(confirmed, { expiresInDays: 90, label: 'é'.repeat(200) })).body.label, 'é'.repeat(200));
  assert.is((await shared(confirmed, { expiresAt: soon })).body.expiresAt, soon);
});

test('payload and linked records are given where the link allows them, and nowhere else', async () => {
  const plain = await shared();
  for (const name of ['disclosure', 'linked']) {
    requireProblem(await node.get(`${plain.path}?${name}=1`, NO_KEY), 'scope-forbidden', name, name);
    assert.is((await node.get(`${plain.path}?${name}=0`, NO_KEY)).status, 200);
  }
  requireProblem(await node.get(`${plain.path}?everything=1`, NO_KEY), 'invalid-field', 'unknown', 'everything');
  const open = await shared(confirmed, { disclosure: true, linked: true });
  for (const query of ['', '?disclosure=1&linked=1']) {
    const given = await node.get(open.path + query, NO_KEY);
    assert.match(given.text, 'of the payload');
    assert.equal([given.status, given.body.linked], [200, []]);
  }
  const bare = await node.get(`${open.path}?disclosure=0&linked=0`, NO_KEY);
  assert.not.match(bare.text, 'of the payload');
  assert.is(bare.body.linked, undefined);
});

test('a record that waits is given as it stands; a payload that was erased is not given, and its proof is', async () => {
  const waits = await shared(await node.attest({ waits: true }));
  assert.equal((await node.get(waits.path, NO_KEY)).body.batch, null);

  const link = await shared(erased, { disclosure: true });
  assert.match((await node.get(link.path, NO_KEY)).text, 'to be erased');
  const erasure = { attestationIds: [erased], legalBasis: 'GDPR 17(1)(b)', requestedBy: 'subject' };
  assert.is((await node.post('/v1/erasures', erasure)).status, 200);
  requireProblem(await node.get(`${link.path}?disclosure=1`, NO_KEY), 'payload-erased', 'erased');
  for (const query of ['', '?disclosure=0']) {
    const given = await node.get(link.path + query, NO_KEY);
    assert.equal([given.status, given.body.disclosure], [200, undefined], query);
  }
  requireProblem(await share(erased, { disclosure: true }), 'payload-erased', 'a new link');
});

test('what never was a link, has ended or was revoked is refused in the same words, by as many reads', async () => {
  const maker = await newKey({ preset: 'admin' });
  const [revoked, ended, keyless] = [
    await shared(),
    await shared(confirmed, { expiresInDays: 1 }),
    await shared(confirmed, { expiresInDays: 2 }, maker),
  ];
  assert.is((await node.post(`/v1/shares/${revoked.id}/revoke`, {})).status, 200);
  assert.is((await node.post(`/v1/keys/${maker.id}/revoke`, {})).status, 200);
  ahead = DAY_MS + 1;
  const { store } = node.context;
  const get = store.get.bind(store);
  const told = new Map<string, string>();
  const tokens = [
    UNKNOWN_TOKEN,
    revoked.token,
    ended.token,
    keyless.token,
    revoked.token.slice(0, 21),
    `${revoked.token}A`,
    'x',
    '%00',
    'a%2Fb',
  ];
  try {
    for (const token of tokens) {
      let reads = 0;
      store.get = (key) => {
        if (/^(share|account|api-key|account-key)\//.test(key)) reads++;
        return get(key);
      };
      const answer = await node.get(`/v1/shared/${token}`, NO_KEY);
      requireProblem(answer, 'link-invalid', token);
      const { requestId: _, ...body } = answer.body;
      assert.is(body.instance, '/v1/shared/:token');
      assert.equal(
        [answer.headers.get('referrer-policy'), answer.headers.get('x-robots-tag')],
        ['no-referrer', 'noindex'],
      );
      told.set(JSON.stringify([body, reads]), token);
    }
  } finally {
    store.get = get;
  }
  assert.is(told.size, 1, [...told].join('\n'));
});

test('the secret is in the answer alone: in no row, no log and no problem, whatever is done with the path', async () => {
  const link = await shared(confirmed, { disclosure: true, label: 'for the court' }, withOnce('secret'));
  const { shares, auditLog } = node.context;
  const enter = shares.enter.bind(shares);
  shares.enter = () => Promise.reject(new Error('a fault'));
  const answers = [await node.get(link.path, NO_KEY)];
  requireProblem(answers[0] ?? raise(), 'internal', 'a fault');
  shares.enter = enter;
  answers.push(
    await node.get(link.path.replace('/v1', '/verify/v1'), NO_KEY),
    await node.post(link.path, {}, NO_KEY),
    await node.get(`${link.path}/more`, NO_KEY),
    await node.get(`${link.path}?nonsense=1`, NO_KEY),
    await node.get('/v1/shares'),
    await node.get('/v1/audit-log'),
  );
  await auditLog.flush();
  for (const { text } of answers.slice(0, 1).concat(answers.slice(2))) assert.not.match(text, link.token);
  for await (const [key, value] of node.context.store.range({})) {
    assert.not.ok(Buffer.from(value).includes(link.token) || key.includes(link.token), key);
  }
  const log = node.log.join('');
  assert.match(log, '/v1/shared/:token');
  assert.not.match(log, link.token);
  assert.not.match(await node.metrics(), link.token);
});

test('a member of another account shares, sees and ends nothing', async () => {
  const other = { key: API_KEYS.enterprise };
  const link = await shared();
  requireProblem(await share(confirmed, {}, other), 'scope-forbidden', 'another account');
  requireProblem(await node.post(`/v1/shares/${link.id}/revoke`, {}, other), 'share-not-found', 'revoke');
  assert.equal(await listed(other), []);
  assert.is((await node.get(link.path, other)).status, 200, 'a link is for whoever has it');
});

test('keys without the scope make and end none; a key of other sources does not know of them', async () => {
  const link = await shared();
  const without = [
    { preset: 'ingest' },
    { preset: 'auditor' },
    { scopes: ['proof:read', 'keys:admin', 'export:read', 'audit:read'] },
    { scopes: ['governance:write'] },
  ];
  for (const terms of without) {
    const { key } = await newKey(terms);
    requireProblem(await share(confirmed, {}, { key }), 'scope-forbidden', JSON.stringify(terms));
    if ('scopes' in terms && terms.scopes.includes('governance:write')) continue;
    requireProblem(await node.post(`/v1/shares/${link.id}/revoke`, {}, { key }), 'scope-forbidden', 'revoke');
  }
  const elsewhere = await newKey({ preset: 'admin', sources: ['elsewhere'] });
  requireProblem(await share(confirmed, {}, elsewhere), 'scope-forbidden', 'another source');
  requireProblem(await node.post(`/v1/shares/${link.id}/revoke`, {}, elsewhere), 'share-not-found', 'another source');
  assert.equal(await listed(elsewhere), []);
  assert.is((await node.get(link.path, NO_KEY)).status, 200);
});

test('a link ends with the key that made it, and never reaches beyond it', async () => {
  const at = new Date(Date.now() + 3 * DAY_MS).toISOString();
  const short = await newKey({ preset: 'admin', expiresAt: at });
  assert.is((await shared(confirmed, {}, short)).body.expiresAt, at, 'the usual days are cut at the end of the key');
  requireProblem(await share(confirmed, { expiresInDays: 4 }, short), 'scope-forbidden', 'beyond', 'expiresInDays');
  const rotated = await newKey({ preset: 'admin' });
  const link = await shared(confirmed, {}, rotated);
  assert.is((await node.post(`/v1/keys/${rotated.id}/rotate`, { overlapSeconds: 60 })).status, 200);
  assert.is((await node.get(link.path, NO_KEY)).status, 200, 'within the overlap');
  ahead = 61_000;
  requireProblem(await node.get(link.path, NO_KEY), 'link-invalid', 'the overlap is over');
  assert.is(isFrom(await listed(), link).status, 'key-ended');
});

test('a link ends by itself, and by being revoked at once and for good', async () => {
  const link = await shared(confirmed, { expiresInDays: 1 });
  ahead = DAY_MS - 60_000;
  assert.is((await node.get(link.path, NO_KEY)).status, 200);
  ahead = DAY_MS;
  requireProblem(await node.get(link.path, NO_KEY), 'link-invalid', 'ended');
  assert.is(isFrom(await listed(), link).status, 'expired');
  ahead = 0;
  const { body } = await node.post(`/v1/shares/${link.id}/revoke`, {});
  requireRevoked(body);
  requireProblem(await node.get(link.path, NO_KEY), 'link-invalid', 'revoked');
  assert.equal((await node.post(`/v1/shares/${link.id}/revoke`, {})).body, body);
  for (const id of ['shr_eu_nothing', 'key_eu_01KAJ4T2C7Y0QW5H8ZN6XDR9MB']) {
    requireProblem(await node.post(`/v1/shares/${id}/revoke`, {}), 'invalid-field', id, 'id');
  }
  const unknown = 'shr_eu_01KAJ7F6W8Y3B5D7G9J1M3P5RS';
  requireProblem(await node.post(`/v1/shares/${unknown}/revoke`, {}), 'share-not-found', 'unknown');
});

test('every use is counted, and is a line of the account’s log that names link, record and address', async () => {
  const link = await shared(confirmed, { label: 'the regulator' });
  await node.get(link.path, NO_KEY);
  await node.get(`${link.path}?disclosure=1`, { key: null, headers: { 'x-request-id': 'of-the-regulator' } });
  await node.post(`/v1/shares/${link.id}/revoke`, {});
  await node.get(link.path, NO_KEY);
  const spent = isFrom(await listed(), link);
  assert.equal([spent.uses, spent.label, spent.status], [2, 'the regulator', 'revoked']);
  assert.ok(Math.abs(Date.parse(String(spent.lastUsedAt)) - Date.now()) < 60_000);
  await node.context.auditLog.flush();
  const { entries } = (await node.get('/v1/audit-log?limit=20')).body;
  const lines = (Array.isArray(entries) ? entries.filter(isJsonObject) : []).filter(
    ({ by, subject }) => by === link.id || subject === link.id,
  );
  const facts = lines.map(({ action, by, status, subject, address }) => [action, by, status, subject, address]);
  const key = spent.madeBy ?? null;
  const at = '127.0.0.1';
  assert.equal(facts, [
    ['POST /v1/shares/:id/revoke', key, 200, link.id, at],
    ['share.revoked', key, null, link.id, null],
    ['GET /v1/shared/:token', link.id, 403, confirmed, at],
    ['GET /v1/shared/:token', link.id, 200, confirmed, at],
    ['share.created', key, null, link.id, null],
  ]);
  assert.is(lines[2]?.requestId, 'of-the-regulator');
});

test('the same Idempotency-Key makes one link, and is answered as the first time', async () => {
  const before = (await listed()).length;
  const first = await share(confirmed, { label: 'once' }, withOnce('a'));
  const [again, atOnce] = await Promise.all([0, 1].map(() => share(confirmed, { label: 'once' }, withOnce('a'))));
  assert.equal([again?.body, atOnce?.body], [first.body, first.body]);
  assert.is((await node.get(linkOf(first).path, NO_KEY)).status, 200);
  requireProblem(await share(confirmed, { label: 'other' }, withOnce('a')), 'idempotency-conflict', 'another body');
  const waits = await node.attest({ another: 'record' });
  requireProblem(await share(waits, { label: 'once' }, withOnce('a')), 'idempotency-conflict', 'another record');
  requireProblem(
    await share(confirmed, {}, withOnce('k'.repeat(129))),
    'invalid-field',
    'a long one',
    'Idempotency-Key',
  );
  assert.is((await listed()).length, before + 1);
  await node.stop();
  await node.start();
  assert.equal((await share(confirmed, { label: 'once' }, withOnce('a'))).body, first.body, 'after a restart');
  assert.not.equal((await share(confirmed, { label: 'once' }, withOnce('b'))).body, first.body);
});

test('whoever may have proofs for seven days shares them for as long', async () => {
  const ask = { key: API_KEYS.developer };
  const id = await node.attest({ n: 1 }, {}, ask);
  const answer = await share(id, { expiresInDays: 30 }, ask);
  const { path } = linkOf(answer);
  assert.ok(Date.parse(answer.headers.get('x-proof-window-ends-at') ?? '') > Date.now());
  assert.is((await node.get(`${path}`, NO_KEY)).status, 200);
  ahead = 7 * DAY_MS + 1;
  requireProblem(await node.get(`${path}`, NO_KEY), 'proof-window-expired', 'after seven days');
  requireProblem(await share(id, {}, ask), 'proof-window-expired', 'a new link');
});

test('a link is opened so many times a minute, and links of one account are bounded', async () => {
  const link = await shared();
  for (let i = 0; i < OPENED_PER_MINUTE; i++) assert.is((await node.get(link.path)).status, 200);
  const refused = await node.get(link.path);
  requireProblem(refused, 'rate-limited', 'too often');
  assert.match(refused.headers.get('retry-after') ?? '', /^\d+$/);
  const open = async () => (await listed()).filter(({ status }) => status === 'active').length;
  for (let count = await open(); count < MAX_SHARES; count++) await shared();
  requireProblem(await share(confirmed), 'too-many-shares', 'one more');
  assert.is((await node.post(`/v1/shares/${link.id}/revoke`, {})).status, 200);
  await shared();
  assert.is((await listed()).length, MAX_SHARES);
  requireProblem(await share(confirmed), 'too-many-shares', 'one more');
});

test('a link survives a restart; one that an older copy of the store brought back does not work', async () => {
  const spent = (await listed()).find(({ status }) => status === 'active');
  await node.post(`/v1/shares/${String(spent?.shareId)}/revoke`, {});
  const link = await shared();
  await node.stop();
  await node.start();
  assert.is((await node.get(link.path, NO_KEY)).status, 200);
  await node.stop();
  const { findings } = (await fsck(node.config.home)).report;
  assert.equal(
    findings.filter(({ table }) => table.includes('share')),
    [],
  );
  await noteCopied();
  await node.start();
  requireProblem(await node.get(link.path, NO_KEY), 'link-invalid', 'of the copy');
  assert.is(isFrom(await listed(), link).status, 'revoked');
  const later = await shared();
  await node.stop();
  await node.start();
  assert.is((await node.get(later.path, NO_KEY)).status, 200, 'made since');
});

/** As if the store were a copy of this moment, whose node has learned how far its chain goes. */
async function noteCopied(): Promise<void> {
  await using store = await Store.open(`${node.config.home}/store`);
  const takenAt = timestampOf(Date.now());
  const end = { batch: 1, next: 2 };
  const settled = { at: takenAt, end, sealedAt: takenAt, peers: [], sequence: '1' };
  await store.write([restorationTable.put([node.config.id, takenAt], { takenAt, held: end, unsealed: 0, settled })]);
}

function withOnce(key: string): Ask {
  return { headers: { 'idempotency-key': key } };
}

function raise(): never {
  throw new Error('no answer');
}

test.run();

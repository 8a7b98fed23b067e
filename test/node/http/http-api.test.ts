import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { JsonObject } from '../../../protocol/json/value.ts';
import { TestNetwork } from '../../fixtures/test-network.ts';
import { API_KEYS, type Ask } from '../../fixtures/test-node.ts';
import { requireProblem } from './problem-shape.ts';
import { dial, rawAnswer } from './raw-answer.ts';

const network = await TestNetwork.start();
const node = network.node();
test.after(() => network[Symbol.asyncDispose]());

const UNKNOWN_ID = 'att_eu_01M7Y82XBT6DYXP8Y3D6SYTJ5H';
const MOUNTS = ['', '/verify'];
const POSTS = ['/v1/attest', '/v1/tiered-attest', '/v1/bundles/verify'];
const KEYED_GETS = [`/v1/status/${UNKNOWN_ID}`, `/v1/bundles/${UNKNOWN_ID}`];
const FREE_GETS = ['/v1/health', '/v1/federation', '/problems/invalid-json'];
const SELDOM_CHANGED = [
  '/openapi.json',
  '/llms.txt',
  '/.well-known/x402.json',
  '/.well-known/x402',
  '/problems/invalid-json',
  '/v1/frameworks',
  '/v1/rosters',
  '/v1/signing-keys',
  '/v1/revocations',
  '/v1/chains/eu',
];
let unique = 0;

function decision(): JsonObject {
  return { sourceId: 's', data: { n: ++unique } };
}

test('every endpoint answers at the root and below /verify', async () => {
  for (const mount of MOUNTS) {
    assert.is((await node.post(`${mount}/v1/attest`, decision())).status, 200);
    assert.is((await node.post(`${mount}/v1/tiered-attest`, decision())).status, 200);
    for (const path of FREE_GETS) assert.is((await node.get(mount + path, { key: null })).status, 200, path);
    for (const path of [...KEYED_GETS, `/v1/verify/${UNKNOWN_ID}`]) {
      assert.is((await node.get(mount + path)).body.code, 'attestation-not-found', path);
    }
    requireProblem(await node.post(`${mount}/v1/bundles/verify`, {}), 'bundle-malformed', mount);
  }
});

test('a path that spells the pattern of a route is one of its paths', async () => {
  const plain = await node.get('/v1/status/none');
  assert.equal((await node.get('/v1/status/:id')).body.code, plain.body.code);
  const tile = await node.get('/v1/log/tile/none', { key: null });
  assert.equal((await node.get('/v1/log/tile/*tile', { key: null })).body.code, tile.body.code);
});

test('there is no other route', async () => {
  for (const path of [
    '/none',
    '/v1',
    '/v1/',
    '/v1/attest/x',
    '/v2/attest',
    '/verify/verify/v1/health',
    '/V1/health',
    '/accounts',
    '/metrics',
    '/verify/metrics',
  ]) {
    requireProblem(await node.get(path), 'route-not-found', path);
  }
  requireProblem(
    await node.post('/accounts', { id: 'x', tier: 'unmetered', apiKey: 'k'.repeat(40) }),
    'route-not-found',
    'operator',
  );
});

test('another method is 405 and names those that there are', async () => {
  for (const path of POSTS) {
    for (const method of ['GET', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
      // There, `verify` stands where an id would.
      if (method === 'GET' && path === '/v1/bundles/verify') continue;
      if (method === 'OPTIONS' && path === '/v1/bundles/verify') continue;
      const answer = await node.send(method, path, undefined);
      requireProblem(answer, 'method-not-allowed', `${method} ${path}`);
      assert.match(answer.headers.get('allow') ?? '', /\bPOST\b/);
    }
  }
  for (const path of [...KEYED_GETS, ...FREE_GETS]) {
    const answer = await node.send('DELETE', path, undefined);
    requireProblem(answer, 'method-not-allowed', path);
    const preflight = FREE_GETS.includes(path) ? ['OPTIONS'] : [];
    assert.equal(answer.headers.get('allow')?.split(', ').toSorted(), ['GET', 'HEAD', ...preflight]);
  }
});

test('pages of any origin may call what is free, read its refusals, and nothing that takes a key', async () => {
  const page = { key: null, headers: { origin: 'https://page.example', 'access-control-request-method': 'POST' } };
  const open = [...FREE_GETS, `/v1/verify/${UNKNOWN_ID}`, '/v1/bundles/verify'];
  for (const path of open) {
    const preflight = await node.send('OPTIONS', path, undefined, page);
    assert.is(preflight.status, 204, path);
    assert.is(preflight.text, '');
    assert.is(preflight.headers.get('access-control-allow-origin'), '*');
    assert.match(preflight.headers.get('access-control-allow-headers') ?? '', 'Content-Type');
    assert.not.match(preflight.headers.get('access-control-allow-headers') ?? '', /x-api-key/i);
  }
  const answers = await Promise.all(open.slice(0, -1).map((path) => node.get(path, page)));
  answers.push(await node.post('/v1/bundles/verify', '{', page));
  for (const { headers, text } of answers) assert.is(headers.get('access-control-allow-origin'), '*', text);
  for (const path of KEYED_GETS) {
    requireProblem(await node.send('OPTIONS', path, undefined, page), 'method-not-allowed', path);
    assert.is((await node.get(path)).headers.get('access-control-allow-origin'), null);
  }
});

test('no answer is sniffed for another type, and none that takes a key is kept by a cache', async () => {
  for (const path of [...FREE_GETS, ...KEYED_GETS, '/nowhere']) {
    const { headers } = await node.get(path);
    assert.is(headers.get('x-content-type-options'), 'nosniff', path);
    if (KEYED_GETS.includes(path)) assert.is(headers.get('cache-control'), 'no-store', path);
  }
});

test('what changes seldom is asked for once: who holds it is told that it is the same', async () => {
  for (const path of SELDOM_CHANGED) {
    const first = await node.get(path, { key: null });
    const tag = first.headers.get('etag') ?? '';
    assert.match(tag, /^"[^"]+"$/, path);
    assert.match(first.headers.get('cache-control') ?? '', /^public, /, path);
    const again = await node.get(path, { key: null, headers: { 'if-none-match': tag } });
    assert.equal([again.status, again.text, again.headers.get('etag')], [304, '', tag], path);
  }
});

test('what is true for a moment is kept by no cache', async () => {
  for (const path of [
    '/v1/health',
    '/v1/federation',
    '/v1/log/checkpoints',
    `/v1/verify/${await node.attest({ n: ++unique })}`,
  ]) {
    const { headers } = await node.get(path, { key: null });
    assert.equal([headers.get('cache-control'), headers.get('etag')], ['no-store', null], path);
  }
});

test('what is sold cannot be had from a node that takes no payments, and is no fault in its log', async () => {
  const before = node.log.length;
  const answer = await node.get('/v1/x402/hedera-facts/supply', { key: null });
  requireProblem(answer, 'payment-unavailable', 'no till');
  assert.ok(Number(answer.headers.get('retry-after')) > 0);
  const faults = node.log.slice(before).filter((line) => Number(JSON.parse(line).level) >= 50);
  assert.equal(faults, []);
});

test('HEAD answers as GET does, without a body', async () => {
  const id = await node.attest({ n: ++unique });
  for (const path of [...FREE_GETS, `/v1/verify/${id}`, `/v1/status/${id}`, `/v1/bundles/${id}?partial=1`]) {
    const answer = await node.send('HEAD', path, undefined);
    assert.is(answer.status, 200, path);
    assert.is(answer.text, '');
    assert.ok(Number(answer.headers.get('content-length')) > 0, path);
  }
  assert.is((await node.send('HEAD', `/v1/verify/${UNKNOWN_ID}`, undefined)).status, 404);
});

test('keyed endpoints want a key that is known', async () => {
  const asks: readonly (readonly [Ask, 'api-key-missing' | 'api-key-invalid'])[] = [
    [{ key: null }, 'api-key-missing'],
    [{ key: '' }, 'api-key-missing'],
    [{ key: 'k'.repeat(40) }, 'api-key-invalid'],
    [{ key: `${API_KEYS.developer}0` }, 'api-key-invalid'],
    [{ key: API_KEYS.developer.toUpperCase() }, 'api-key-invalid'],
    [{ key: 'k'.repeat(5000) }, 'api-key-invalid'],
    [{ key: null, headers: { authorization: `Bearer ${API_KEYS.developer}` } }, 'api-key-missing'],
  ];
  for (const [ask, code] of asks) {
    for (const path of KEYED_GETS) requireProblem(await node.get(path, ask), code, path);
    for (const path of POSTS.slice(0, 2)) requireProblem(await node.post(path, decision(), ask), code, path);
  }
});

test('every 401 says by what a caller proves who it is, and nothing else asks for it', async () => {
  const challenge = 'ApiKey realm="meridian", header="x-api-key"';
  const made = await node.post('/v1/keys', { scopes: ['proof:read'] });
  await node.post(`/v1/keys/${String(Object(made.body.key).id)}/revoke`, {});
  for (const key of [null, 'k'.repeat(40), String(made.body.apiKey)]) {
    for (const path of KEYED_GETS) {
      const answer = await node.get(path, { key });
      assert.equal([answer.status, answer.headers.get('www-authenticate')], [401, challenge], path);
    }
  }
  for (const path of ['/v1/usage', '/v1/nothing', `/v1/verify/${UNKNOWN_ID}`]) {
    assert.is((await node.get(path)).headers.get('www-authenticate'), null, path);
  }
});

test('the key is asked for before the body is looked at', async () => {
  requireProblem(await node.post('/v1/attest', '{', { key: null }), 'api-key-missing', 'broken body');
  const huge = ' '.repeat(1_100_000);
  requireProblem(await node.post('/v1/attest', huge, { key: null }), 'api-key-missing', 'huge body');
  const plain = { key: null, headers: { 'content-type': 'text/plain' } };
  requireProblem(await node.post('/v1/attest', '{}', plain), 'api-key-missing', 'another type');
});

test('size comes before syntax, syntax before fields, fields before links', async () => {
  requireProblem(await node.post('/v1/attest', '{'.repeat(1_100_000)), 'payload-too-large', 'huge and broken');
  requireProblem(await node.post('/v1/attest', '{"sessionId":'), 'invalid-json', 'broken');
  requireProblem(await node.post('/v1/attest', { sessionId: 'ses_1' }), 'missing-field', 'no source', 'sourceId');
});

test('a body must be a JSON object in UTF-8 and say so', async () => {
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/json; charset=latin1']) {
    for (const path of POSTS) {
      const answer = await node.post(path, '{}', { headers: { 'content-type': type } });
      requireProblem(answer, 'unsupported-media-type', type);
    }
  }
  for (const text of ['', '[]', 'null', '"x"', '1', '{} {}', '{"a":NaN}', '\ufeff{}', '{"a":"\\ud800"}']) {
    for (const path of POSTS) requireProblem(await node.post(path, text), 'invalid-json', text);
  }
});

test('an id of another form is 400, one of the form that nobody knows is 404 with found:false', async () => {
  const malformed = [
    'x',
    'att_eu_01',
    'att_eu_01m7y82xbt6dyxp8y3d6sytj5h',
    `${UNKNOWN_ID}0`,
    '%E0%A4%A',
    '%00',
    `${UNKNOWN_ID}%2F..`,
  ];
  for (const path of ['/v1/verify/', '/v1/status/', '/v1/bundles/']) {
    for (const id of malformed) requireProblem(await node.get(path + id), 'invalid-field', path + id, 'id');
    for (const id of [UNKNOWN_ID, UNKNOWN_ID.replace('eu', 'us'), UNKNOWN_ID.replace('att', 'ses')]) {
      const answer = await node.get(path + id);
      requireProblem(answer, 'attestation-not-found', path);
      assert.is(answer.body.found, false);
      assert.is(answer.body.verified, false);
    }
  }
});

test('every answer carries a request id: the caller’s own where it is plain, else a fresh one', async () => {
  const plain = await node.get('/v1/health', { headers: { 'x-request-id': 'my.request-1' } });
  assert.is(plain.headers.get('x-request-id'), 'my.request-1');
  const seen = new Set<string | null>();
  for (const given of ['', 'a b', 'x'.repeat(65), '"><script>']) {
    const { headers } = await node.get('/nowhere', { headers: { 'x-request-id': given } });
    assert.match(headers.get('x-request-id') ?? '', /^req_[0-9a-f-]{36}$/);
    seen.add(headers.get('x-request-id'));
  }
  assert.is(seen.size, 4);
});

test('a host header that is no host disturbs nobody', async () => {
  const id = await node.attest({ n: ++unique });
  const request = `GET /v1/bundles/${id}?partial=1 HTTP/1.1\r\nHost: [\r\nx-api-key: ${API_KEYS.unmetered}\r\n\r\n`;
  assert.match(await rawAnswer(node, request), /^HTTP\/1\.1 200 /);
});

test('what is no HTTP at all is answered in the one shape too', async () => {
  for (const [request, status] of [
    ['nonsense\r\n\r\n', 400],
    [`GET /v1/health HTTP/1.1\r\nHost: x\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`, 431],
  ] as const) {
    const text = await rawAnswer(node, request);
    assert.match(text, new RegExp(`^HTTP/1\\.1 ${status} `));
    assert.match(text, /content-type: application\/problem\+json/i);
    assert.match(text, '"success":false');
  }
});

test('who is refused before the body was read cannot go on sending it for long', async () => {
  const head = 'POST /v1/attest HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{';
  const socket = await dial(node);
  socket.setTimeout(0).write(head);
  const started = performance.now();
  let received = '';
  for await (const chunk of socket) received += String(chunk);
  assert.match(received, /^HTTP\/1\.1 401 /);
  assert.ok(performance.now() - started < 10_000);
});

test('no key, payload or secret ever stands in the log', async () => {
  const secret = 'the-secret-of-the-payload';
  const unknownKey = `mk_unknown_${'7'.repeat(40)}`;
  await node.post('/v1/attest', { sourceId: secret, data: { secret }, [secret]: secret });
  await node.post('/v1/attest', { sourceId: secret, data: { secret }, confidenceScore: secret });
  await node.post('/v1/attest', `{"${secret}"`);
  await node.get(`/v1/status/${UNKNOWN_ID}`, { key: unknownKey });
  const log = node.log.join('');
  assert.ok(log.includes('accepts records'));
  for (const word of [secret, unknownKey, ...Object.values(API_KEYS)]) assert.not.match(log, word);
});

test('a query that is not UTF-8 is refused where one is read, and is nothing elsewhere', async () => {
  requireProblem(await node.get('/v1/attestations?sourceId=%ff'), 'invalid-field', 'read', 'sourceId');
  for (const path of ['/v1/usage?%', '/v1/health?sourceId=%ff', '/openapi.json?x=%zz']) {
    assert.is((await node.get(path)).status, 200, path);
  }
  const recorded = await node.post('/v1/tiered-attest?50%off', { sourceId: 's', data: {} });
  assert.is(recorded.status, 200);
});

test.run();

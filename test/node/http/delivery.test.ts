import { request } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Caller } from '../../../node/accounts/caller.ts';
import { isPublic } from '../../../node/http/app.ts';
import { heldBody } from '../../../node/http/entity-tag.ts';
import { Problem } from '../../../node/http/problem.ts';
import type { Answer, FreeRoute, KeyRoute, OperatorRoute, PageRoute } from '../../../node/http/route.ts';
import { openGate, serveApp } from '../../fixtures/served-app.ts';

interface Received {
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

const LARGE = { text: 'the same again and again '.repeat(200) };
const LARGE_TEXT = JSON.stringify(LARGE);
const FOREVER = { 'Cache-Control': 'public, max-age=31536000, immutable' };
const OCTETS = { 'Content-Type': 'application/octet-stream' };
const documentation = { summary: '', answer: { contentType: 'application/json', example: '' }, problems: [] };
const caller: Caller = {
  account: { id: 'acc_eu_one', tier: 'developer' },
  key: { id: 'key_1', scopes: [], sources: null },
};

const free = (path: string, answer: Answer): FreeRoute => ({
  method: 'GET',
  path,
  access: 'free',
  documentation,
  answer: async () => answer,
});
const keyed = (path: string, answer: Answer): KeyRoute => ({
  method: 'GET',
  path,
  access: 'key',
  scope: null,
  documentation,
  answer: async () => answer,
});
const failing: FreeRoute = {
  ...free('/missing', { body: {} }),
  answer: async () => Promise.reject(new Problem('log-tile-not-found', 'x'.repeat(3_000))),
};

const app = await serveApp(
  openGate(() => caller),
  [
    free('/kept', { body: LARGE, headers: FOREVER }),
    free('/held', { ...heldBody(LARGE_TEXT), headers: { ...FOREVER, 'Content-Type': 'application/json' } }),
    free('/unsaid', { body: LARGE }),
    free('/small', { body: { a: 1 }, headers: FOREVER }),
    free('/tile', { body: Buffer.alloc(5_000, 7), headers: { ...FOREVER, ...OCTETS } }),
    free('/down', { status: 503, body: LARGE, headers: FOREVER }),
    keyed('/secret', { body: LARGE, headers: FOREVER }),
    failing,
  ],
);
test.after(async () => {
  await app[Symbol.asyncDispose]();
});

/** Asks with these headers and no others, and reads what comes as it is sent. */
async function ask(path: string, headers: Readonly<Record<string, string>> = {}, method = 'GET'): Promise<Received> {
  const { promise, resolve, reject } = Promise.withResolvers<Received>();
  request(app.base + path, { method, headers, agent: false }, (response) => {
    const chunks: Buffer[] = [];
    response.on('data', (chunk: Buffer) => chunks.push(chunk));
    response.on('error', reject);
    response.on('end', () =>
      resolve({ status: response.statusCode, headers: response.headers, body: Buffer.concat(chunks) }),
    );
  })
    .on('error', reject)
    .end();
  return promise;
}

test('who asks for no compression gets the bytes, their length and a strong validator', async () => {
  for (const path of ['/kept', '/held', '/verify/kept']) {
    const { status, headers, body } = await ask(path);
    assert.equal([status, body.toString()], [200, LARGE_TEXT], path);
    assert.match(String(headers['content-type']), /^application\/json/);
    assert.is(headers['content-length'], String(body.byteLength));
    assert.match(String(headers.etag), /^"[A-Za-z0-9_-]{32}"$/);
    assert.is(headers['cache-control'], FOREVER['Cache-Control']);
    assert.is(headers.vary, 'Accept-Encoding');
    assert.is(headers['content-encoding'], undefined);
  }
  assert.is((await ask('/kept')).headers.etag, (await ask('/held')).headers.etag);
});

test('who takes an encoding gets the same compressed, under a validator of its own', async () => {
  const unpack = { gzip: gunzipSync, br: brotliDecompressSync };
  const asks: readonly (readonly [string, 'gzip' | 'br'])[] = [
    ['gzip', 'gzip'],
    ['gzip, deflate', 'gzip'],
    ['GZIP;q=0.5', 'gzip'],
    ['br', 'br'],
    ['gzip;q=0.5, br;q=0.9', 'br'],
    ['gzip;q=0, *', 'br'],
  ];
  const tags = new Set([String((await ask('/kept')).headers.etag)]);
  for (const [accepted, encoding] of asks) {
    const { headers, body } = await ask('/kept', { 'accept-encoding': accepted });
    assert.is(headers['content-encoding'], encoding, accepted);
    assert.is(headers['content-length'], String(body.byteLength));
    assert.ok(body.byteLength < 500);
    assert.is(unpack[encoding](body).toString(), LARGE_TEXT);
    tags.add(String(headers.etag));
  }
  assert.is(tags.size, 3);
});

test('what takes no encoding, or says so in no way that is read, gets the bytes', async () => {
  for (const accepted of [
    '',
    'identity',
    'gzip;q=0',
    'deflate',
    'zstd',
    'x'.repeat(300),
    `gzip, ${'a,'.repeat(200)}`,
  ]) {
    const { headers, body } = await ask('/kept', { 'accept-encoding': accepted });
    assert.equal([headers['content-encoding'], body.toString()], [undefined, LARGE_TEXT], accepted);
  }
});

test('who holds it already is told so, with nothing besides', async () => {
  for (const accepted of ['identity', 'gzip', 'br']) {
    for (const path of ['/kept', '/held']) {
      const { headers } = await ask(path, { 'accept-encoding': accepted });
      const tag = String(headers.etag);
      for (const method of ['GET', 'HEAD']) {
        const again = await ask(path, { 'accept-encoding': accepted, 'if-none-match': `"x", W/${tag}` }, method);
        assert.equal([again.status, again.body.byteLength], [304, 0]);
        assert.equal([again.headers.etag, again.headers.vary], [tag, 'Accept-Encoding']);
        assert.is(again.headers['cache-control'], FOREVER['Cache-Control']);
        for (const name of ['content-length', 'content-type', 'content-encoding']) {
          assert.is(again.headers[name], undefined, name);
        }
      }
    }
  }
  assert.is((await ask('/kept', { 'if-none-match': '"other"' })).status, 200);
  assert.is((await ask('/kept', { 'if-none-match': '*' })).status, 304);
});

test('no cache keeps what a route does not say may be kept, nor a refusal', async () => {
  for (const path of ['/unsaid', '/missing', '/nowhere', '/verify/unsaid']) {
    for (const method of ['GET', 'POST']) {
      assert.is((await ask(path, {}, method)).headers['cache-control'], 'no-store', `${method} ${path}`);
    }
  }
});

test('HEAD has the headers of GET, in each encoding', async () => {
  for (const path of ['/kept', '/small', '/tile', '/unsaid', '/secret']) {
    for (const accepted of ['identity', 'gzip']) {
      const got = await ask(path, { 'accept-encoding': accepted });
      const head = await ask(path, { 'accept-encoding': accepted }, 'HEAD');
      assert.equal([head.status, head.body.byteLength], [200, 0]);
      for (const name of ['content-length', 'content-type', 'content-encoding', 'etag', 'vary', 'cache-control']) {
        assert.is(head.headers[name], got.headers[name], `${path} ${name}`);
      }
    }
  }
});

test('bytes that are no text are not compressed, and keep their type', async () => {
  const { headers, body } = await ask('/tile', { 'accept-encoding': 'gzip' });
  assert.equal(
    [headers['content-type'], headers['content-encoding'], headers.vary],
    [OCTETS['Content-Type'], undefined, undefined],
  );
  assert.is(body.byteLength, 5_000);
  assert.is((await ask('/tile', { 'if-none-match': String(headers.etag) })).status, 304);
  assert.is((await ask('/small', { 'accept-encoding': 'gzip' })).headers['content-encoding'], undefined);
});

test('what no cache may keep has no validator, but is compressed', async () => {
  for (const path of ['/unsaid', '/verify/unsaid']) {
    const { status, headers, body } = await ask(path, { 'accept-encoding': 'gzip', 'if-none-match': '*' });
    assert.equal([status, headers.etag, headers['content-encoding']], [200, undefined, 'gzip'], path);
    assert.is(gunzipSync(body).toString(), LARGE_TEXT);
  }
});

test('an answer to a key is never compressed and never held', async () => {
  const { status, headers, body } = await ask('/secret', { 'accept-encoding': 'gzip, br', 'if-none-match': '*' });
  assert.equal([status, body.toString()], [200, LARGE_TEXT]);
  assert.equal([headers['content-encoding'], headers.etag], [undefined, undefined]);
});

test('a refusal, or trouble, is sent as it is', async () => {
  for (const [path, expected] of [
    ['/missing', 404],
    ['/down', 503],
    ['/nowhere', 404],
  ] as const) {
    const { status, headers } = await ask(path, { 'accept-encoding': 'gzip', 'if-none-match': '*' });
    assert.equal([status, headers['content-encoding'], headers.etag], [expected, undefined, undefined], path);
  }
});

test("only what anyone may read is public: the operator's answers and those to who is signed in are not", () => {
  const operator: OperatorRoute = {
    method: 'POST',
    path: '/accounts',
    access: 'free',
    answer: async () => ({ body: {} }),
  };
  assert.is(isPublic(operator), false);
  assert.is(isPublic(keyed('/x', { body: {} })), false);
  assert.is(isPublic(free('/x', { body: {} })), true);
  const page: PageRoute = { ...operator, method: 'GET', isPage: true };
  const signedIn: PageRoute = { ...page, isSignedIn: true };
  assert.equal([isPublic(page), isPublic(signedIn)], [true, false]);
});

test.run();

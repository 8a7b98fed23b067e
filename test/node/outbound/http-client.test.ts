import { getEventListeners, once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  type HttpAnswer,
  type HttpDownload,
  HttpError,
  type HttpErrorCode,
  httpDownload,
  httpRequest,
} from '../../../node/outbound/http-client.ts';
import { fc } from '../../fixtures/properties.ts';

const MOST = 100;
const LIMITS = { timeoutMs: 10_000, maxBytes: MOST };
const SHORT_MS = 100;

let answer: (request: IncomingMessage, response: ServerResponse) => void = () => undefined;
let received: { method: string | undefined; url: string | undefined; headers: IncomingMessage['headers'] }[] = [];
const server = createServer((request, response) => {
  received.push({ method: request.method, url: request.url, headers: request.headers });
  answer(request, response);
}).listen(0, '127.0.0.1');
await once(server, 'listening');
// A TCP server that listens has an address of this form.
const { port } = server.address() as AddressInfo;
const url = `http://127.0.0.1:${port}/`;

test.before.each(() => {
  received = [];
});
test.after(() => {
  server.closeAllConnections();
  server.close();
});

async function errorOf(asking: Promise<unknown>): Promise<HttpError> {
  const error = await asking.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof HttpError)) throw new Error('not an HttpError', { cause: error });
  return error;
}

async function codeOf(asking: Promise<unknown>): Promise<HttpErrorCode> {
  return (await errorOf(asking)).code;
}

/** Requests whose answer is a given one. */
function reading(response: Response, maxBytes = MOST): Promise<HttpAnswer> {
  return httpRequest('http://answer.test/', { ...LIMITS, maxBytes, fetch: async () => response });
}

function streamed(chunks: readonly Uint8Array<ArrayBuffer>[]): Response {
  return new Response(
    new ReadableStream({
      start: (controller) => {
        for (const chunk of chunks) controller.enqueue(chunk);
        controller.close();
      },
    }),
  );
}

function textOf({ body }: HttpDownload): Promise<string> {
  return buffer(body()).then(String);
}

test('a body comes as it was sent, however it was cut, up to the very last byte', async () => {
  const chunk = fc.uint8Array({ maxLength: 60 }).map((bytes) => Uint8Array.from(bytes));
  await fc.assert(
    fc.asyncProperty(fc.array(chunk, { maxLength: 6 }), async (chunks) => {
      const whole = Buffer.concat(chunks);
      if (whole.length > MOST) assert.is(await codeOf(reading(streamed(chunks))), 'too-large');
      else assert.equal(Buffer.from((await reading(streamed(chunks))).bytes), whole);
    }),
  );
  assert.is((await reading(new Response('x'.repeat(MOST)))).bytes.length, MOST);
  assert.is(await codeOf(reading(new Response('x'.repeat(MOST + 1)))), 'too-large');
});

test('a byte order mark is left to the reader of the bytes', async () => {
  assert.equal([...(await reading(new Response('\ufeff{}'))).bytes], [0xef, 0xbb, 0xbf, 0x7b, 0x7d]);
});

test('where there is no body there are no bytes', async () => {
  const { status, bytes } = await reading(new Response(null, { status: 204 }), 0);
  assert.equal([status, bytes.length], [204, 0]);
});

test('what never ends is read no further, and is cut off', async () => {
  let sent = 0;
  let cut = false;
  const endless = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull: (controller) => {
      sent += 10;
      controller.enqueue(new Uint8Array(10));
    },
    cancel: () => {
      cut = true;
    },
  });
  assert.is(await codeOf(reading(new Response(endless))), 'too-large');
  assert.ok(cut);
  assert.ok(sent <= MOST + 30, `${sent} bytes`);
});

test('an error of the connection is passed on as it is', async () => {
  const fault = new Error('reset');
  const broken = new ReadableStream({ pull: (controller) => controller.error(fault) });
  const error = await errorOf(reading(new Response(broken, { status: 502 })));
  assert.equal([error.code, error.answer?.status, error.message], ['unreachable', 502, 'reset']);
  assert.is(error.cause, fault);
});

test('a request is sent as it is, and its answer is read whatever its status', async () => {
  answer = (request, response) => {
    request.pipe(response.writeHead(422, { 'x-own': 'yes' }));
  };
  const { status, ok, headers, bytes } = await httpRequest(`${url}path?q=1`, {
    ...LIMITS,
    method: 'POST',
    headers: { 'x-api-key': 'k' },
    body: '{"a":1}',
  });
  assert.equal([status, ok, headers.get('x-own'), Buffer.from(bytes).toString()], [422, false, 'yes', '{"a":1}']);
  assert.equal(
    received.map(({ method, url: path, headers: sent }) => [method, path, sent['x-api-key']]),
    [['POST', '/path?q=1', 'k']],
  );
});

test('the limit counts the bytes of a compressed body as they unpack', async () => {
  answer = (_, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('x'.repeat(100_000)));
  };
  assert.is(await codeOf(httpRequest(url, LIMITS)), 'too-large');
  assert.is((await httpRequest(url, { ...LIMITS, maxBytes: 100_000 })).bytes.length, 100_000);
});

test('the time of a request covers its body', async () => {
  for (const silent of [() => undefined, (_: IncomingMessage, response: ServerResponse) => void response.write('x')]) {
    answer = silent;
    const error = await errorOf(httpRequest(url, { ...LIMITS, timeoutMs: SHORT_MS }));
    assert.equal([error.code, error.message], ['late', `does not answer in ${SHORT_MS} ms`]);
  }
});

test('a caller that gives up ends its request, before and after the answer begins', async () => {
  assert.is(await codeOf(httpRequest(url, { ...LIMITS, signal: AbortSignal.abort() })), 'aborted');
  assert.is(received.length, 0);
  for (const begins of [false, true]) {
    const caller = new AbortController();
    const left = Promise.withResolvers<void>();
    answer = (_, response) => {
      response.on('close', left.resolve);
      if (begins) response.write('x');
      setTimeout(() => caller.abort(), SHORT_MS / 2);
    };
    assert.is(await codeOf(httpRequest(url, { ...LIMITS, signal: caller.signal })), 'aborted');
    await left.promise;
  }
});

test('a server that is not there is unreachable, and the message says why', async () => {
  const error = await errorOf(httpRequest('http://127.0.0.1:9/', LIMITS));
  assert.equal([error.code, error.answer], ['unreachable', null]);
  assert.match(error.message, /ECONNREFUSED|bad port/);
});

test('a redirect is an error, unless a request for a document follows it', async () => {
  answer = ({ url: path }, response) => {
    if (path === '/end') response.end('end');
    else response.writeHead(302, { location: '/end' }).end();
  };
  assert.is(await codeOf(httpRequest(url, LIMITS)), 'redirect');
  assert.is(await codeOf(httpRequest(url, { ...LIMITS, method: 'POST', body: '' })), 'redirect');
  assert.is(await codeOf(httpDownload(url, { silenceMs: 10_000 })), 'redirect');
  assert.equal(
    received.map(({ url: path }) => path),
    ['/', '/', '/'],
  );
  const followed = await httpRequest(url, { ...LIMITS, redirects: 'follow' });
  assert.is(Buffer.from(followed.bytes).toString(), 'end');
  assert.is(await textOf(await httpDownload(url, { silenceMs: 10_000, redirects: 'follow' })), 'end');
});

test('a redirect that may not be followed is an error', async () => {
  answer = (_, response) => response.writeHead(302, { location: 'https://elsewhere.test/' }).end();
  const error = await errorOf(httpRequest(url, { ...LIMITS, redirects: 'follow' }));
  assert.equal([error.code, error.message], ['redirect', 'leads to an address that is not followed']);
});

test('a validator goes back to the server, and what it says of the next document is handed on', async () => {
  answer = ({ headers }, response) => {
    if (headers['if-none-match'] === '"v1"') response.writeHead(304).end();
    else response.writeHead(200, { etag: '"v1"', 'last-modified': 'Fri, 20 Nov 2026 10:00:00 GMT' }).end('v1');
  };
  const first = await httpRequest(url, LIMITS);
  const validators = { etag: '"v1"', lastModified: 'Fri, 20 Nov 2026 10:00:00 GMT' };
  assert.equal([first.status, first.validators], [200, validators]);
  const second = await httpRequest(url, { ...LIMITS, validators: first.validators });
  assert.equal(
    [second.status, second.bytes.length, received[1]?.headers['if-modified-since']],
    [304, 0, validators.lastModified],
  );
  const third = await httpDownload(url, { silenceMs: 10_000, validators });
  assert.is(third.status, 304);
  await third.discard();
  assert.is('if-none-match' in (received[0]?.headers ?? {}), false);
});

test('a validator that is too long is not kept', async () => {
  answer = (_, response) => response.writeHead(200, { etag: `"${'x'.repeat(1_000)}"` }).end();
  assert.equal((await httpRequest(url, LIMITS)).validators, { etag: null, lastModified: null });
});

test('a download has no limit but silence: each piece has its own time', async () => {
  answer = async (_, response) => {
    for (let piece = 0; piece < 6; piece++) {
      response.write(String(piece));
      await new Promise((resolve) => setTimeout(resolve, SHORT_MS / 2));
    }
    response.end();
  };
  assert.is(await textOf(await httpDownload(url, { silenceMs: 2 * SHORT_MS })), '012345');
});

test('each address that a download is redirected to has its own time', async () => {
  answer = ({ url: path = '' }, response) => {
    const hop = Number(path.slice(1));
    setTimeout(() => {
      if (hop === 4) response.end('end');
      else response.writeHead(302, { location: `/${hop + 1}` }).end();
    }, SHORT_MS / 2);
  };
  assert.is(await textOf(await httpDownload(url, { silenceMs: 2 * SHORT_MS, redirects: 'follow' })), 'end');
  const late = await codeOf(httpRequest(url, { ...LIMITS, timeoutMs: 2 * SHORT_MS, redirects: 'follow' }));
  assert.is(late, 'late');
});

test('a request that is over leaves nothing at the signal of its caller, however it went', async () => {
  const { signal } = new AbortController();
  answer = ({ url: path }, response) => {
    if (path === '/long') response.write('x'.repeat(MOST + 1));
    else if (path === '/silent') response.write('x');
    else response.end('whole');
  };
  const download = (path: string) => httpDownload(url + path, { silenceMs: SHORT_MS, signal });
  await httpRequest(url, { ...LIMITS, signal });
  assert.is(await codeOf(httpRequest(`${url}long`, { ...LIMITS, signal })), 'too-large');
  assert.is(await codeOf(httpRequest(`${url}silent`, { ...LIMITS, timeoutMs: SHORT_MS, signal })), 'late');
  assert.is(await codeOf(httpRequest('http://127.0.0.1:9/', { ...LIMITS, signal })), 'unreachable');
  assert.is(await textOf(await download('')), 'whole');
  await (await download('long')).discard();
  for await (const _ of (await download('long')).body()) break;
  assert.is(await codeOf(textOf(await download('silent'))), 'late');
  assert.is(getEventListeners(signal, 'abort').length, 0);
});

test('a download that never begins, stops coming or is cut off is an error', async () => {
  answer = () => undefined;
  const never = await errorOf(httpDownload(url, { silenceMs: SHORT_MS }));
  assert.equal([never.code, never.message], ['late', `does not answer in ${SHORT_MS} ms`]);

  answer = (_, response) => void response.write('x');
  const stops = await errorOf(textOf(await httpDownload(url, { silenceMs: SHORT_MS })));
  assert.equal(
    [stops.code, stops.answer?.status, stops.message],
    ['late', 200, `sends nothing more in ${SHORT_MS} ms`],
  );

  answer = (_, response) => {
    response.writeHead(200, { 'content-length': 10 }).write('x');
    setTimeout(() => response.destroy(), SHORT_MS / 2);
  };
  assert.is(await codeOf(textOf(await httpDownload(url, { silenceMs: 10_000 }))), 'unreachable');
});

test('a caller that gives up a download ends it while its body comes', async () => {
  const caller = new AbortController();
  answer = (_, response) => {
    response.write('x');
    setTimeout(() => caller.abort(), SHORT_MS / 2);
  };
  const download = await httpDownload(url, { silenceMs: 10_000, signal: caller.signal });
  assert.is(await codeOf(textOf(download)), 'aborted');
});

test('a download whose caller stops reading is cut off', async () => {
  const left = Promise.withResolvers<void>();
  answer = (_, response) => {
    response.on('close', left.resolve);
    const more = (): void => {
      while (!response.destroyed && response.write(Buffer.alloc(64 << 10)));
      if (!response.destroyed) response.once('drain', more);
    };
    more();
  };
  const { body } = await httpDownload(url, { silenceMs: 10_000 });
  for await (const piece of body()) {
    assert.ok(piece.length > 0);
    break;
  }
  await left.promise;
});

test.run();

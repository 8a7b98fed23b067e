import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { pino } from 'pino';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { hashText } from '../../../../protocol/hash.ts';
import { nativeSuite } from '../../../../node/keys/native-suite.ts';
import type { RawDocument } from '../../../../node/services/regulatory-feed/read-document.ts';
import { refused } from '../../../../node/services/regulatory-feed/regwatch-error.ts';
import type { SourceState } from '../../../../node/services/regulatory-feed/regwatch-tables.ts';
import { SourceWatch } from '../../../../node/services/regulatory-feed/source-watch.ts';
import { Store } from '../../../../node/store/store.ts';
import { rss, terms } from './documents.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

let answer: (request: IncomingMessage, response: ServerResponse) => void = () => undefined;
let asked: IncomingMessage[] = [];
let ingested: string[] = [];
let now = Date.UTC(2026, 10, 21);
let ingestFails = false;

const server = createServer((request, response) => {
  asked.push(request);
  answer(request, response);
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
// A TCP server that listens has an address of this form.
const { port } = server.address() as AddressInfo;
const directory = await mkdtemp(join(tmpdir(), 'meridian-watch-'));
const store = await Store.open(directory);

test.after(async () => {
  server.closeAllConnections();
  server.close();
  await store[Symbol.asyncDispose]();
  await rm(directory, { recursive: true });
});
test.before.each(() => {
  asked = [];
  ingested = [];
  ingestFails = false;
});

let sources = 0;
function watch(path = '/', id = `source-${++sources}`): { watch: SourceWatch; state: () => Promise<SourceState> } {
  const opened = new SourceWatch({
    store,
    sources: [{ url: `http://127.0.0.1:${port}${path}`, intervalMs: HOUR, terms: terms({ id }) }],
    items: {
      async ingest({ bytes }: RawDocument) {
        if (ingestFails) throw refused('it is no feed');
        ingested.push(Buffer.from(bytes).toString());
        return { added: 1, changed: 0, unchanged: 0, skipped: 0, documentHash: hashText(nativeSuite, String(bytes)) };
      },
    },
    now: () => now,
    random: () => 0,
    log: pino({ level: 'silent' }),
  });
  return {
    watch: opened,
    async state() {
      const state = await opened.state(id);
      if (state === undefined) throw new Error('the source was not asked');
      return state;
    },
  };
}

function give(text: string, headers: Record<string, string> = {}): void {
  answer = (_request, response) => response.writeHead(200, headers).end(text);
}

function pause({ checkedAt, nextAt }: SourceState): number {
  return Date.parse(nextAt) - Date.parse(checkedAt);
}

test('a source is asked when it is due, and what it said of its document is said back to it', async () => {
  const { watch: one, state } = watch();
  give(rss('<title>a</title>'), { etag: '"v1"', 'last-modified': 'Fri, 20 Nov 2026 10:00:00 GMT' });
  await one.look();
  await one.look();
  assert.equal([asked.length, ingested.length], [1, 1]);
  assert.equal([(await state()).etag, pause(await state())], ['"v1"', HOUR]);
  answer = (_request, response) => response.writeHead(304).end();
  now += HOUR;
  await one.look();
  assert.equal(
    [asked[1]?.headers['if-none-match'], asked[1]?.headers['if-modified-since']],
    ['"v1"', 'Fri, 20 Nov 2026 10:00:00 GMT'],
  );
  assert.equal([ingested.length, (await state()).etag, (await state()).failures], [1, '"v1"', 0]);
});

test('the same document without any such word is not read again; another one is', async () => {
  const { watch: one } = watch();
  give(rss('<title>a</title>'));
  await one.look();
  now += HOUR;
  await one.look();
  assert.equal([asked.length, ingested.length], [2, 1]);
  give(rss('<title>b</title>'));
  now += HOUR;
  await one.look();
  assert.is(ingested.length, 2);
});

test('what it knows of a source outlives the process', async () => {
  give(rss('<title>a</title>'), { etag: '"v1"' });
  await watch('/', 'lasting').watch.look();
  now += HOUR;
  await watch('/', 'lasting').watch.look();
  assert.is(asked[1]?.headers['if-none-match'], '"v1"');
  await watch('/elsewhere', 'lasting').watch.look();
  assert.is(asked[2]?.headers['if-none-match'], undefined);
});

test('a source that fails is asked less and less, never sooner than it asks for, and at once as ever when it is back', async () => {
  const { watch: one, state } = watch();
  answer = (_request, response) => response.writeHead(500).end();
  const pauses: number[] = [];
  for (let i = 0; i < 3; i++) {
    await one.look();
    pauses.push(pause(await state()));
    now += pauses.at(-1) ?? 0;
  }
  assert.equal(pauses, [MINUTE, 2 * MINUTE, 4 * MINUTE]);
  answer = (_request, response) => response.writeHead(429, { 'retry-after': '7200' }).end();
  await one.look();
  assert.is(pause(await state()), 2 * HOUR);
  now += 2 * HOUR;
  answer = (_request, response) => response.writeHead(503, { 'retry-after': '99999999' }).end();
  await one.look();
  assert.is(pause(await state()), 24 * HOUR);
  now += 24 * HOUR;
  give(rss('<title>a</title>'));
  await one.look();
  assert.equal([(await state()).failures, (await state()).error, pause(await state())], [0, null, HOUR]);
});

test('a source that was met while the clock was ahead is asked once the clock is right', async () => {
  const { watch: one, state } = watch();
  const YEAR = 365 * 24 * HOUR;
  now += YEAR;
  answer = (_request, response) => response.writeHead(503).end();
  await one.look();
  now -= YEAR;
  give(rss('<title>a</title>'));
  await one.look();
  assert.equal([asked.length, ingested.length, (await state()).failures], [2, 1, 0]);
  await one.look();
  assert.is(asked.length, 2, 'and then when it is due');
});

test('a document that is refused counts as a failure, and is asked for whole again', async () => {
  const { watch: one, state } = watch();
  ingestFails = true;
  give('no feed', { etag: '"v1"' });
  await one.look();
  assert.equal([(await state()).error, (await state()).etag], ['it is no feed', null]);
  ingestFails = false;
  now += MINUTE;
  await one.look();
  assert.equal([asked[1]?.headers['if-none-match'], ingested.length], [undefined, 1]);
});

test('a body without bound is given up, also one that is small before it is unpacked', async () => {
  const { watch: one, state } = watch();
  const zeros = gzipSync(Buffer.alloc(64 << 20));
  answer = (_request, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(zeros);
  await one.look();
  assert.match((await state()).error ?? '', /more than \d+ bytes/);
  const two = watch();
  answer = (_request, response) => {
    response.writeHead(200);
    const timer = setInterval(() => response.write(Buffer.alloc(1 << 20)), 1);
    response.once('close', () => clearInterval(timer));
  };
  await two.watch.look();
  assert.match((await two.state()).error ?? '', /more than \d+ bytes/);
  assert.is(ingested.length, 0);
});

test('it follows a few redirects, and none without end or to another protocol', async () => {
  const { watch: one, state } = watch('/start');
  answer = (request, response) => {
    if (request.url === '/start') response.writeHead(302, { location: '/there' }).end();
    else response.writeHead(200).end(rss('<title>a</title>'));
  };
  await one.look();
  assert.equal([ingested.length, (await state()).error], [1, null]);
  const two = watch();
  answer = (_request, response) => response.writeHead(301, { location: '/again' }).end();
  await two.watch.look();
  assert.match((await two.state()).error ?? '', /leads on/);
  const three = watch();
  answer = (_request, response) => response.writeHead(301, { location: 'file:///etc/passwd' }).end();
  await three.watch.look();
  assert.match((await three.state()).error ?? '', /leads to an address that is not followed/);
});

test('two looks at once ask once; one that is ended gives up its question', async () => {
  const { watch: one } = watch();
  const held = Promise.withResolvers<void>();
  answer = () => held.resolve();
  const looks = [one.look(), one.look()];
  await held.promise;
  assert.is(asked.length, 1);
  await one[Symbol.asyncDispose]();
  await Promise.all(looks);
  assert.is(ingested.length, 0);
});

test.run();

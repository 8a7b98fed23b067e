import { once } from 'node:events';
import { createServer } from 'node:http';
import { gzipSync } from 'node:zlib';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { MAX_DOCUMENT_BYTES } from '../../../../node/services/regulatory-feed/document-reader.ts';
import { fetchDocument } from '../../../../node/services/regulatory-feed/source-watch.ts';

let body: Buffer = Buffer.alloc(0);
let status = 200;
const server = createServer((_request, response) => {
  const headers = { 'content-type': 'text/xml', 'content-encoding': 'gzip', 'retry-after': '120' };
  response.writeHead(status, headers).end(gzipSync(body));
}).listen(0, '127.0.0.1');
await once(server, 'listening');
const address = server.address();
const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/`;

test.after(() => {
  server.closeAllConnections();
  server.close();
});

const fetched = () => fetchDocument(url, { etag: null, lastModified: null }, new AbortController().signal);

test('a document is taken byte by byte, with its mark, up to the largest one', async () => {
  for (const each of [
    Buffer.from('\ufeff<rss/>'),
    Buffer.from([0xff, 0xfe, 0x3c, 0]),
    Buffer.alloc(MAX_DOCUMENT_BYTES),
  ]) {
    body = each;
    const found = await fetched();
    assert.ok(found.outcome === 'document' && body.equals(found.document.bytes), `${each.length} bytes`);
  }
});

test('one that unpacks to more than the largest is refused in words', async () => {
  body = Buffer.alloc(MAX_DOCUMENT_BYTES + 1);
  const found = await fetched();
  assert.equal(found, {
    outcome: 'failed',
    reason: `it gives more than ${MAX_DOCUMENT_BYTES} bytes`,
    retryAfterMs: null,
  });
});

test('one that refuses is taken at its word, and how long it asks to be left alone, however long it goes on', async () => {
  status = 503;
  for (const each of [Buffer.from('later'), Buffer.alloc(MAX_DOCUMENT_BYTES + 1)]) {
    body = each;
    assert.equal(await fetched(), { outcome: 'failed', reason: 'it answers 503', retryAfterMs: 120_000 });
  }
});

test('that nothing has changed is believed where it was asked, and is a failure where it was not', async () => {
  status = 304;
  const signal = new AbortController().signal;
  assert.equal(await fetched(), { outcome: 'failed', reason: 'it answers 304', retryAfterMs: 120_000 });
  const known = { etag: '"a"', lastModified: null };
  assert.equal(await fetchDocument(url, known, signal), { outcome: 'unchanged' });
});

test.run();

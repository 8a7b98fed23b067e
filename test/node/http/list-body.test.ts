import { once } from 'node:events';
import { createServer, type IncomingMessage, request } from 'node:http';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Holder } from '../../../node/accounts/limits/holder-counts.ts';
import { BODY_BYTES } from '../../../node/accounts/limits/route-weights.ts';
import { type ListBody, readListBody } from '../../../node/http/list-body.ts';
import { LONG_BODIES_UNDER_WORK } from '../../../node/http/long-body.ts';
import { Problem } from '../../../node/http/problem.ts';
import { DEFAULT_MAX_DEPTH } from '../../../protocol/json/parse.ts';
import { parseText } from '../../../protocol/json/text.ts';
import type { JsonValue } from '../../../protocol/json/value.ts';
import { fc } from '../../fixtures/properties.ts';

const LIMITS = { maxItems: 1_000, maxItemBytes: 64 << 10, maxValues: 1 << 20 };
const BODY = { maxBytes: 4 << 20 };
const HOLDER: Holder = { kind: 'account', id: 'acme' };

const server = createServer().listen(0, '127.0.0.1');
await once(server, 'listening');
const address = server.address();
const port = typeof address === 'object' ? address?.port : undefined;
test.after(() => void server.close());

/** Sends a body and reads it as a list; the reading is to be disposed by the caller. */
async function bodyOf(text: string, type: string, holder: Holder = HOLDER): Promise<ListBody> {
  const outgoing = request({ port, host: '127.0.0.1', method: 'POST', headers: { 'content-type': type } });
  outgoing.on('error', () => {});
  outgoing.end(text);
  const [incoming, response]: [IncomingMessage, { end(): void }] = await arrived();
  try {
    return await readListBody(incoming, BODY, LIMITS, holder);
  } finally {
    response.end();
  }
}

async function arrived(): Promise<[IncomingMessage, { end(): void }]> {
  const { promise, resolve } = Promise.withResolvers<[IncomingMessage, { end(): void }]>();
  server.once('request', (incoming, response) => resolve([incoming, response]));
  return promise;
}

async function itemsOf(text: string, type: string): Promise<JsonValue[]> {
  using body = await bodyOf(text, type);
  const items: JsonValue[] = [];
  assert.is(await body.each((item, index) => void (items[index] = item)), items.length);
  return items;
}

async function refusalOf(work: Promise<unknown>): Promise<Problem> {
  try {
    await work;
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
  throw new Error('it was taken');
}

const JSON_TYPE = 'application/json';
const LINES_TYPE = 'application/x-ndjson';

test('any list is read the same as an array and as lines', async () => {
  const value = fc.jsonValue({ maxDepth: 3 }).map((any) => JSON.stringify(any));
  await fc.assert(
    fc.asyncProperty(fc.array(value, { minLength: 1, maxLength: 20 }), async (items) => {
      const values: unknown = items.map((item) => parseText(item));
      assert.equal(await itemsOf(`[${items.join(',')}]`, JSON_TYPE), values);
      assert.equal(await itemsOf(items.join('\n'), LINES_TYPE), values);
    }),
    { numRuns: 60 },
  );
});

test('what is no list of JSON values is refused, and names the item', async () => {
  for (const [text, type] of [
    ['', JSON_TYPE],
    ['[1,2', JSON_TYPE],
    ['[1] 2', JSON_TYPE],
    ['[1],[2]', JSON_TYPE],
    ['{"a":[1]}', JSON_TYPE],
    ['1\n{', LINES_TYPE],
    ['1\n\u0001\n2', LINES_TYPE],
  ] as const) {
    assert.is((await refusalOf(itemsOf(text, type))).code, 'invalid-json', text);
  }
  assert.match((await refusalOf(itemsOf('[1,{"a":1,"a":2}]', JSON_TYPE))).detail, /^\[1\] is not acceptable JSON/);
  assert.match((await refusalOf(itemsOf('1\n\n{', LINES_TYPE))).detail, /^\[1\] is not acceptable JSON/);
});

test('a line nests as deep as a body may, and an item of an array as deep as the array leaves', async () => {
  const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
  for (const [type, most, wrap] of [
    [LINES_TYPE, DEFAULT_MAX_DEPTH, (item: string) => `1\n${item}`],
    [JSON_TYPE, DEFAULT_MAX_DEPTH - 1, (item: string) => `[1,${item}]`],
  ] as const) {
    assert.is((await itemsOf(wrap(nested(most)), type)).length, 2, type);
    const { code, detail } = await refusalOf(itemsOf(wrap(nested(most + 1)), type));
    assert.is(code, 'invalid-json', type);
    assert.match(detail, `[1] is not acceptable JSON: nesting over ${most}`);
  }
});

test('small items take room as if each were two kilobytes, until the body is disposed', async () => {
  const text = `${'1\n'.repeat(LIMITS.maxItems)}`;
  const bodies = Math.floor(BODY_BYTES.batches / (LIMITS.maxItems * 2_048));
  const held: ListBody[] = [];
  for (let i = 0; i < bodies; i++) {
    const body = await bodyOf(text, LINES_TYPE, { kind: 'account', id: `holder ${i}` });
    await body.each(() => {});
    held.push(body);
  }
  using late = await bodyOf(text, LINES_TYPE);
  const refused = await refusalOf(late.each(() => {}));
  assert.equal([refused.status, refused.reason], [503, 'memory']);
  held.pop()?.[Symbol.dispose]();
  assert.is(await late.each(() => {}), LIMITS.maxItems);
  for (const body of held) body[Symbol.dispose]();
});

test('where there is no room for a body, none of it is waited for', async () => {
  using _held = LONG_BODIES_UNDER_WORK.enter(BODY_BYTES.batches, { kind: 'account', id: 'other' });
  const outgoing = request({
    port,
    host: '127.0.0.1',
    method: 'POST',
    headers: { 'content-type': LINES_TYPE, 'content-length': 100 },
  });
  outgoing.on('error', () => {});
  outgoing.flushHeaders();
  const [incoming] = await arrived();
  const refused = await refusalOf(readListBody(incoming, BODY, LIMITS, HOLDER));
  assert.equal([refused.status, refused.reason], [503, 'memory']);
  outgoing.destroy();
});

test('other types of content are refused', async () => {
  for (const type of ['text/plain', 'application/json; charset=latin1', 'application/x-ndjson-seq']) {
    assert.is((await refusalOf(itemsOf('[1]', type))).code, 'unsupported-media-type', type);
  }
});

test.run();

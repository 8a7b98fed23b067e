import { once } from 'node:events';
import type { Socket } from 'node:net';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { isJsonObject, type JsonObject } from '../../../protocol/json/value.ts';
import { API_KEYS } from '../../fixtures/test-node.ts';
import { TestNetwork } from '../../fixtures/test-network.ts';
import { until } from '../../fixtures/until.ts';
import { BrowserClient } from './console/browser-client.ts';
import { dial } from './raw-answer.ts';

const HOUR_MS = 3_600_000;
let ahead = 0;
const network = await TestNetwork.start({
  config: { batchIntervalMs: 600_000 },
  overrides: { now: () => Date.now() + ahead },
});
const node = network.node();
test.after(() => network[Symbol.asyncDispose]());

const ITEM = JSON.stringify({ sourceId: 'late', data: { case: 1 } });
const JSON_TYPE = 'application/json';
const FORM = '/console/forms/key';
/** Requests by a key that make something, each with a body of another kind. */
const REQUESTS = [
  { path: '/v1/attest', type: JSON_TYPE, body: ITEM },
  { path: '/v1/tiered-attest-batch', type: 'application/x-ndjson', body: `${ITEM}\n${ITEM}` },
  { path: '/v1/keys', type: JSON_TYPE, body: JSON.stringify({ name: 'made late', preset: 'ingest' }) },
] as const;

async function keys(): Promise<readonly JsonObject[]> {
  const { keys: all } = (await node.get('/v1/keys')).body;
  return Array.isArray(all) ? all.filter(isJsonObject) : [];
}

/** Makes a key for each request, and sends the request by it up to the middle of its body. */
async function begun(terms: JsonObject) {
  const ids: string[] = [];
  const sockets: Socket[] = [];
  for (const { path, type, body } of REQUESTS) {
    const issued = await node.post('/v1/keys', { name: 'stolen', preset: 'admin', ...terms });
    assert.is(issued.status, 200, issued.text);
    ids.push(String(isJsonObject(issued.body.key) ? issued.body.key.id : ''));
    const socket = await dial(node);
    const headers = `host: x\r\nconnection: close\r\nx-api-key: ${String(issued.body.apiKey)}\r\ncontent-type: ${type}`;
    socket.write(`POST ${path} HTTP/1.1\r\n${headers}\r\ncontent-length: ${body.length}\r\n\r\n${body.slice(0, 9)}`);
    sockets.push(socket);
  }
  const isUsed = async (): Promise<boolean> => {
    const used = (await keys()).filter(({ lastUsedDay }) => typeof lastUsedDay === 'string').map(({ id }) => id);
    return ids.every((id) => used.includes(id));
  };
  await until('the keys to be used', isUsed);
  return { ids, sockets };
}

/** Sends what is left of each body; resolves to the statuses and codes of the answers. */
function ended(sockets: readonly Socket[]): Promise<readonly string[]> {
  return Promise.all(
    sockets.map(async (socket, i) => {
      socket.write(REQUESTS[i]?.body.slice(9) ?? '');
      let answer = '';
      for await (const piece of socket) answer += String(piece);
      return `${/^HTTP\/1.1 (\d+)/.exec(answer)?.[1]} ${/"code":"([^"]*)"/.exec(answer)?.[1]}`;
    }),
  );
}

async function made() {
  const { items } = (await node.get('/v1/attestations?sourceId=late')).body;
  return { items, keys: (await keys()).filter(({ name }) => name === 'made late').length };
}

test('a key that is revoked while the body of its request arrives records and changes nothing', async () => {
  const { ids, sockets } = await begun({});
  const before = await made();
  for (const id of ids) assert.is((await node.post(`/v1/keys/${id}/revoke`, {})).status, 200);
  assert.equal(
    await ended(sockets),
    REQUESTS.map(() => '401 api-key-revoked'),
  );
  assert.equal(await made(), before);
});

test('so does one that ends meanwhile', async () => {
  const { sockets } = await begun({ expiresAt: new Date(Date.now() + HOUR_MS).toISOString() });
  const before = await made();
  ahead = HOUR_MS;
  assert.equal(
    await ended(sockets),
    REQUESTS.map(() => '401 api-key-revoked'),
  );
  ahead = 0;
  assert.equal(await made(), before);
});

test('a form of the console does nothing where its sign-in ended meanwhile', async () => {
  const browser = new BrowserClient(node);
  assert.is((await browser.signIn(API_KEYS.unmetered)).status, 303);
  const hidden = await browser.hidden(FORM);
  const body = new URLSearchParams({ ...hidden, name: 'made late', preset: 'ingest' }).toString();
  const before = await made();
  const socket = await dial(node);
  const headers = `host: x\r\nconnection: close\r\nsec-fetch-site: same-origin\r\ncookie: ${browser.cookie}`;
  const form = `content-type: application/x-www-form-urlencoded\r\ncontent-length: ${body.length}`;
  socket.write(`POST ${FORM} HTTP/1.1\r\n${headers}\r\n${form}\r\nexpect: 100-continue\r\n\r\n`);
  await once(socket, 'readable');
  assert.match(String(socket.read()), /^HTTP\/1.1 100 /, 'it is being answered');
  assert.is((await browser.post('/console/sign-out', hidden)).status, 303);
  socket.write(body);
  let answer = '';
  for await (const piece of socket) answer += String(piece);
  assert.match(answer, /^HTTP\/1.1 401 /);
  assert.equal(await made(), before);
});

test('a key that goes on is taken however slowly the body comes', async () => {
  const { sockets } = await begun({});
  assert.equal(
    await ended(sockets),
    REQUESTS.map(() => '200 undefined'),
  );
});

test.run();

import { validateDiscoveryExtension } from '@x402/extensions';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { pathTemplate } from '../../../node/http/openapi/operation.ts';
import { isRecordId, type RecordId } from '../../../protocol/ids.ts';
import { isJsonArray, type JsonObject, type JsonValue } from '../../../protocol/json/value.ts';
import { decodeHeader } from '../../../protocol/payments/header.ts';
import { priceOf, SERVICE_NAMES, type ServiceName, SERVICES } from '../../../protocol/payments/prices.ts';
import { requirementsOf } from '../../../protocol/payments/terms.ts';
import { usdOf } from '../../../protocol/payments/usdc.ts';
import { ApiDocument, type Operation } from '../../fixtures/api-document.ts';
import { TestChain } from '../../fixtures/chain.ts';
import { payingFetch } from '../../fixtures/chain-payer.ts';
import { CompletionServer } from '../../fixtures/completion-server.ts';
import { completionsOf } from '../../fixtures/completions-config.ts';
import { importSampleLists } from '../../fixtures/sample-lists.ts';
import { TestNetwork } from '../../fixtures/test-network.ts';
import { API_KEYS, type HttpAnswer } from '../../fixtures/test-node.ts';
import { until } from '../../fixtures/until.ts';
import { type LiveRequest, LiveWorld } from '../http/openapi/live-world.ts';

/** What common proxies take of one header. In bytes. */
const HEADER_BYTES = 8_192;
const [chain, completions] = await Promise.all([TestChain.start(), CompletionServer.start()]);
// An audit asks a second node for its own opinion.
const network = await TestNetwork.start({
  nodes: ['eu', 'us'],
  ledger: 'local',
  config: { batchIntervalMs: 100, payments: chain.config(), inference: completionsOf(completions) },
});
const node = network.node();
await importSampleLists(node);
const document = new ApiDocument((await node.get('/openapi.json')).body);
const world = new LiveWorld({ node, document, makerKey: API_KEYS.unmetered }, 'shop');
const wallet = await chain.wallet();
const pay = payingFetch(wallet);

test.after(async () => {
  await network[Symbol.asyncDispose]();
  await chain[Symbol.asyncDispose]();
  await completions[Symbol.asyncDispose]();
});

/** The operation of a service; undefined where the node does not sell it. */
function operationOf(service: ServiceName): Operation | undefined {
  const { method, path } = SERVICES[service];
  const template = pathTemplate(path);
  return document.operations.find((one) => one.method === method && one.template === template);
}

/** Those that are sold, with a request of each that is sound here and now. */
async function requests(): Promise<[ServiceName, LiveRequest][]> {
  const found: [ServiceName, LiveRequest][] = [];
  for (const service of SERVICE_NAMES) {
    const operation = operationOf(service);
    if (operation !== undefined) found.push([service, await world.request(operation, 'whole')]);
  }
  return found;
}

function send(method: string, { path, body }: LiveRequest): Promise<HttpAnswer> {
  return node.send(method, path, body === undefined || method === 'HEAD' ? undefined : JSON.stringify(body));
}

/** What the payee has more after some work. */
async function earned(work: () => Promise<void>): Promise<string> {
  const before = await chain.balanceOf(chain.payTo);
  await work();
  return String((await chain.balanceOf(chain.payTo)) - before);
}

/** Every record that an answer names. */
function recordsIn(value: JsonValue): readonly RecordId[] {
  if (typeof value === 'string') return isRecordId(value) && value.startsWith('att_') ? [value] : [];
  if (typeof value !== 'object' || value === null) return [];
  return [...new Set(Object.values(value).flatMap(recordsIn))];
}

test('every service of the price table is sold', () => {
  const missing = SERVICE_NAMES.filter((service) => operationOf(service) === undefined);
  assert.equal(missing, []);
});

test('without a payment each names exactly its price, in a header that any proxy takes', async () => {
  for (const [service, request] of await requests()) {
    const answer = await send(SERVICES[service].method, request);
    assert.is(answer.status, 402, `${service}: ${answer.text}`);
    const header = answer.headers.get('payment-required') ?? '';
    const { accepts, resource, extensions } = Object(decodeHeader(header));
    assert.equal(accepts, [requirementsOf(service, { payTo: chain.payTo })], service);
    assert.is(resource.url, node.baseUrl + new URL(request.path, node.baseUrl).pathname);
    assert.ok(header.length < HEADER_BYTES, `${service}: ${header.length}`);
    assert.equal(validateDiscoveryExtension(extensions.bazaar), { valid: true }, service);
    assert.is(answer.headers.get('cache-control'), 'no-store');
  }
});

test('the stock client pays each: the payee has exactly the price more, and the receipt says so', async () => {
  for (const [service, request] of await requests()) {
    const { method } = SERVICES[service];
    let body: JsonObject = {};
    const gain = await earned(async () => {
      const answer = await pay(node.baseUrl + request.path, {
        method,
        ...(request.body === undefined ? {} : { body: JSON.stringify(request.body) }),
        headers: { 'content-type': 'application/json', 'x-api-key': API_KEYS.unmetered },
      });
      const text = await answer.text();
      assert.is(answer.status, 200, `${service}: ${text}`);
      body = JSON.parse(text);
      const receipt = Object(decodeHeader(answer.headers.get('payment-response') ?? ''));
      const payer = wallet.address.toLowerCase();
      const { transaction } = Object(body.payment);
      assert.equal(
        [receipt.success, receipt.payer, receipt.amount, receipt.transaction],
        [true, payer, priceOf(service), transaction],
        service,
      );
      assert.is(Object(body.payment).amount, usdOf(priceOf(service)));
      assert.is((await chain.client.getTransactionReceipt({ hash: transaction })).status, 'success');
    });
    assert.is(gain, priceOf(service), service);
    await requireVerifiable(service, body);
  }
});

/** The records of an answer are verified by anyone, once they are on the ledger. */
async function requireVerifiable(service: ServiceName, body: JsonObject): Promise<void> {
  const ids = recordsIn(body);
  assert.ok(ids.length > 0, `${service} attests nothing: ${JSON.stringify(body).slice(0, 300)}`);
  for (const id of ids) {
    await until(`${service}: ${id} is verified`, async () => {
      const { body: verdict } = await node.get(`/v1/verify/${id}`);
      return verdict.verified === true;
    });
  }
}

test('no other method and no other way to write its path gives anything away', async () => {
  const gain = await earned(async () => {
    for (const [service, request] of await requests()) {
      const { method } = SERVICES[service];
      const preflight = await node.send('OPTIONS', request.path, undefined);
      assert.equal([preflight.status, preflight.text], [204, ''], service);
      assert.match(preflight.headers.get('access-control-allow-headers') ?? '', 'PAYMENT-SIGNATURE', service);
      const [path = '', query] = request.path.split('?');
      const search = query === undefined ? '' : `?${query}`;
      const written = [
        `${path}/`,
        path.replace('/x402/', '//x402/'),
        path.replace('/x402/', '/%78402/'),
        path.replace('/x402/', '/x402%2F'),
        path.replace('/x402/', '/X402/'),
        path.replace('/x402/', '/x402/./'),
        path.replace('/x402/', '/x402/a/../'),
        path.replace('/x402/', '/x402;a/'),
        `/verify${path}`,
      ];
      const tries: [string, string][] = [...written.map((one): [string, string] => [method, one]), ['HEAD', path]];
      for (const [way, one] of tries) {
        const { status, body } = await send(way, { ...request, path: one + search });
        assert.ok([400, 402, 404, 405].includes(status), `${way} ${one}: ${status}`);
        assert.is(body.attestation, undefined);
      }
    }
  });
  assert.is(gain, '0');
});

/** How a program without a payment or a key finds out what an address costs. */
function crawl(method: string, url: string): Promise<HttpAnswer> {
  const { pathname, search } = new URL(url);
  return node.send(method, pathname + search, method === 'POST' ? '' : undefined, { key: null });
}

test('the manifest lists what is sold, and each of its addresses answers 402 with the terms that it tells', async () => {
  const { body } = await node.get('/.well-known/x402.json', { key: null });
  const items = isJsonArray(body.items ?? null) ? Object.values(body.items ?? []).map((item) => Object(item)) : [];
  assert.equal(items.map(({ service }) => service).sort(), (await requests()).map(([service]) => service).sort());
  for (const { resource, method, accepts, service, input } of items) {
    const query = new URLSearchParams(input.queryParams).toString();
    for (const url of query === '' ? [resource] : [resource, `${resource}?${query}`]) {
      const probed = await crawl(method, url);
      assert.is(probed.status, 402, `${service} ${url}: ${probed.text}`);
      assert.equal(probed.body.accepts, accepts);
    }
  }
  const list = await node.get('/.well-known/x402', { key: null });
  assert.equal(
    list.body.resources,
    items.map(({ resource }) => resource),
  );
});

test('so does each address that the text for language models, and the document of the API, give as an example', async () => {
  const { text } = await node.get('/llms.txt', { key: null });
  const told = [...text.matchAll(/^(GET|POST) (http\S+)$/gm)].map(
    ([, method = '', url = '']) => [method, url] as const,
  );
  const described = document.operations
    .filter(({ usd }) => usd !== null)
    .map(({ method, template, parameters }) => {
      const inPath = parameters.filter(({ place }) => place === 'path');
      const path = inPath.reduce(
        (left, { name, example }) => left.replace(`{${name}}`, encodeURIComponent(example)),
        template,
      );
      return [method, node.baseUrl + path] as const;
    });
  assert.equal(told.toSorted(), described.toSorted());
  assert.is(told.length, SERVICE_NAMES.length);
  for (const [method, url] of told) {
    const probed = await crawl(method, url);
    assert.is(probed.status, 402, `${method} ${url}: ${probed.text}`);
  }
});

test.run();

import { once } from 'node:events';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { extractDiscoveryInfo } from '@x402/extensions';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { FacilitatorServer } from '../../../cluster/chain/facilitator-server.ts';
import { TestChain } from '../../fixtures/chain.ts';
import { payingFetch } from '../../fixtures/chain-payer.ts';
import { TestNetwork } from '../../fixtures/test-network.ts';

const PATH = '/v1/x402/wallet-record/0x3333333333333333333333333333333333333333';

const chain = await TestChain.start();
const service = await FacilitatorServer.start({ rpcUrl: chain.rpcUrl, key: chain.key(), port: 0 });
/** What the facilitator was sent, by path. */
const told: [path: string, body: string][] = [];
/** Stands before the facilitator and notes what it is told. */
const ear = createServer(async (request, response) => {
  const body = await text(request);
  const path = request.url ?? '';
  if (request.method === 'POST') told.push([path, body]);
  const sent = request.method === 'POST' ? { method: 'POST', body } : {};
  const answer = await fetch(service.url + path, { ...sent, headers: { 'content-type': 'application/json' } });
  response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text());
}).listen(0, '127.0.0.1');
await once(ear, 'listening');
const address = ear.address();
const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
const { rpcUrl, payTo } = chain.config();
const network = await TestNetwork.start({
  config: { payments: { rpcUrl, payTo, facilitator: { kind: 'http', url, headers: {} } } },
});
const node = network.node();

test.after(async () => {
  await network[Symbol.asyncDispose]();
  ear.closeAllConnections();
  ear.close();
  await service[Symbol.asyncDispose]();
  await chain[Symbol.asyncDispose]();
});

test('a facilitator is told what is sold, in the words that catalogues read', async () => {
  const answer = await payingFetch(await chain.wallet())(node.baseUrl + PATH);
  assert.is(answer.status, 200);
  assert.equal(
    told.map(([path]) => path),
    ['/verify', '/settle'],
  );
  for (const [path, body] of told) {
    const { paymentPayload, paymentRequirements } = JSON.parse(body);
    const found = Object(extractDiscoveryInfo(paymentPayload, paymentRequirements));
    assert.is(found.method, 'GET', path);
    assert.is(found.routeTemplate, '/v1/x402/wallet-record/:address');
    assert.ok(String(found.resourceUrl).startsWith(`${node.baseUrl}/v1/x402/wallet-record/`), found.resourceUrl);
    assert.match(paymentPayload.resource.description, 'settlement ledger');
  }
});

test('what a payer says of it is not passed on', async () => {
  told.length = 0;
  const pay = payingFetch(await chain.wallet(), async (input, init) => {
    const request = new Request(input, init);
    const shown = request.headers.get('payment-signature');
    if (shown === null) return fetch(request);
    const payment = JSON.parse(Buffer.from(shown, 'base64').toString());
    payment.extensions = { bazaar: { info: { input: { type: 'http', method: 'GET' } }, schema: {} }, mine: {} };
    payment.resource.description = 'a lie';
    request.headers.set('payment-signature', Buffer.from(JSON.stringify(payment)).toString('base64'));
    return fetch(request);
  });
  assert.is((await pay(node.baseUrl + PATH)).status, 200);
  assert.is(told.length, 2);
  for (const [, body] of told) assert.not.match(body, /a lie|mine/);
});

test.run();

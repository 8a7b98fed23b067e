import type { AddressInfo } from 'node:net';
import { bodyParser } from '@koa/bodyparser';
import Router from '@koa/router';
import Koa from 'koa';

/**
 * The least that a JSON API on Koa does: route, parse the body, answer an object. The answer is the one that a node gave,
 * handed over as the first argument, so that both send as much. Nothing is checked, signed or stored.
 */
const answer: unknown = JSON.parse(process.argv[2] ?? 'null');
if (typeof answer !== 'object' || answer === null) throw new Error('the first argument is the answer, a JSON object');

const app = new Koa();
const router = new Router();
router.post('/v1/tiered-attest', (context) => {
  const { body } = context.request;
  if (typeof body !== 'object' || body === null || !('sourceId' in body)) context.throw(400);
  context.body = { ...answer };
});
app.use(bodyParser());
app.use(router.routes());

const server = app.listen(0, '127.0.0.1', () => {
  const address: AddressInfo | string | null = server.address();
  process.send?.({ port: typeof address === 'object' ? address?.port : undefined });
});
process.once('SIGTERM', () => process.exit());
process.once('disconnect', () => process.exit());

import type { AddressInfo } from 'node:net';
import { bodyParser } from '@koa/bodyparser';
import Router from '@koa/router';
import Koa from 'koa';

/** What a record of this text is answered with, at once or once it is stored. */
export type Answering = (text: string) => object | Promise<object>;

/**
 * The least that a JSON API on Koa does: route, parse the body, answer an object. Listens on a free port of loopback,
 * tells the parent which, and ends with it.
 */
export function serveRecords(answer: Answering): void {
  const app = new Koa();
  const router = new Router();
  router.post('/v1/tiered-attest', async (context) => {
    const { body, rawBody } = context.request;
    if (typeof body !== 'object' || body === null || !('sourceId' in body)) context.throw(400);
    const made = answer(rawBody);
    context.body = made instanceof Promise ? await made : made;
  });
  app.use(bodyParser());
  app.use(router.routes());

  const server = app.listen(0, '127.0.0.1', () => {
    const address: AddressInfo | string | null = server.address();
    process.send?.({ port: typeof address === 'object' ? address?.port : undefined });
  });
  process.once('SIGTERM', () => process.exit());
  process.once('disconnect', () => process.exit());
}

import { once } from 'node:events';
import { createServer } from 'node:http';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { BodiesUnderWork, readJsonBytes } from '../../../node/http/body.ts';
import { toProblem } from '../../../node/http/problem.ts';

const MAX_BYTES = 1 << 20;
/** Room for one of the bodies here, and not for two. */
const UNDER_WORK = 1 << 20;
const HOLDER = { kind: 'address', id: '192.0.2.1' } as const;
const TEXT = JSON.stringify({ text: 'я'.repeat(400_000) });

/** Sends a body to whoever reads it so, and gives what came of it. */
async function sent(body: string | Buffer<ArrayBuffer>, underWork: BodiesUnderWork): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  await using server = createServer(async (request, response) => {
    try {
      using own = await readJsonBytes(request, { maxBytes: MAX_BYTES }, (bytes) => underWork.enter(bytes, HOLDER));
      resolve(Buffer.from(own.bytes).toString());
    } catch (error) {
      resolve(toProblem(error).code);
    }
    response.end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const headers = { 'content-type': 'application/json', connection: 'close' };
  const answer = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: new Blob([body]), headers });
  await answer.arrayBuffer();
  return promise;
}

test('a body is as it was sent, and its place is free once it is disposed', async () => {
  const underWork = new BodiesUnderWork(UNDER_WORK);
  for (let n = 0; n < 3; n++) assert.is(await sent(TEXT, underWork), TEXT);
});

test('a body finds no room before it is put together', async () => {
  const underWork = new BodiesUnderWork(UNDER_WORK);
  using _other = underWork.enter(UNDER_WORK / 2, { kind: 'address', id: '192.0.2.2' });
  assert.is(await sent(TEXT, underWork), 'dependency-unavailable');
  assert.is(await sent('{}', underWork), '{}');
});

test('a body that is not UTF-8, or has a byte order mark, is refused and leaves its place', async () => {
  const underWork = new BodiesUnderWork(UNDER_WORK);
  const damaged = Buffer.from(TEXT);
  damaged[100] = 0xff;
  for (let n = 0; n < 3; n++) {
    assert.is(await sent(damaged, underWork), 'invalid-json');
    assert.is(await sent(`\uFEFF${TEXT}`, underWork), 'invalid-json');
  }
  assert.is(await sent(TEXT, underWork), TEXT);
});

test.run();

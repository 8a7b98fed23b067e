import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { BodyTooLargeError, cappedBytes } from '../../../node/outbound/capped-body.ts';
import { fc } from '../../fixtures/properties.ts';

const MOST = 100;

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

async function errorOf(response: Response): Promise<unknown> {
  return cappedBytes(response, MOST).then(
    () => null,
    (error: unknown) => error,
  );
}

test('a body comes as it was sent, however it was cut, up to the very last byte', async () => {
  const chunk = fc.uint8Array({ maxLength: 60 }).map((bytes) => Uint8Array.from(bytes));
  await fc.assert(
    fc.asyncProperty(fc.array(chunk, { maxLength: 6 }), async (chunks) => {
      const whole = Buffer.concat(chunks);
      if (whole.length > MOST) assert.instance(await errorOf(streamed(chunks)), BodyTooLargeError);
      else assert.equal(Buffer.from(await cappedBytes(streamed(chunks), MOST)), whole);
    }),
  );
  assert.is((await cappedBytes(new Response('x'.repeat(MOST)), MOST)).length, MOST);
  assert.instance(await errorOf(new Response('x'.repeat(MOST + 1))), BodyTooLargeError);
});

test('a byte order mark is left to whoever reads the bytes', async () => {
  assert.equal([...(await cappedBytes(new Response('\ufeff{}'), MOST))], [0xef, 0xbb, 0xbf, 0x7b, 0x7d]);
});

test('where there is no body there are no bytes', async () => {
  assert.is((await cappedBytes(new Response(null, { status: 204 }), 0)).length, 0);
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
  assert.instance(await errorOf(new Response(endless)), BodyTooLargeError);
  assert.ok(cut);
  assert.ok(sent <= MOST + 30, `${sent} bytes`);
});

test('what goes wrong on the way is told as it is', async () => {
  const fault = new Error('reset');
  const broken = new ReadableStream({ pull: (controller) => controller.error(fault) });
  assert.is(await errorOf(new Response(broken)), fault);
});

test.run();

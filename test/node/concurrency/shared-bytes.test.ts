import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { sharedBytes, textOf } from '../../../node/concurrency/shared-bytes.ts';

/** Answers with what it was told. */
const ECHO =
  "const { parentPort } = require('node:worker_threads'); parentPort.once('message', (m) => parentPort.postMessage(m));";

test('pieces become one text, also where a character lies in two of them', () => {
  const text = 'a decision of é, я and 𝛑';
  const bytes = Buffer.from(text);
  for (let at = 0; at <= bytes.length; at++) {
    assert.is(textOf(sharedBytes([bytes.subarray(0, at), bytes.subarray(at)])), text);
  }
  assert.is(textOf(sharedBytes([])), '');
});

test('a thread that is told of them has no copy', async () => {
  const bytes = sharedBytes([Buffer.from('abc')]);
  const worker = new Worker(ECHO, { eval: true });
  worker.postMessage(bytes, []);
  const [echoed]: Uint8Array[] = await once(worker, 'message');
  bytes.set([0x7a], 0);
  assert.equal(echoed && [...echoed], [0x7a, 0x62, 0x63]);
  await worker.terminate();
});

test.run();

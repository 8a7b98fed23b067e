import { randomBytes } from 'node:crypto';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Compressor } from '../../../node/http/compression.ts';

const BODY = Buffer.from('{"text":"the same again and again"}'.repeat(100));

test('a body is what it was once it is unpacked, and smaller before', async () => {
  const compressor = new Compressor();
  const gzipped = await compressor.compress(BODY, 'gzip', null);
  const brotlied = await compressor.compress(BODY, 'br', 'hash');
  assert.ok(gzipped !== null && brotlied !== null);
  assert.equal(gunzipSync(gzipped), BODY);
  assert.equal(brotliDecompressSync(brotlied), BODY);
  assert.ok(Math.max(gzipped.byteLength, brotlied.byteLength) < BODY.byteLength / 10);
  assert.is(compressor.running, 0);
});

test('what is small, what is huge and what gets no smaller is sent as it is', async () => {
  const compressor = new Compressor();
  for (const body of [BODY.subarray(0, 1_024), Buffer.alloc((4 << 20) + 1), randomBytes(5_000)]) {
    assert.is(await compressor.compress(body, 'gzip', null), null);
  }
  assert.ok((await compressor.compress(BODY.subarray(0, 1_025), 'gzip', null)) !== null);
});

test('who comes while all are busy waits for nobody', async () => {
  const compressor = new Compressor({ maxRunning: 2 });
  const first = [compressor.compress(BODY, 'gzip', null), compressor.compress(BODY, 'br', null)];
  assert.is(compressor.running, 2);
  assert.is(await compressor.compress(BODY, 'gzip', null), null);
  assert.is(compressor.running, 2);
  for (const compressed of await Promise.all(first)) assert.ok(compressed !== null);
  assert.ok((await compressor.compress(BODY, 'gzip', null)) !== null);
});

test('what many ask for at once is compressed once, and what was compressed is kept', async () => {
  const compressor = new Compressor({ maxRunning: 1 });
  const asked = ['hash', 'hash', 'hash'].map((hash) => compressor.compress(BODY, 'gzip', hash));
  assert.is(compressor.running, 1);
  const [one, ...others] = await Promise.all(asked);
  assert.ok(one instanceof Uint8Array);
  for (const other of others) assert.is(other, one);
  const again = compressor.compress(BODY, 'gzip', 'hash');
  assert.is(compressor.running, 0);
  assert.is(await again, one);
});

test('what there is no room for is compressed again', async () => {
  const compressor = new Compressor({ maxKeptBytes: 10 });
  const one = await compressor.compress(BODY, 'gzip', 'hash');
  const two = await compressor.compress(BODY, 'gzip', 'hash');
  assert.ok(one !== null && two !== null && one !== two);
});

test.run();
